"""The two semirings of a chart of vectors: the best vector of each span and symbol, or the sum over rules.

The best vector is the e with the greatest aᵀe, where a = π(lc·), at ROOT a_T (Wu & Schuler 2011, eq. 8); the sum gives
p(words) = a_Tᵀ e(ROOT, 0, n), the inside probability (Baker 1979) under the grammar of S·K symbols lci with P_G = P_M
P_L P_L (eq. 7), which has K³ rules and is not built. For a best vector, a rule over a split point takes K steps, the
dot product of its children's product with P_M · a; the vector is computed for the best rule only.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from rerank_plugins import FloatArray, IntArray, LongArray
from rerank_plugins.kit.kernels import part

FAST = {"reassoc", "contract", "nsz"}  # sums in any order
EMISSION = -1  # the rule of an item that is a word's preterminal
# Worth of a symbol that does not derive the span, or only by unary rules, and of one that may not be in a tree.
NOTHING, CHAIN, BARRED = -1.0, -0.5, math.inf
# The best rule of a symbol so far, the items of its children, and the scale of their product.
DERIVED = np.dtype([("scale", np.float64), ("rule", np.int32), ("left", np.int32), ("right", np.int32)])


class Work(NamedTuple):
    """What a kernel notes of S symbols in the present cell, and room for vectors of K concepts."""

    worth: FloatArray  # (S) aᵀe of the best rule so far; of a sum, any number above 0
    derived: Any  # (S) DERIVED
    # where, here: (S) the item of each symbol in the right cell of a split point, and in the present cell
    where: IntArray
    here: IntArray
    # both, e: (K)
    both: FloatArray
    e: FloatArray
    opened: IntArray  # (S + 1) the symbols that may be in a tree, by category
    # parts, blocks: (S + 1) left items that have pairs with a category, and the block of these pairs
    parts: IntArray
    blocks: IntArray
    # pair, left, right: (P + 1) the pairs of children that two cells have, and their items
    pair: IntArray
    left: IntArray
    right: IntArray
    numbers: LongArray  # (4) at the places of the following constants


ITEMS, FULL = 0, 1  # how many items the heap has; 1 if it had no room for those of a cell, else 0
OPENED, POWER = 2, 3  # of the present cell: how many symbols are `opened`, the power of two of products


def make_work(symbols: int, concepts: int, pairs: int) -> Work:
    """Room for so many symbols, concepts and pairs of children."""
    worth, derived = np.empty(symbols), np.zeros(symbols, DERIVED)
    (where, here), (both, e) = np.empty((2, symbols), np.int32), np.empty((2, concepts))
    opened, parts, blocks = np.empty((3, symbols + 1), np.int32)
    pair, left, right = np.empty((3, pairs + 1), np.int32)
    numbers = np.zeros(4, np.int64)
    return Work(worth, derived, where, here, both, e, opened, parts, blocks, pair, left, right, numbers)


def close_all(work: Work) -> None:
    """Let no symbol be derived before the first cell is opened."""
    work.where[:] = work.here[:] = -1
    work.worth[:] = BARRED
    work.numbers[FULL] = 0


@partial(part, fastmath=FAST, forceinline=True)
def keep_best(
    work: Work, parent: int, rule: int, x: int, y: int, scale: float, weight: FloatArray, row: int, both: FloatArray
) -> None:
    """Keep a rule if aᵀe = weight[row] · both is greater than that of the parent's best rule so far."""
    value = 0.0
    for c in range(len(both)):
        value += weight[row, c] * both[c]
    if value > work.worth[parent]:
        work.worth[parent], now = value, work.derived[parent]
        now["scale"], now["rule"], now["left"], now["right"] = scale, rule, x, y


@partial(part, fastmath=FAST, forceinline=True)
def add_up(work: Work, parent: int, rule: int, p: FloatArray, row: int, both: FloatArray, sums: FloatArray) -> None:
    """Add e = p[row] · both to the parent's sum."""
    work.worth[parent], work.derived[parent]["rule"] = 1.0, rule
    for c in range(len(both)):
        sums[parent, c] += p[row, c] * both[c]
