"""Reductions and expansions of right-corner trees, counted by store depth (Wu et al. 2010, equations 11-14).

In the right-corner form of a binarised tree, every node on the left edge of an awaited constituent b (element ⟨a, b⟩ at
depth d) is at some time the constituent q that has just been completed above that element. What happens then is

    in-level (ILR, then ILE)       q begins q' -> q c, also on that edge: a new element ⟨q', c⟩ at depth d + 1
    cross-level (CLR, then ILT)    q is the left child of b -> q c itself: the element goes on as ⟨a, c⟩

and the edge itself begins with a preterminal x, by an expansion (CLE) below ⟨a, b⟩. At depth 0 stands ⟨ROOT, ROOT⟩, and
a cross-level reduction is the end of the sentence. A copy has probability one, so these are all the events of a tree.

Two conditions of the paper are left out: the element above in ILT (q_t^{d-1} of equation 14), whose contexts would be
thin; and the awaited preterminal that q's own element had when it was completed: once its word is read, it is no part
of a store here (see stepping.py). The paper prints F_1 and F_G the wrong way round in its list; its
equations (13) and (14) and its figure have the reading above.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from rerank_plugins.arrays import FloatArray, IntArray
from rerank_plugins.errors import FormatError
from rerank_plugins.models.pcfg.forest import Forest
from rerank_plugins.models.pcfg.treebank_grammar import productions

CROSS, WITHIN = 0, 1  # kinds of reduction
END = -1  # in place of a rule: the sentence is complete
HERE = -1  # in place of a preterminal: the awaited symbol is itself the one that reads the word


@dataclass(frozen=True, eq=False)
class Events:
    """Distinct events of trees that fit in a store of `depth` elements, and how often each was seen.

    `strength`    κ of the smoothing (interpolation.py)
    `reductions`  (R, 6) int32 d, a, b, q, kind, number of the binary rule; `reduced` (R) counts
    `expansions`  (X, 4) int32 d, a, b, x; `expanded` (X) counts

    Symbols are numbers of the grammar of the same trees, and so are rules.
    """

    depth: int
    strength: float
    reductions: IntArray
    reduced: FloatArray
    expansions: IntArray
    expanded: FloatArray


def count_events(forest: Forest, depth: int, strength: float = 1.0) -> Events:
    """The events of a forest's trees; those that need more than `depth` elements are left out.

    Each tree has at its top ROOT, over one or two children; all other phrases have two (see `joined`). Raises
    FormatError where a phrase below ROOT has one child, and where no tree fits.
    """
    size = len(forest.label)
    starts = np.zeros(size, np.bool_)
    starts[forest.offsets[1:] - 1] = True
    phrase, lone = forest.word < 0, forest.right < 0
    if (phrase & lone & ~starts).any():
        raise FormatError("a phrase below ROOT has one child: events are counted in trees of two children a phrase")
    places = np.empty((size, 3), np.int32)  # d, a, b; b of an awaited node is its own label
    edge = np.empty(size, np.bool_)
    above = np.full(size, -1, np.int32)
    _place(forest.label, forest.left, forest.right, starts, places, edge, above)
    needs = np.where(edge, places[:, 0] + 1, places[:, 0])
    tree = np.repeat(np.arange(len(forest.weights)), np.diff(forest.offsets))
    deepest = np.zeros(len(forest.weights), np.int32)
    np.maximum.at(deepest, tree, needs)
    fits = deepest[tree] <= depth
    if not fits.any():
        raise FormatError(f"no tree fits in a store of {depth} elements")
    weights, rule = forest.node_weights, productions(forest).rule
    node = fits & (~phrase | ~lone)  # not ROOT over one child, which is a place to be filled
    done = np.flatnonzero(node & edge)
    top = (above[done] < 0) | starts[above[done]] & lone[above[done]]
    kind = np.where(~top & edge[above[done]], WITHIN, CROSS)
    used = np.where(top, END, rule[above[done]])
    reductions = np.column_stack([places[done], forest.label[done], kind, used])
    first = np.flatnonzero(fits & ~phrase)
    expansions = np.column_stack([places[first], np.where(edge[first], forest.label[first], HERE)])
    return Events(depth, strength, *_distinct(reductions, weights[done]), *_distinct(expansions, weights[first]))


def _distinct(rows: Any, weights: FloatArray) -> tuple[IntArray, FloatArray]:
    table, inverse = np.unique(rows, axis=0, return_inverse=True)
    return table.astype(np.int32), np.bincount(inverse.ravel(), weights, len(table)).astype(np.float64)


@njit(cache=True, nogil=True)
def _place(label: Any, left: Any, right: Any, starts: Any, places: Any, edge: Any, above: Any) -> None:
    """Fill in for each node its element's depth, active and awaited symbol; whether it is on a left edge; its parent.

    Parents come after their children, so this goes backwards.
    """
    for i in range(len(label) - 1, -1, -1):
        if starts[i]:
            edge[i] = True
            places[i] = 0  # ⟨ROOT, ROOT⟩
        if left[i] < 0:
            continue
        first, second = left[i], right[i]
        above[first] = i
        edge[first] = True
        places[first] = places[i]
        if second < 0:
            continue
        above[second] = i
        edge[second] = False
        places[second] = places[i]
        if edge[i]:
            places[second, 0] = places[i, 0] + 1
            places[second, 1] = label[i]
        places[second, 2] = label[second]
