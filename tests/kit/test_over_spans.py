"""The recursion over spans with algebras of the fewest lines: sums, maxima and expected numbers over binary trees."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_plugins import FloatArray
from rerank_plugins.kit.charts.over_spans import inside_over_spans, outside_over_spans
from rerank_plugins.kit.charts.spans import cell_number, spans, split_number, splits
from rerank_plugins.kit.kernels import part
from tests.kit import naive_over_spans as naive


class Values(NamedTuple):
    """By begin and end: the weights of spans, a value of trees over the words inside, and one of all outside."""

    weights: FloatArray
    inside: FloatArray
    outside: FloatArray


@part
def opened(grammar: None, chart: Values, work: FloatArray, i: int, j: int, n: int) -> bool:
    return bool(chart.weights[i, j] > 0.0)


@part
def emitted(grammar: None, chart: Values, work: FloatArray, i: int, word: int) -> None:
    work[0] = 1.0


@part
def summed(grammar: None, chart: Values, work: FloatArray, i: int, k: int, j: int, n: int) -> None:
    work[0] += chart.inside[i, k] * chart.inside[k, j]


@part
def best(grammar: None, chart: Values, work: FloatArray, i: int, k: int, j: int, n: int) -> None:
    work[0] = max(work[0], chart.inside[i, k] * chart.inside[k, j])


@part
def closed(grammar: None, chart: Values, work: FloatArray, i: int, j: int, n: int) -> None:
    chart.inside[i, j] = work[0] * chart.weights[i, j]
    work[0] = 0.0


@part
def handed_down(grammar: None, chart: Values, work: FloatArray, i: int, k: int, j: int, n: int) -> None:
    above = chart.outside[i, j] * chart.weights[i, j]
    chart.outside[i, k] += above * chart.inside[k, j]
    chart.outside[k, j] += above * chart.inside[i, k]


@part
def left(grammar: None, chart: Values, work: FloatArray, i: int, j: int, n: int) -> None:
    chart.outside[i, j] *= chart.inside[i, j]


sums = inside_over_spans(opened, emitted, summed, closed)
maxima = inside_over_spans(opened, emitted, best, closed)
expected = outside_over_spans(opened, emitted, handed_down, left)


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 6), st.integers(0, 10**6), st.sampled_from([0.0, 0.2]))
def test_values_are_those_of_all_trees(n: int, seed: int, pruned: float) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.random((n + 1, n + 1)) * (rng.random((n + 1, n + 1)) >= pruned)
    trees, words = naive.values(weights.tolist(), n), np.zeros(n, np.int32)
    chart, work = Values(weights, *np.zeros((2, n + 1, n + 1))), np.zeros(1)
    sums(None, words, chart, work)
    assert chart.inside[0, n] == pytest.approx(sum(value for value, _ in trees), rel=1e-12)
    # The expected number of each span, times the sum over all trees.
    chart.outside[0, n] = 1.0
    expected(None, words, chart, work)
    counts = np.zeros_like(weights)
    for value, tree in trees:
        for i, j in tree:
            counts[i, j] += value
    kept = weights > 0
    np.testing.assert_allclose(chart.outside[kept], counts[kept], atol=1e-12)
    chart.inside[:] = work[:] = 0.0
    maxima(None, words, chart, work)
    assert chart.inside[0, n] == pytest.approx(max(value for value, _ in trees), rel=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3, 8])
def test_split_points_are_numbered_in_the_order_of_cells(n: int) -> None:
    bounds = list(zip(*spans(n), strict=True))
    assert [cell_number(i, j, n) for i, j in bounds] == list(range(len(bounds)))
    numbers = [split_number(i, k, j, n) for i, j in bounds for k in range(i + 1, j)]
    assert numbers == list(range(splits(n)))
