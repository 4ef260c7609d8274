"""New orders: against Python's sort, under shuffling, scaling and ties; MBR; pairs of lists and tables."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerank_adapters.apply import pairs_of, rerank
from rerank_adapters.evaluation.measure import Measure
from rerank_adapters.text import TextPipeline
from rerank_adapters.tuners.within_lists import one_best
from rerank_adapters.weights import Weights
from rerank_plugins import ConfigError, FeatureTable, Hypothesis, NBestList, RerankError, SparseBlock
from tests.evaluation import naive_evaluation as naive

# Small whole numbers: many ties, and sums that are exact in any order.
LISTS = st.lists(st.lists(st.integers(-3, 3), min_size=1, max_size=6), min_size=1, max_size=8)


def flat(lists):
    return np.array([x for part in lists for x in part], float), np.cumsum([0, *(len(part) for part in lists)])


def reranked(nbests, table, dense, measure=None, **settings):
    return list(rerank(pairs_of(nbests, table), Weights(dense, **settings), measure))


def orders_of(table, dense):
    """The new order of each segment of a table, whose lists have no features of their own."""
    lists = [
        NBestList.from_texts(["a"] * size, segment_id=segment)
        for segment, size in zip(table.segment_ids, np.diff(table.offsets).tolist(), strict=True)
    ]
    return [list(rescored.order) for _, rescored in reranked(lists, table, dense)]


@given(LISTS)
def test_orders_equal_a_stable_sort(lists):
    scores, offsets = flat(lists)
    orders = orders_of(FeatureTable.dense(["x"], scores[:, None], offsets), {"x": 1.0})
    for segment, order in enumerate(orders):
        assert order == naive.sorted_rows(scores, offsets[segment], offsets[segment + 1])
    assert one_best(scores, offsets).tolist() == [offsets[s] + order[0] for s, order in enumerate(orders)]


@given(LISTS, st.randoms(use_true_random=False))
def test_shuffling_keeps_the_winner(lists, random):
    """Ties apart: the winner's score is what it was."""
    shuffled = [random.sample(part, len(part)) for part in lists]
    assert [max(part) for part in lists] == [flat(shuffled)[0][row] for row in one_best(*flat(shuffled))]


@given(st.integers(0, 10**6), st.floats(1e-3, 1e3))
def test_scaling_weights_changes_nothing(seed, c):
    rng = np.random.default_rng(seed)
    table = FeatureTable.dense(["a", "b"], rng.normal(size=(12, 2)), np.array([0, 5, 12]))
    weights = dict(zip(table.names, rng.normal(size=2).tolist(), strict=True))
    assert orders_of(table, weights) == orders_of(table, {name: c * weight for name, weight in weights.items()})


@pytest.fixture
def nbests():
    def make(segment, texts, values):
        return NBestList(segment, tuple(Hypothesis(t, (v,)) for t, v in zip(texts, values, strict=True)), ("lm",))

    return [make("7", ["a b", "a c", "b c"], [3.0, 2.0, 1.0]), make("9", ["x", "y"], [0.0, 0.0])]


@pytest.fixture
def table(nbests):
    values = np.array([[3.0, 0.0], [2.0, 5.0], [1.0, 1.0], [0.0, 2.0], [0.0, 2.0]])
    return FeatureTable(("lm", "length"), values, np.array([0, 3, 5]), ("7", "9"), SparseBlock.empty(5))


def test_a_total_that_is_not_a_number_is_an_error(nbests, table):
    lists = pairs_of(nbests, table)
    with pytest.raises(RerankError, match="segment 7: the total of a hypothesis is not a number"):
        list(rerank(lists, Weights({"lm": np.inf, "length": -np.inf}), None))


def test_rerank_gives_totals_order_and_new_features(nbests, table):
    (first, one), (second, two) = reranked(nbests, table, {"lm": 1.0, "length": 1.0})
    assert (first, second) == tuple(nbests)
    assert one.names == two.names == ("length",)
    assert one.values.tolist() == [[0.0], [5.0], [1.0]]
    assert one.scores.tolist() == [3.0, 7.0, 2.0]
    assert list(one.order) == [1, 0, 2]
    assert list(two.order) == [0, 1]  # a tie keeps the decoder's order


def test_rerank_streams(nbests, table):
    def endless():
        yield next(pairs_of(nbests, table))
        raise AssertionError("read ahead")

    assert next(rerank(endless(), Weights({"lm": 0.0, "length": 0.0}), None))[0] is nbests[0]


def test_mbr_takes_the_consensus(nbests, table):
    """Totals are expected utilities by hand; two like hypotheses beat the one with the highest sum."""
    weights = {"lm": 0.1, "length": 0.0}
    word_f = Measure("word F", naive.WordF(), TextPipeline())
    (_, one), _ = reranked(nbests, table, weights, word_f, decision="mbr")
    posterior = np.exp([0.3, 0.2, 0.1]) / np.exp([0.3, 0.2, 0.1]).sum()
    utility = np.array([[100, 50, 50], [50, 100, 50], [50, 50, 100.0]])
    assert one.scores == pytest.approx(utility @ posterior)
    shouted = [nbests[0].with_texts(["A B", "c d", "C D"]), nbests[1]]  # the metric sees other texts than the lists'
    lowercased = Measure("word F", naive.WordF(), TextPipeline(("lowercase",)))
    (_, two), _ = reranked(shouted, table, weights, lowercased, decision="mbr")
    assert list(two.order) == [1, 2, 0]


def test_mbr_by_an_error_metric_takes_the_fewest_errors(nbests, table):
    errors = Measure("errors", naive.WordErrors(), TextPipeline())
    (_, one), _ = reranked(nbests, table, {"lm": 0.0, "length": 0.0}, errors, decision="mbr")
    assert list(one.order) == [1, 0, 2]  # a c: one error against each of the others
    assert (np.diff(one.scores[list(one.order)]) <= 0).all()


def test_lists_and_table_that_do_not_belong_together(nbests, table):
    with pytest.raises(ConfigError, match="segment 9 with 2 hypotheses where the feature table has segment 7 with 3"):
        list(pairs_of(nbests[::-1], table))
    with pytest.raises(ConfigError, match="1 n-best lists, but 2 segments"):
        list(pairs_of(nbests[:1], table))
    with pytest.raises(ConfigError, match="3 n-best lists, but 2 segments"):
        list(pairs_of([*nbests, nbests[0]], table))
