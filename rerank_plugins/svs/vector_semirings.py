"""The two semirings of a chart of vectors: the best vector of each span and symbol, or the sum over rules.

`best` keeps the e with the greatest aᵀe, where a = π(lc·), at ROOT a_T (Wu & Schuler 2011, eq. 8); `total` adds them
up: a_Tᵀ e(ROOT, 0, n) is then p(words), the inside probability (Baker 1979) under the grammar of S·K symbols lci with
P_G = P_M P_L P_L (eq. 7), which has K³ rules and is not built. For a best vector, a rule over a split point takes K
steps, the dot product of its children's product with P_M · a; the vector is computed for the best rule only.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import FloatArray, IntArray
from rerank_plugins.kit.bundles import bundled
from rerank_plugins.kit.kernels import part

FAST = {"reassoc", "contract", "nsz"}  # sums in any order
EMISSION = -1  # the rule of an item that is a word's preterminal
NOTHING, CHAIN = -1.0, -0.5  # worth of a symbol that does not derive the span, or only by unary rules
# The best rule of a symbol so far, the items of its children, the scale of their product, and aᵀe: of a sum, any number
# above 0. The worth is NOTHING between two cells.
DERIVED = np.dtype(
    [
        ("worth", np.float64), ("scale", np.float64), ("rule", np.int32), ("left", np.int32), ("right", np.int32),
        ("unused", np.int32),
    ]
)  # fmt: skip


class Work(NamedTuple):
    """What a kernel notes of S symbols in the present cell, and room for vectors of K concepts."""

    may: NDArray[np.uint8]  # (S) 1 if the symbol may be in a tree, else 0
    derived: Any  # (S) DERIVED
    # where, here: (S) the item of each symbol in the right cell of a split point, and in the present cell
    where: IntArray
    here: IntArray
    sums: FloatArray  # (S, K) e as the sum over rules so far
    # both, e: (K)
    both: FloatArray
    e: FloatArray


def make_work(symbols: int, concepts: int) -> Work:
    """Room for so many symbols and concepts, bundled."""
    may, derived, sums = np.zeros(symbols, np.uint8), np.zeros(symbols, DERIVED), np.zeros((symbols, concepts))
    (where, here), (both, e) = np.empty((2, symbols), np.int32), np.empty((2, concepts))
    return bundled(Work(may, derived, where, here, sums, both, e))


class Hoisted(NamedTuple):
    """Arrays of rules, heap and work out of their bundles: the innermost loops would read their addresses again."""

    rule_starts: IntArray
    parent: IntArray
    may: NDArray[np.uint8]
    p: FloatArray
    weight: FloatArray
    vector: FloatArray
    derived: Any
    sums: FloatArray
    both: FloatArray


@partial(part, fastmath=FAST, forceinline=True)
def best(to: Hoisted, parent: int, rule: int, x: int, y: int, scale: float, _: Any, weight: Any, row: int) -> None:
    """Keep a rule if aᵀe = weight[row] · both is greater than that of the parent's best rule so far."""
    value = 0.0
    for c in range(len(to.both)):
        value += weight[row, c] * to.both[c]
    now = to.derived[parent]
    if value > now.worth:
        now.worth, now.scale, now.rule, now.left, now.right = value, scale, rule, x, y


@partial(part, fastmath=FAST, forceinline=True)
def composed(rules: Any, heap: Any, work: Work, symbol: int) -> None:
    """Compute e of a symbol from its best rule and children (eq. 4)."""
    e, vector, now = work.e, heap.vector, work.derived[symbol]
    rule, x, y = now.rule, now.left, now.right
    if now.worth <= 0.0:
        now.left = now.right = -1
    for c in range(len(e)):
        if now.worth <= 0.0:
            e[c] = 0.0
        elif rule >= 0:
            e[c] = rules.p[rule, c] * (now.scale * vector[x, c] * vector[y, c])
        else:
            e[c] = rules.chain_p[-2 - rule, c] * vector[x, c]


@partial(part, fastmath=FAST, forceinline=True)
def total(to: Hoisted, parent: int, rule: int, _x: int, _y: int, _scale: float, p: Any, _weight: Any, row: int) -> None:
    """Add e = p[row] · both to the parent's sum."""
    to.derived[parent].worth, to.derived[parent].rule = 1.0, rule
    for c in range(len(to.both)):
        to.sums[parent, c] += p[row, c] * to.both[c]


@part
def summed(_rules: Any, _heap: Any, work: Work, symbol: int) -> None:
    """Take e of a symbol from the sums."""
    for c in range(len(work.e)):
        work.e[c], work.sums[symbol, c] = work.sums[symbol, c], 0.0
