"""Expected utilities against pseudo-references: equal to sacrebleu's means, to mbrs's, and as a feature of a job."""

import sys
import time
from pathlib import Path

import numpy as np
import pytest
import sacrebleu

from rerank_adapters.features.expected_utility import ExpectedUtilityFeature
from rerank_plugins import ConfigError, FormatError, Hypothesis, NBestList
from tests.command_line import rerank

SAMPLES = {"0": ["the cat sat .", "a cat sat", "the cat sat .", ""], "7": ["two dogs ran away from it !", "no"]}
TEXTS = ["the cat sat .", "a dog", "", "the cat sat .", "cats, two of them, sat on it !"]


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    file = tmp_path / "tune.samples"
    file.write_text("".join(f"{i} ||| {text} ||| F= 0 ||| 0\n" for i, texts in SAMPLES.items() for text in texts))
    return file


def nbest(segment: str) -> NBestList:
    return NBestList(segment, tuple(map(Hypothesis, TEXTS)))


@pytest.mark.parametrize(
    ("options", "theirs"),
    [
        ({}, sacrebleu.CHRF()),
        ({"metric": "bleu"}, sacrebleu.BLEU(effective_order=True)),
        ({"metric": "bleu", "tokenize": "none"}, sacrebleu.BLEU(effective_order=True, tokenize="none")),
    ],
)
def test_values_are_means_over_the_samples(samples: Path, options, theirs, monkeypatch: pytest.MonkeyPatch) -> None:
    feature = ExpectedUtilityFeature(samples, **options)
    for segment, references in SAMPLES.items():
        wanted = [np.mean([theirs.sentence_score(text, [other]).score for other in references]) for text in TEXTS]
        np.testing.assert_allclose(feature.extract(nbest(segment))[:, 0], wanted, rtol=1e-12)
        monkeypatch.setattr(sys.modules[ExpectedUtilityFeature.__module__], "PAIRS_AT_ONCE", 1)
        np.testing.assert_allclose(feature.extract(nbest(segment))[:, 0], wanted, rtol=1e-12)


def test_a_list_without_hypotheses_has_no_rows(samples: Path) -> None:
    assert ExpectedUtilityFeature(samples).extract(NBestList("0", ())).shape == (0, 1)


def test_errors(samples: Path) -> None:
    with pytest.raises(FormatError, match="no samples for segment 3"):
        ExpectedUtilityFeature(samples).extract(nbest("3"))
    with pytest.raises(ConfigError, match="--set NAME"):
        ExpectedUtilityFeature(samples.with_name("{set}.samples")).extract(nbest("0"))


def test_it_decides_by_minimum_bayes_risk(samples: Path, tmp_path: Path) -> None:
    lines = [f"{i} ||| {text} ||| F= {-n} ||| {-n}\n" for i in SAMPLES for n, text in enumerate(TEXTS)]
    (tmp_path / "tune.nbest").write_text("".join(lines), encoding="utf-8")
    (tmp_path / "weights.toml").write_text("[dense]\nF = 0.0\nexpected-utility = 1.0\n", encoding="utf-8")
    feature = f"expected-utility,samples={tmp_path}/{{set}}.samples"
    ran = rerank("extract", tmp_path / "tune.nbest", "-f", feature, "--set", "tune", "-o", tmp_path / "utility.npz")
    assert ran.code == 0, ran.err
    options = ("-w", tmp_path / "weights.toml", "--table", tmp_path / "utility.npz")
    ran = rerank("apply", tmp_path / "tune.nbest", *options)
    assert ran.code == 0, ran.err
    assert ran.out.splitlines() == ["0 the cat sat .", "7 cats, two of them, sat on it !"]


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["chrf", "bleu"])
def test_values_are_those_of_mbrs_in_less_time(metric: str, root: Path, tmp_path: Path) -> None:
    """The lists of the phrase-based example; the pseudo-references are those of another system's beam."""
    pytest.importorskip("mbrs.metrics", reason="not installed: pip install mbrs", exc_type=ImportError)
    from rerank_adapters.formats.reading import read_nbest

    if metric == "chrf":
        from mbrs.metrics.chrf import MetricChrF

        theirs = MetricChrF(MetricChrF.Config())
    else:
        from mbrs.metrics.bleu import MetricBLEU

        theirs = MetricBLEU(MetricBLEU.Config(num_workers=1))
    other = root / "example_nbest/mt/test.monotone.nbest"
    lists = read_nbest([root / "example_nbest/mt/test.nbest"], None)[:10]
    references = {nbest.segment_id: nbest.texts for nbest in read_nbest([other], None)}
    ours = ExpectedUtilityFeature(other, metric=metric)
    ours.extract(lists[0])  # reads the file and loads the kernels

    def timed(of_list):
        began = time.perf_counter()
        values = [of_list(nbest) for nbest in lists]
        return time.perf_counter() - began, np.concatenate(values)

    seconds, values = timed(lambda nbest: ours.extract(nbest)[:, 0])
    their_seconds, wanted = timed(
        lambda nbest: theirs.pairwise_scores(list(nbest.texts), list(references[nbest.segment_id])).mean(dim=1).numpy()
    )
    print(f"{metric}: mbrs takes {their_seconds / seconds:.1f} times as long")
    np.testing.assert_allclose(values, wanted, rtol=1e-5)
