"""An empty sample has a loss with a bound: it costs as much as sacrebleu says, and does not win against all others."""

import numpy as np
import pytest
import sacrebleu

from rerank_adapters.applications.mbr import mbr
from rerank_adapters.metrics.edit_rate import CER, WER
from rerank_adapters.metrics.mean import MeanMetric
from rerank_adapters.metrics.ter import TER
from rerank_plugins import Metric
from rerank_plugins.core.metrics_and_tuners import scores_with_each
from rerank_plugins.testing import check_metric
from tests.command_line import done

SAMPLES = [
    "the ferry to the island leaves at half past six",
    "the ferry to the island leaves at half past eight",
    "the ferry to an island leaves at half past six",
    "a ferry to the island leaves at half past six",
    "the ferries to the island leave at half past six",
    "",
    "the ferry to the island leaves at six",
    "the ferry for the island leaves at half past six",
]
RATES = ["wer", "cer", "ter", "wer,costs=sclite", "cer,costs=sclite"]


@pytest.mark.parametrize("metric", [*RATES, "bleu", "chrf"])
def test_the_empty_sample_is_not_chosen(metric, tmp_path):
    (tmp_path / "samples").write_text("".join(f"0 ||| {text} |||\n" for text in SAMPLES))
    assert done("lists", "mbr", tmp_path / "samples", "-m", metric).out == f"{SAMPLES[0]}\n"


def test_expected_losses_are_those_of_sacrebleu():
    ter = sacrebleu.TER()
    losses = [sum(ter.sentence_score(text, [other]).score for other in SAMPLES) / len(SAMPLES) for text in SAMPLES]
    (row,) = mbr([SAMPLES], "ter")
    assert row["choice"] == SAMPLES[0]
    assert row["utility"] == pytest.approx(min(losses))
    assert losses[SAMPLES.index("")] == 87.5


@pytest.mark.parametrize("metric", [WER(), CER(), WER(costs="sclite"), TER(), MeanMetric((WER(), TER()))], ids=str)
def test_every_way_to_score_pairs_has_the_bound(metric):
    """`pairwise`, and the scores with samples of `expected-utility` and of system combination."""
    check_metric(metric)
    table = metric.pairwise(SAMPLES)
    np.testing.assert_allclose(Metric.pairwise(metric, SAMPLES), table)
    np.testing.assert_allclose(scores_with_each(metric, SAMPLES, SAMPLES).T, table)
    empty = SAMPLES.index("")
    assert abs(table[[0, empty], [empty, empty]]).tolist() == [100, 0]


def test_an_empty_sample_among_those_of_the_feature_and_of_a_decoder(tmp_path):
    """The feature `expected-utility`, the tuner `mbr` and the combination of decoders."""
    rows = [f"0 ||| {text} ||| LM= -{place} ||| -{place}\n" for place, text in enumerate(SAMPLES, 1)]
    (tmp_path / "lists").write_text("".join(rows))
    (tmp_path / "ref").write_text(f"{SAMPLES[0]}\n")
    done(
        "lists", "mbr", tmp_path / "lists", "-m", "wer", "--posterior", "uniform", "-o", tmp_path / "out",
        "--details", tmp_path / "details.tsv",
    )  # fmt: skip
    assert (tmp_path / "out").read_text() == f"{SAMPLES[0]}\n"
    done(
        "tune", tmp_path / "lists", "-r", tmp_path / "ref", "-m", "wer", "--tuner", "mbr,weights=start",
        "-o", tmp_path / "weights.toml",
    )  # fmt: skip
    done("apply", tmp_path / "lists", "-w", tmp_path / "weights.toml", "-o", tmp_path / "best")
    assert (tmp_path / "best").read_text() == f"{SAMPLES[0]}\n"
