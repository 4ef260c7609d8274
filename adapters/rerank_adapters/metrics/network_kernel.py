"""The kernel that aligns numbered units with the arcs of a network (word_networks.py)."""

from __future__ import annotations

import numpy as np

from rerank_plugins.core.arrays import FloatArray, IntArray, LongArray
from rerank_plugins.kit.kernels import kernel


@kernel
def aligned_steps(
    hypothesis: IntArray, optional: IntArray, units: IntArray, kinds: IntArray, starts: IntArray, before: IntArray,
    final: IntArray, costs: FloatArray,
) -> LongArray:  # fmt: skip
    """(steps, 3): 0 correct, 1 substitution, 2 deletion, 3 insertion; the arc and the unit, -1 for none.

    `costs` are those of a substitution, of an insertion or deletion, of an optional unit left out, of the empty one,
    and more than any alignment costs; sums have their type. The arcs before arc a are those of
    `before[starts[a]:starts[a + 1]]`; arc 0 is the start. Of equally cheap steps that lead to a cell a match or
    substitution is taken, then an insertion, then a deletion, and of equally cheap arcs the first.
    """
    substitution, gap, missing, empty, far = costs
    arcs, columns = len(units), len(hypothesis) + 1
    cost = np.empty((arcs, columns), costs.dtype)
    back = np.empty((arcs, columns), np.int8)
    origin = np.empty((arcs, columns), np.int32)
    for a in range(arcs):
        left_out = gap if kinds[a] == 0 else missing if kinds[a] == 1 else empty
        for j in range(columns):
            paired, deleted, inserted, from_pair, from_deletion = far, far, far, 0, 0
            for at in range(starts[a], starts[a + 1]):
                if j > 0 and kinds[a] != 2 and cost[before[at], j - 1] < paired:
                    paired, from_pair = cost[before[at], j - 1], before[at]
                if cost[before[at], j] < deleted:
                    deleted, from_deletion = cost[before[at], j], before[at]
            deleted = deleted + left_out
            if j > 0:
                inserted = cost[a, j - 1] + (missing if optional[j - 1] == 1 else gap)
                if paired < far and hypothesis[j - 1] != units[a]:
                    paired = paired + substitution
            if a == 0 and j == 0:
                cost[a, j], back[a, j], origin[a, j] = 0, 0, 0
            elif paired <= deleted and paired <= inserted:
                cost[a, j], back[a, j], origin[a, j] = paired, 1, from_pair
            elif deleted < inserted:
                cost[a, j], back[a, j], origin[a, j] = deleted, 2, from_deletion
            else:
                cost[a, j], back[a, j], origin[a, j] = inserted, 3, a
    a, j = final[0], columns - 1
    for arc in final:
        if cost[arc, j] < cost[a, j]:
            a = arc
    steps = np.empty((arcs + columns, 3), np.int64)
    length = 0
    while a > 0 or j > 0:
        step = back[a, j]
        if step == 1:
            code = 0 if hypothesis[j - 1] == units[a] else 1
            steps[length, 0], steps[length, 1], steps[length, 2] = code, a, j - 1
            length += 1
        elif step == 2 and kinds[a] != 2:
            steps[length, 0], steps[length, 1], steps[length, 2] = 2 if kinds[a] == 0 else 0, a, -1
            length += 1
        elif step == 3:
            steps[length, 0], steps[length, 1], steps[length, 2] = 0 if optional[j - 1] == 1 else 3, -1, j - 1
            length += 1
        a = origin[a, j]
        j = j - 1 if step != 2 else j
    return steps[:length][::-1].copy()
