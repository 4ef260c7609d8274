"""The kernel of MIRA: hope, fear and update for one list after another (Cherry & Foster 2012, Algorithm 1)."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from rerank_plugins.core.arrays import FloatArray, IntArray, LongArray
from rerank_plugins.kit.kernels import filling_kernel, part


class Lists(NamedTuple):
    """The lists in the order of visits, and what visits change.

    Weights and their bounds are those of dense features, then of sparse ones.
    """

    order: LongArray
    offsets: LongArray
    # The rows: dense values (rows, dense), sparse ones in compressed rows, the score that all weights leave as it is,
    # and statistics (rows, S), whose gain is that times the slope (S).
    values: FloatArray
    indptr: LongArray
    indices: IntArray
    data: FloatArray
    base: FloatArray
    statistics: FloatArray
    slope: FloatArray
    lower: FloatArray
    upper: FloatArray
    step: float  # the largest one
    decay: float  # of the background
    # `lag` is the sum of all changes of the weights, each times the number of visits before it, so that the mean of the
    # weights after each of n visits is weights - lag / n, without a pass over all weights per visit.
    weights: FloatArray
    lag: FloatArray
    background: FloatArray
    # The features in which hope and fear may differ, and the differences; room for those of any two rows.
    differing: LongArray
    differences: FloatArray


@partial(filling_kernel, error_model="numpy")
def visit_lists(lists: Lists, begin: int, end: int, earlier: int) -> None:
    """Visit the lists `order[begin:end]`, and update `weights`, `lag` and `background`.

    Passes before this one have made `earlier` visits.
    """
    values, base, statistics, weights = lists.values, lists.base, lists.statistics, lists.weights
    indptr, indices, data = lists.indptr, lists.indices, lists.data
    dense, kinds = values.shape[1], statistics.shape[1]
    for visit in range(begin, end):
        # hope = argmax (score + gain), fear = argmax (score - gain) over the list.
        s = lists.order[visit]
        hope = fear = lists.offsets[s]
        highest = lowest = -np.inf
        hope_score = fear_score = hope_gain = fear_gain = 0.0
        for row in range(lists.offsets[s], lists.offsets[s + 1]):
            # score = base + weights · features, gain = slope · statistics
            score, gain = base[row], 0.0
            for f in range(dense):
                score += values[row, f] * weights[f]
            for i in range(indptr[row], indptr[row + 1]):
                score += data[i] * weights[dense + indices[i]]
            for k in range(kinds):
                gain += statistics[row, k] * lists.slope[k]
            if score + gain > highest:
                hope, highest = row, score + gain
                hope_score, hope_gain = score, gain
            if score - gain > lowest:
                fear, lowest = row, score - gain
                fear_score, fear_gain = score, gain
        # The background document: b <- decay * b + statistics of the hope.
        for k in range(kinds):
            lists.background[k] = lists.decay * lists.background[k] + statistics[hope, k]
        # The hinge loss: by how much the margin of the scores falls short of the difference of the gains.
        loss = (hope_gain - fear_gain) - (hope_score - fear_score)
        if hope != fear and hope_gain > fear_gain and loss > 0.0:
            _move(lists, hope, fear, loss, earlier + visit)


@partial(part, error_model="numpy")
def _move(lists: Lists, hope: int, fear: int, loss: float, visits: int) -> None:
    """Update w <- w + min(step, loss / |d|^2) * d with d = features of hope - those of fear; clip w to its bounds."""
    values, indptr, indices, data, weights = lists.values, lists.indptr, lists.indices, lists.data, lists.weights
    differing, differences = lists.differing, lists.differences
    # d: the dense part, then the sparse part; both rows' columns ascend and are walked through together.
    dense = count = values.shape[1]
    for f in range(dense):
        differing[f], differences[f] = f, values[hope, f] - values[fear, f]
    i, i_end = indptr[hope], indptr[hope + 1]
    j, j_end = indptr[fear], indptr[fear + 1]
    while i < i_end or j < j_end:
        column = indices[i] if j == j_end or (i < i_end and indices[i] < indices[j]) else indices[j]
        differing[count], differences[count] = dense + column, 0.0
        if i < i_end and indices[i] == column:
            differences[count] += data[i]
            i += 1
        if j < j_end and indices[j] == column:
            differences[count] -= data[j]
            j += 1
        count += 1
    length = 0.0
    for d in range(count):
        length += differences[d] * differences[d]
    if length == 0.0:
        return
    # Change the weights within their bounds, and record the changes in `lag`.
    step = loss / length if loss / length < lists.step else lists.step
    for d in range(count):
        feature = differing[d]
        old = weights[feature]
        new = old + step * differences[d]
        new = new if new > lists.lower[feature] else lists.lower[feature]
        weights[feature] = new if new < lists.upper[feature] else lists.upper[feature]
        lists.lag[feature] += visits * (weights[feature] - old)
