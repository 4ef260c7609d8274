"""Orders and 1-bests: against Python's sort, under shuffling, scaling and ties; MBR; lists that do not fit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerank_adapters.chain.apply import order_by_score, rerank
from rerank_adapters.tuners.within_lists import one_best
from rerank_plugins import FeatureTable, Hypothesis, NBestList, RerankError, SparseBlock
from tests.evaluation import naive_evaluation as naive

# Small whole numbers: many ties, and sums that are exact in any order.
LISTS = st.lists(st.lists(st.integers(-3, 3), min_size=1, max_size=6), min_size=1, max_size=8)


def flat(lists):
    return np.array([x for part in lists for x in part], float), np.cumsum([0, *(len(part) for part in lists)])


@given(LISTS)
def test_orders_equal_a_stable_sort(lists):
    scores, offsets = flat(lists)
    orders = order_by_score(scores, offsets)
    for segment, order in enumerate(orders):
        assert order.tolist() == naive.sorted_rows(scores, offsets[segment], offsets[segment + 1])
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
    weights = rng.normal(size=2)
    plain, scaled = table.scores(weights), table.scores(c * weights)
    for order, other in zip(order_by_score(plain, table.offsets), order_by_score(scaled, table.offsets), strict=True):
        assert order.tolist() == other.tolist()


def test_no_segments():
    assert order_by_score(np.zeros(0), np.array([0])) == []


def test_scores_that_cannot_be_ordered():
    with pytest.raises(RerankError, match=r"segment 1 .* not a number"):
        order_by_score(np.array([0.0, np.nan, 1.0]), np.array([0, 1, 3]))
    with pytest.raises(RerankError, match=r"segment 1 .* no hypotheses"):
        order_by_score(np.array([0.0, 1.0]), np.array([0, 1, 1, 2]))


@pytest.fixture
def nbests():
    def make(segment, texts, values):
        return NBestList(segment, tuple(Hypothesis(t, (v,)) for t, v in zip(texts, values, strict=True)), ("lm",))

    return [make("7", ["a b", "a c", "b c"], [3.0, 2.0, 1.0]), make("9", ["x", "y"], [0.0, 0.0])]


@pytest.fixture
def table(nbests):
    values = np.array([[3.0, 0.0], [2.0, 5.0], [1.0, 1.0], [0.0, 2.0], [0.0, 2.0]])
    return FeatureTable(("lm", "length"), values, np.array([0, 3, 5]), ("7", "9"), SparseBlock.empty(5))


def test_rerank_gives_totals_order_and_new_features(nbests, table):
    (first, one), (second, two) = rerank(nbests, table, np.array([1.0, 1.0]))
    assert (first, second) == tuple(nbests)
    assert one.names == two.names == ("length",)
    assert one.values.tolist() == [[0.0], [5.0], [1.0]]
    assert one.scores.tolist() == [3.0, 7.0, 2.0]
    assert list(one.order) == [1, 0, 2]
    assert list(two.order) == [0, 1]  # a tie keeps the decoder's order


def test_rerank_streams(nbests, table):
    def endless():
        yield nbests[0]
        raise AssertionError("read ahead")

    assert next(rerank(endless(), table, np.zeros(2)))[0] is nbests[0]


def test_mbr_takes_the_consensus(nbests, table):
    """Totals are expected utilities by hand; two like hypotheses beat the one with the highest sum."""
    weights = np.array([0.1, 0.0])
    (_, one), _ = rerank(nbests, table, weights, utility=naive.WordF(), scale=1.0)
    posterior = np.exp([0.3, 0.2, 0.1]) / np.exp([0.3, 0.2, 0.1]).sum()
    utility = np.array([[100, 50, 50], [50, 100, 50], [50, 50, 100.0]])
    assert one.scores == pytest.approx(utility @ posterior)
    seen = [["a b", "c d", "c d"], ["x", "y"]]  # what the metric sees may differ from the list's texts
    (_, two), _ = rerank(nbests, table, weights, utility=naive.WordF(), texts=seen)
    assert list(two.order) == [1, 2, 0]


def test_mbr_by_an_error_metric_takes_the_fewest_errors(nbests, table):
    (_, one), _ = rerank(nbests, table, np.zeros(2), utility=naive.WordErrors())
    assert list(one.order) == [1, 0, 2]  # a c: one error against each of the others
    assert (np.diff(one.scores[list(one.order)]) <= 0).all()


def test_lists_and_table_that_do_not_belong_together(nbests, table):
    weights = np.ones(2)
    with pytest.raises(
        RerankError, match="3 rows for segment 7 where the n-best lists have 2 hypotheses for segment 9"
    ):
        list(rerank(nbests[::-1], table, weights))
    with pytest.raises(RerankError, match="1 n-best lists, but 2 segments"):
        list(rerank(nbests[:1], table, weights))
    with pytest.raises(RerankError, match="more n-best lists than the 2 segments"):
        list(rerank([*nbests, nbests[0]], table, weights))
