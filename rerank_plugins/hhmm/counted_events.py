"""The counted events that are interpolated with a grammar's probabilities, in arrays looked up by context.

With P0 the expectation of the grammar (left_progeny.py), a reduction in a context h has the probability

    P(event | h) = share(h, kind) · P0(event | d, b, q) + extra(h, event)

and the preterminals x down the left edge of an awaited symbol have theirs in a row of `openings`. A context that was
never seen has no row: P0 is used. A model without events has no rows at all.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable

from rerank_plugins.core.arrays import FloatArray, IntArray
from rerank_plugins.kit.kernels import part, place_of


class Counted(NamedTuple):
    """Rows of contexts with counts, including the wider contexts in which the active symbol is left open.

    `contexts` (M) keys of reduction contexts, ascending (`context_key`)
    `share`    (M, 2) the weight of P0, by kind of reduction
    `starts`   (2 M + 1) the events of context m and kind k are the entries starts[2 m + k] to starts[2 m + k + 1] of
               `rule` and `extra`
    `rule`     the rules of the events, numbered in the order of Rules
    `extra`    what the counts add to P0, divided by the probability that the new awaited symbol fits in the store
    `edges`    (K) keys of expansion contexts, ascending (`edge_key`)
    `openings` (K, S + 1) by preterminal x: P(x | d, a, b) R_d(b) / Σ_w P(w | x), which for P0 is E*_d[b, x]; the last
               column is a factor for the probability that b itself reads the word
    `opens`    (D + 1, B) the row of `openings` for the new element q'/c of each rule at depth d, -1 if there is none
    """

    contexts: Any
    share: FloatArray
    starts: IntArray
    rule: IntArray
    extra: FloatArray
    edges: Any
    openings: FloatArray
    opens: IntArray


def nothing_counted(symbols: int, rules: int, depth: int) -> Counted:
    """Return tables without rows: the probabilities of the grammar alone."""
    values, numbers, keys = np.zeros(0), np.zeros(0, np.int32), np.zeros(0, np.int64)
    return Counted(
        keys, np.zeros((0, 2)), np.zeros(1, np.int32), numbers, values, keys, np.zeros((0, symbols + 1)),
        np.full((depth + 1, rules), -1, np.int32),
    )  # fmt: skip


@register_jitable
def edge_key(size: Any, d: Any, a: Any, b: Any) -> Any:
    """Return (d (S + 1) + a) S + b, the key of an expansion below an element a/b at depth d; a = S leaves a open."""
    return (d * (size + 1) + a) * size + b


@register_jitable
def context_key(size: Any, d: Any, a: Any, b: Any, q: Any) -> Any:
    """Return the key of a reduction's context: `edge_key` extended by the completed symbol q."""
    return edge_key(size, d, a, b) * size + q


@part
def context_of(contexts: Any, symbols: int, d: int, a: int, b: int, q: int) -> int:
    """Return the row of a reduction's context, else of the one with a left open; -1 if neither was seen."""
    size = np.int64(symbols)
    row = place_of(contexts, 0, len(contexts), context_key(size, d, a, b, q))
    return row if row >= 0 else place_of(contexts, 0, len(contexts), context_key(size, d, size, b, q))


@part
def opening_of(edges: Any, symbols: int, d: int, a: int, b: int) -> int:
    """Return the row of an expansion below ⟨a, b⟩, else below an element with a left open; -1 if neither was seen."""
    size = np.int64(symbols)
    row = place_of(edges, 0, len(edges), edge_key(size, d, a, b))
    return row if row >= 0 else place_of(edges, 0, len(edges), edge_key(size, d, size, b))
