"""The two semirings of a chart of vectors: the best vector of each span and symbol, or the sum over rules.

The best vector is the e with the greatest aᵀe, where a = π(lc·), at ROOT a_T (Wu & Schuler 2011, eq. 8); the sum gives
p(words) = a_Tᵀ e(ROOT, 0, n), the inside probability (Baker 1979) under the grammar of S·K symbols lci with P_G = P_M
P_L P_L (eq. 7), which has K³ rules and is not built. For a best vector, a rule over a split point takes K steps, the
dot product of its children's product with P_M · a; the vector is computed for the best rule only.
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
    # both, e: (K)
    both: FloatArray
    e: FloatArray
    # pair, left, right: (P) the pairs of children that two cells have, and their items
    pair: IntArray
    left: IntArray
    right: IntArray


def make_work(symbols: int, concepts: int, pairs: int) -> Work:
    """Room for so many symbols, concepts and pairs of children, bundled."""
    may, derived = np.zeros(symbols, np.uint8), np.zeros(symbols, DERIVED)
    (where, here), (both, e) = np.empty((2, symbols), np.int32), np.empty((2, concepts))
    pair, left, right = np.empty((3, pairs + 1), np.int32)
    return bundled(Work(may, derived, where, here, both, e, pair, left, right))


@partial(part, fastmath=FAST, forceinline=True)
def keep_best(
    derived: Any, parent: int, rule: int, x: int, y: int, scale: float, weight: Any, row: int, both: Any
) -> None:
    """Keep a rule if aᵀe = weight[row] · both is greater than that of the parent's best rule so far."""
    value = 0.0
    for c in range(len(both)):
        value += weight[row, c] * both[c]
    now = derived[parent]
    if value > now.worth:
        now.worth, now.scale, now.rule, now.left, now.right = value, scale, rule, x, y


@partial(part, fastmath=FAST, forceinline=True)
def add_up(derived: Any, parent: int, rule: int, p: Any, row: int, both: Any, sums: Any) -> None:
    """Add e = p[row] · both to the parent's sum."""
    derived[parent].worth, derived[parent].rule = 1.0, rule
    for c in range(len(both)):
        sums[parent, c] += p[row, c] * both[c]
