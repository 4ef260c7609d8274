"""The kernel of the search: the beam after one more word, by the three steps of transitions.py."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rerank_plugins.hhmm.recombination import best_rows
from rerank_plugins.hhmm.step_arrays import Workspace
from rerank_plugins.hhmm.successors import Remembered
from rerank_plugins.hhmm.transitions import ELEMENT, EMPTY, FULL, LOW, emit, entropy_of, promote, start, transit
from rerank_plugins.kit.kernels import kernel, part


@part
def read_word(
    rules: Any, memory: Remembered, word: Any, stores: Any, values: Any, likely: Any, entropy: Any, depth: int,
    root: int, mass: float, width: int, threshold: float, entropies: bool, work: Workspace,
) -> tuple[float, int]:  # fmt: skip
    """Return P(word | beam), and the number of stores after it, whose rows of `work.emitted` are in `work.order`.

    P is negative if the workspace lacks room.
    """
    awaiting, table = work.awaiting.rows, work.emitted.rows
    base = work.clock[0]
    work.clock[0] += len(table)
    bottom = work.stacks.rows[0]
    bottom.key, bottom.depth = EMPTY, 0
    # Steps 1 and 2: P(word | beam) is the sum of the values after step 2, by the lookahead.
    size, m = 1, 0
    if len(stores):
        size, n = promote(rules, stores, values, likely, entropy, root, threshold, entropies, work, base)
        m = transit(rules, memory, word, n, depth, root, width, threshold, entropies, work, base) if n >= 0 else FULL
    else:
        m = start(rules, word, root, mass, awaiting)
    if m < 0:
        return -1.0, 0
    p = 0.0
    for row in range(m):
        p += awaiting[row].sum
    # Step 3 for the best stores, and the best of the stores that it yields.
    kept = best_rows(awaiting, m, width, work.order, work.spare, work.values)
    count = emit(rules, word, kept, size, depth, root, threshold, entropies, work, base)
    if count < 0:
        return -1.0, 0
    return p, best_rows(table, count, width, work.order, work.spare, work.values)


@part
def write_beam(
    work: Workspace, size: int, stores: Any, values: Any, likely: Any, entropy: Any, back: Any, entropies: bool
) -> float:
    """Write the beam after a word, whose `size` stores are in `work.order`; returns the scale of `likely`.

    The stores come in order of falling probability. `values` sum to one; `likely` has a maximum of one, and its scale
    is the ln of the divisor; `back` (n, 5) holds the row of the store before, rule, kind of reduction, preterminal and
    kind of expansion.
    """
    stacks, promoted, awaiting, table = work.stacks.rows, work.promoted.rows, work.awaiting.rows, work.emitted.rows
    order, depth = work.order, stores.shape[1] - 1
    total, highest = 0.0, 0.0
    for i in range(size):
        store = table[order[i]]
        values[i], likely[i] = store.sum, store.likely
        total, highest = total + store.sum, max(highest, store.likely)
        entropy[i] = entropy_of(store) if entropies else 0.0
        # The elements of the store, from the top one down, and the symbol completed above them.
        for d in range(depth):
            stores[i, d] = EMPTY
        stores[i, depth] = store.key & LOW
        stack = store.key >> 16
        while stack:
            stores[i, stacks[stack].depth - 1] = stacks[stack].key & ELEMENT
            stack = stacks[stack].key >> 32
        # Join the back-pointers of the three steps.
        state = awaiting[store.before]
        back[i, 0] = promoted[state.before].before if state.before >= 0 else EMPTY
        back[i, 1], back[i, 2], back[i, 3], back[i, 4] = state.event, state.kind, store.event, store.kind
    # Normalise: values are conditioned on the words, likely values on the best one.
    for i in range(size):
        values[i] /= total
        likely[i] /= highest
    return math.log(highest) if size else 0.0


@kernel
def advanced(
    rules: Any, memory: Remembered, word: Any, stores: Any, values: Any, likely: Any, entropy: Any, depth: int,
    root: int, mass: float, width: int, threshold: float, entropies: bool, work: Workspace,
) -> Any:  # fmt: skip
    """Return the beam after a word: (P(word | beam), stores, values, likely, its scale, entropy, back).

    There are no stores if none can read the word. P is negative if the workspace lacks room.
    """
    p, size = read_word(
        rules, memory, word, stores, values, likely, entropy, depth, root, mass, width, threshold, entropies, work
    )
    after, back = np.empty((size, depth + 1), np.int32), np.empty((size, 5), np.int32)
    sums, best, inner = np.empty(size), np.empty(size), np.empty(size)
    scale = write_beam(work, size, after, sums, best, inner, back, entropies)
    return p, after, sums, best, scale, inner, back
