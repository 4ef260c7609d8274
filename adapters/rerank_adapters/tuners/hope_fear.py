"""The kernel of MIRA: hope, fear and update for one list after another (Cherry & Foster 2012, Algorithm 1)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from rerank_plugins.kit.kernels import filling_kernel, part


@partial(filling_kernel, error_model="numpy")
def visit_lists(
    lists: Any,
    offsets: Any,
    values: Any,
    base: Any,
    indptr: Any,
    indices: Any,
    data: Any,
    statistics: Any,
    slope: Any,
    lower: Any,
    upper: Any,
    C: Any,
    decay: Any,
    visits: Any,
    weights: Any,
    lag: Any,
    background: Any,
) -> None:
    """Visit `lists` in order and update `weights`, `lag` and `background`.

    `values` (rows, dense) are in C order, `base` has (rows), and sparse features are in compressed rows (`indptr`,
    `indices`, `data`); `weights`, `lower` and `upper` are those of dense features, then of sparse ones. The gain of a
    row is its `statistics` (rows, S) times `slope` (S). `C` is the largest step, `decay` that of the background,
    `visits` the number of lists visited before. `lag` is the sum of all changes of the weights, each times the number
    of visits before it, so that the mean of the weights after each of n visits is weights - lag / n, without a pass
    over all weights per visit.
    """
    dense, kinds = values.shape[1], statistics.shape[1]
    for s in lists:
        # hope = argmax (score + gain), fear = argmax (score - gain) over the list.
        hope = fear = offsets[s]
        highest = lowest = -np.inf
        hope_score = fear_score = hope_gain = fear_gain = 0.0
        for row in range(offsets[s], offsets[s + 1]):
            # score = base + weights · features, gain = slope · statistics
            score, gain = base[row], 0.0
            for f in range(dense):
                score += values[row, f] * weights[f]
            for i in range(indptr[row], indptr[row + 1]):
                score += data[i] * weights[dense + indices[i]]
            for k in range(kinds):
                gain += statistics[row, k] * slope[k]
            if score + gain > highest:
                hope, hope_score, hope_gain, highest = row, score, gain, score + gain
            if score - gain > lowest:
                fear, fear_score, fear_gain, lowest = row, score, gain, score - gain
        # The background document: b <- decay * b + statistics of the hope.
        for k in range(kinds):
            background[k] = decay * background[k] + statistics[hope, k]
        # The hinge loss: by how much the margin of the scores falls short of the difference of the gains.
        loss = (hope_gain - fear_gain) - (hope_score - fear_score)
        if hope != fear and hope_gain > fear_gain and loss > 0.0:
            _move(hope, fear, loss, values, indptr, indices, data, lower, upper, C, visits, weights, lag)
        visits += 1


@partial(part, error_model="numpy")
def _move(
    hope: Any,
    fear: Any,
    loss: Any,
    values: Any,
    indptr: Any,
    indices: Any,
    data: Any,
    lower: Any,
    upper: Any,
    C: Any,
    visits: Any,
    weights: Any,
    lag: Any,
) -> None:
    """Update w <- w + min(C, loss / |d|^2) * d with d = features of hope - features of fear; clip w to its bounds."""
    # |d|^2: the dense part, then the sparse part; both rows' columns ascend and are walked through together.
    dense = values.shape[1]
    length = 0.0
    for f in range(dense):
        length += (values[hope, f] - values[fear, f]) ** 2
    i, j = indptr[hope], indptr[fear]
    while i < indptr[hope + 1] or j < indptr[fear + 1]:
        difference, _, i, j = _next_sparse(i, indptr[hope + 1], j, indptr[fear + 1], indices, data)
        length += difference**2
    if length == 0.0:
        return
    # Change the weights of all features in which the two rows differ.
    step = min(C, loss / length)
    for f in range(dense):
        _set(f, step * (values[hope, f] - values[fear, f]), lower, upper, visits, weights, lag)
    i, j = indptr[hope], indptr[fear]
    while i < indptr[hope + 1] or j < indptr[fear + 1]:
        difference, column, i, j = _next_sparse(i, indptr[hope + 1], j, indptr[fear + 1], indices, data)
        _set(dense + column, step * difference, lower, upper, visits, weights, lag)


@part
def _next_sparse(i: Any, i_end: Any, j: Any, j_end: Any, indices: Any, data: Any) -> tuple[Any, Any, Any, Any]:
    """The difference of the two rows at the next column of either, that column, and the positions to continue from."""
    if j == j_end or (i < i_end and indices[i] < indices[j]):
        return data[i], indices[i], i + 1, j
    if i == i_end or indices[j] < indices[i]:
        return -data[j], indices[j], i, j + 1
    return data[i] - data[j], indices[i], i + 1, j + 1


@part
def _set(position: Any, change: Any, lower: Any, upper: Any, visits: Any, weights: Any, lag: Any) -> None:
    """Change one weight within its bounds, and record the change in `lag`."""
    old = weights[position]
    weights[position] = min(max(old + change, lower[position]), upper[position])
    lag[position] += visits * (weights[position] - old)
