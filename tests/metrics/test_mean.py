"""The mean of metrics is the mean of their scores, and errors count with a minus."""

import numpy as np
import pytest

from rerank_adapters.job.specs import plugin_table
from rerank_adapters.metrics.bleu import Bleu
from rerank_adapters.metrics.chrf import ChrF
from rerank_adapters.metrics.mean import MeanMetric
from rerank_adapters.metrics.ter import TER
from rerank_plugins.core.errors import ConfigError

HYPOTHESES = [["the cat sat here", "a cat"], ["no one came"]]
REFERENCES = [["the cat sat there"], ["nobody came", "no one came back"]]
PARTS = (Bleu("none"), ChrF(), TER())


@pytest.fixture
def mean():
    return MeanMetric(PARTS, (2, 1, 1))


def wanted(scores):
    bleu, chrf, ter = scores
    return (2 * bleu + chrf - ter) / 4


def test_corpus_and_sentence_scores(mean):
    blocks = [metric.statistics(HYPOTHESES, REFERENCES) for metric in PARTS]
    statistics = mean.statistics(HYPOTHESES, REFERENCES)
    assert mean.score(statistics.sum(axis=0)) == pytest.approx(
        wanted([metric.score(block.sum(axis=0)) for metric, block in zip(PARTS, blocks, strict=True)])
    )
    np.testing.assert_allclose(
        mean.sentence_scores(statistics),
        wanted([metric.sentence_scores(block) for metric, block in zip(PARTS, blocks, strict=True)]),
    )


def test_statistics_of_another_process_are_divided_alike(mean):
    """The score of statistics that this object has not computed: tables are kept on disk."""
    statistics = mean.statistics(HYPOTHESES, REFERENCES)
    assert MeanMetric(PARTS, (2, 1, 1)).score(statistics.sum(axis=0)) == mean.score(statistics.sum(axis=0))


def test_pairs(mean):
    texts = ["the cat", "the cat sat", "a dog"]
    np.testing.assert_allclose(mean.pairwise(texts), wanted([metric.pairwise(texts) for metric in PARTS]))


def test_its_signature_names_all(mean):
    assert mean.signature().startswith("mean:0.5*Bleu(case:mixed,eff:no,")
    assert "-0.25*TER(" in mean.signature()
    assert mean.higher_is_better


@pytest.mark.parametrize(
    ("metrics", "weights", "message"),
    [((), (), "no metric"), (PARTS, (1, 2), "2 weights for 3 metrics"), (PARTS[:1], (0,), "wanted numbers above 0")],
)
def test_wrong_options(metrics, weights, message):
    with pytest.raises(ValueError, match=message):
        MeanMetric(metrics, weights)


def test_an_option_given_twice_is_an_error():
    """The second one would silently replace the first."""
    with pytest.raises(
        ConfigError, match=r"has the option 'metrics' twice; wanted one value, or a list: metrics=\[A,B\]"
    ):
        plugin_table("mean,metrics=bleu,metrics=chrf")
    assert plugin_table("mean,metrics=[bleu, chrf]")["metrics"] == ["bleu", "chrf"]
