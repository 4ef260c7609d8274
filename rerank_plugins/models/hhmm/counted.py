"""What counted events add to the probabilities of a grammar, in arrays that the search looks up by context.

With P0 what the grammar expects (left_progeny.py), a context h of a reduction has

    P(event | h) = share(h, kind) · P0(event | d, b, q) + extra(h, event)

and a preterminal x down the left edge of an awaited symbol the same in a row of `openings`. A context that was never
seen has no row: P0 holds. The grammar alone is the model without any rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numba.extending import register_jitable

from rerank_plugins.arrays import FloatArray, IntArray


class Counted(NamedTuple):
    """Rows of contexts with counts, those with any active symbol among them.

    `contexts` (M) keys of reductions, ascending (`context_key`); `share` (M, 2) by kind
    `starts`   (2 M + 1): the events of context m and kind k are entries starts[2 m + k] to starts[2 m + k + 1] of
    `rule`     numbers in the order of Rules, and `extra`, divided by the probability that the new awaited symbol fits
    `edges`    (K) keys of expansions, ascending (`edge_key`)
    `openings` (K, S + 1) by symbol, if preterminal: P(x | d, a, b) R_d(b) / Σ_w P(w | x), which for P0 is E*_d[b, x];
               last, what the probability that b itself reads the word is multiplied by
    `opens`    (D + 1, B) row of `openings` for the new element q'/c of a rule at depth d, -1 where there is none
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
    """No rows: the grammar as it is."""
    none, numbers, keys = np.zeros(0), np.zeros(0, np.int32), np.zeros(0, np.int64)
    return Counted(
        keys, np.zeros((0, 2)), np.zeros(1, np.int32), numbers, none, keys, np.zeros((0, symbols + 1)),
        np.full((depth + 1, rules), -1, np.int32),
    )  # fmt: skip


@register_jitable
def edge_key(size: Any, d: Any, a: Any, b: Any) -> Any:
    """(d (S + 1) + a) S + b: the context of an expansion below an element a/b at depth d; a = S: any."""
    return (d * (size + 1) + a) * size + b


@register_jitable
def context_key(size: Any, d: Any, a: Any, b: Any, q: Any) -> Any:
    """The context of a reduction: the same with the completed q."""
    return edge_key(size, d, a, b) * size + q


@njit(cache=True, nogil=True)
def _row(keys: Any, key: Any) -> int:
    """Where the key is among ascending ones; -1: nowhere."""
    low, high = 0, len(keys)
    while low < high:
        middle = (low + high) >> 1
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < len(keys) and keys[low] == key else -1


@njit(cache=True, nogil=True)
def context_of(contexts: Any, symbols: int, d: int, a: int, b: int, q: int) -> int:
    """Row of the context of a reduction, or of that with any a; -1: never seen."""
    size = np.int64(symbols)
    row = _row(contexts, context_key(size, d, a, b, q))
    return row if row >= 0 else _row(contexts, context_key(size, d, size, b, q))


@njit(cache=True, nogil=True)
def opening_of(edges: Any, symbols: int, d: int, a: int, b: int) -> int:
    """Row of the left edge of an awaited b in an element ⟨a, b⟩, or in one with any a; -1: never seen."""
    size = np.int64(symbols)
    row = _row(edges, edge_key(size, d, a, b))
    return row if row >= 0 else _row(edges, edge_key(size, d, size, b))
