import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_plugins import Hypothesis, NBestList
from rerank_plugins.lists.consensus import ConsensusFeature, length_posteriors, token_ids
from rerank_plugins.testing import check_feature_extractor
from tests.ngram import naive_features as naive

WORDS = st.lists(st.sampled_from("abcd"), max_size=9).map(" ".join)
LISTS = st.lists(
    st.lists(st.tuples(WORDS, st.floats(-20, 0)), max_size=7).map(
        lambda rows: NBestList("0", tuple(Hypothesis(text, score=score) for text, score in rows))
    ),
    max_size=4,
)


@settings(max_examples=50, deadline=None)  # the kernel loads in the first example
@given(LISTS, st.sampled_from([0.0, 0.5, 1.0, 3.0]))
def test_agrees_with_counting(lists, scale):
    extractor = ConsensusFeature(scale=scale, posterior="score")
    for nbest, values in zip(lists, extractor.extract_all(lists), strict=True):
        posterior = naive.softmax([h.score for h in nbest], scale) if len(nbest) else []
        for n in range(1, 5):
            wanted = naive.consensus(nbest.texts, posterior, n)
            np.testing.assert_allclose(values[:, n - 1], wanted, rtol=1e-9, atol=1e-9)


@settings(deadline=None)
@given(LISTS)
def test_length_component(lists):
    extractor = ConsensusFeature(scale=1.0)
    for nbest, values in zip(lists, extractor.extract_all(lists), strict=True):
        lengths = [len(h.words) for h in nbest]
        for row, length in enumerate(lengths):
            mass = sum(p for p, other in zip(extractor.posteriors(nbest), lengths, strict=True) if other == length)
            assert values[row, -1] == pytest.approx(np.log(mass))


@pytest.mark.parametrize("posterior", ["score", "rank", "spread", "uniform"])
def test_contract(posterior):
    check_feature_extractor(ConsensusFeature(posterior=posterior))


def nbest_of(texts, scores):
    pairs = zip(texts, scores, strict=True)
    return NBestList("0", tuple(Hypothesis(text, score=score) for text, score in pairs))


def test_a_list_of_one_has_its_own_counts():
    values = ConsensusFeature().extract(nbest_of(["a b a b c"], [-7.0]))
    np.testing.assert_allclose(values, [[5, 4, 3, 2, 0]])


def test_posteriors_do_not_see_a_shift_and_spread_not_a_factor():
    texts, scores = ["a b", "a c", "b"], np.array([-1.0, -2.0, -4.0])
    for posterior in ("score", "spread", "rank", "uniform"):
        extractor = ConsensusFeature(posterior=posterior)
        here = extractor.extract(nbest_of(texts, scores))
        np.testing.assert_allclose(extractor.extract(nbest_of(texts, scores + 100.0)), here, rtol=1e-12)
        scaled = extractor.extract(nbest_of(texts, 7.0 * scores))
        assert np.allclose(scaled, here) == (posterior != "score")


def test_order_of_the_list_matters_to_rank_alone():
    texts, scores = ["a b c", "a c", "b a", "a b"], [-1.0, -2.0, -2.5, -4.0]
    for posterior in ("score", "spread", "uniform", "rank"):
        extractor = ConsensusFeature(posterior=posterior)
        here = extractor.extract(nbest_of(texts, scores))
        turned = extractor.extract(nbest_of(texts[::-1], scores[::-1]))[::-1]
        assert np.allclose(here, turned, rtol=1e-12) == (posterior != "rank")


def test_a_repeated_hypothesis_adds_its_mass():
    extractor = ConsensusFeature(posterior="uniform")
    np.testing.assert_allclose(extractor.extract(nbest_of(["a", "a", "b"], [0.0] * 3))[:, 0], [2 / 3, 2 / 3, 1 / 3])


def test_lists_without_totals_go_by_rank():
    texts = ["a b", "b", "c"]
    without = NBestList("0", tuple(map(Hypothesis, texts)))
    by_rank = ConsensusFeature(posterior="rank").extract(without)
    np.testing.assert_array_equal(ConsensusFeature(posterior="score").extract(without), by_rank)
    np.testing.assert_allclose(ConsensusFeature(scale=1.0).posteriors(without), np.array([6, 3, 2]) / 11)


def test_equal_scores_and_far_scores():
    np.testing.assert_allclose(ConsensusFeature(posterior="spread").posteriors(nbest_of(["a", "b"], [3.0, 3.0])), 0.5)
    far = nbest_of(["a", "b c"], [0.0, -1e6])
    values = ConsensusFeature(scale=1.0).extract(far)
    assert np.isfinite(values).all()
    assert values[1, -1] == pytest.approx(-700)


def test_tokens_and_lengths_of_nothing():
    words, offsets = token_ids([])
    assert len(words) == 0
    assert offsets.tolist() == [0]
    assert len(length_posteriors(np.zeros(0, np.int64), np.array([0]), np.zeros(0))) == 0
    assert ConsensusFeature().extract_all([]) == []


@pytest.mark.slow
def test_consensus_helps_on_held_out_lists(real_lists):
    from rerank_adapters.features.extraction import Extraction
    from rerank_adapters.features.feature import Feature
    from rerank_adapters.formats.catalogue import FORMATS
    from rerank_adapters.formats.decoder_features import decoder_table
    from rerank_adapters.formats.reading import read_nbest
    from rerank_adapters.metrics.bleu import Bleu
    from rerank_adapters.tuners.mira import Mira
    from rerank_adapters.tuning.cross_validation import cross_validate
    from rerank_adapters.tuning.problem import prepare
    from rerank_adapters.tuning.start import start_vector
    from rerank_plugins.lists.length import LengthFeature

    lists, reference = real_lists["tune"]
    nbests = read_nbest([lists], FORMATS["moses"]())
    references = [[line] for line in reference.read_text(encoding="utf-8").splitlines()]
    metric = Bleu(tokenize="none")
    statistics = metric.statistics([nbest.texts for nbest in nbests], references)
    decoder = decoder_table(nbests)

    def held_out(extractors):
        table = Extraction([Feature(label, e) for label, e in extractors.items()]).table(nbests, decoder)
        data = prepare(table, statistics, metric)
        return cross_validate(data, {"mira": Mira()}, start_vector(table, "uniform"), seeds=(0, 1)).best.mean

    assert held_out({"length": LengthFeature(), "consensus": ConsensusFeature()}) > held_out({}) + 0.7  # BLEU
