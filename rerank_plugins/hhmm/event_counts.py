"""Counts the reductions and expansions of right-corner trees, by store depth (Wu et al. 2010, equations 11-14).

In the right-corner form of a binarised tree, every node on the left edge of an awaited constituent b (in the element
⟨a, b⟩ at depth d) is at some time the constituent q that has just been completed above that element. It is then reduced
in one of two ways:

    in-level (ILR, then ILE)       q begins q' -> q c, also on that edge: a new element ⟨q', c⟩ at depth d + 1
    cross-level (CLR, then ILT)    q is the left child of b -> q c itself: the element goes on as ⟨a, c⟩

and the edge itself begins with a preterminal x, by an expansion (CLE) below ⟨a, b⟩. The element at depth 0 is
⟨ROOT, ROOT⟩, whose cross-level reduction ends the sentence. A copy has probability one, so these are all the events of
a tree.

Two conditioning variables of the paper are left out: the element above in ILT (q_t^{d-1} of equation 14), because its
contexts would be too sparse; and the awaited preterminal that q's own element had when it was completed, because a
store here no longer contains it once its word has been read (see transitions.py). The paper's list of F_1 and F_G is
the reverse of its equations (13) and (14); these and its figure are what is implemented here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rerank_plugins import ConfigError, FloatArray, FormatError, IntArray, Tree
from rerank_plugins.constituency.grammar import Grammar
from rerank_plugins.constituency.lexicon import Tagged
from rerank_plugins.constituency.split_merge import Schedule
from rerank_plugins.constituency.training import GrammarSettings, encode_treebanks
from rerank_plugins.constituency.treebank_grammar import EncodedTrees, productions, treebank_grammar
from rerank_plugins.kit.kernels import filling_kernel
from rerank_plugins.kit.trees.binarisation import JOINED, join_unaries

CROSS, WITHIN = 0, 1  # kinds of reduction
END = -1  # in place of a rule number: the sentence is complete
HERE = -1  # in place of a preterminal: the awaited symbol itself reads the word


@dataclass(frozen=True, eq=False)
class Events:
    """The distinct events of the trees that fit in a store of `depth` elements, and their counts.

    `strength`    κ of the smoothing (interpolation.py)
    `reductions`  (R, 6) int32 d, a, b, q, kind, number of the binary rule; `reduced` (R) their weighted counts
    `expansions`  (X, 4) int32 d, a, b, x; `expanded` (X) their weighted counts

    Symbols and rules are numbered as in the grammar of the same trees.
    """

    depth: int
    strength: float
    reductions: IntArray
    reduced: FloatArray
    expansions: IntArray
    expanded: FloatArray


def count_events(forest: EncodedTrees, depth: int, strength: float = 1.0) -> Events:
    """Count the events of a forest's trees, but for trees that need more than `depth` elements.

    The root of each tree is ROOT, over one or two children; all other phrases have two (see `joined`). Raises
    FormatError if a phrase below ROOT has one child, or if no tree fits.
    """
    size = len(forest.label)
    starts = np.zeros(size, np.bool_)
    starts[forest.offsets[1:] - 1] = True
    phrase, unary = forest.word < 0, forest.right < 0
    if (phrase & unary & ~starts).any():
        raise FormatError("a phrase below ROOT has one child: events are counted in trees of two children a phrase")
    # The element of each node, and the depth of store that its tree needs.
    places = np.empty((size, 3), np.int32)  # d, a, b; the b of an awaited node is its own label
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
    # Reductions: every node on a left edge is reduced once it is complete.
    node = fits & (~phrase | ~unary)  # without ROOT over one child, which is a place to be filled
    completed = np.flatnonzero(node & edge)
    top = (above[completed] < 0) | starts[above[completed]] & unary[above[completed]]
    kind = np.where(~top & edge[above[completed]], WITHIN, CROSS)
    used = np.where(top, END, rule[above[completed]])
    reductions = np.column_stack([places[completed], forest.label[completed], kind, used])
    # Expansions: every word is read by the awaited symbol itself or by a preterminal down its left edge.
    preterminal = np.flatnonzero(fits & ~phrase)
    expansions = np.column_stack([places[preterminal], np.where(edge[preterminal], forest.label[preterminal], HERE)])
    return Events(
        depth, strength, *_distinct(reductions, weights[completed]), *_distinct(expansions, weights[preterminal])
    )


def _distinct(rows: Any, weights: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the distinct rows, sorted, and the sum of the weights of each."""
    table, inverse = np.unique(rows, axis=0, return_inverse=True)
    return table.astype(np.int32), np.bincount(inverse.ravel(), weights, len(table)).astype(np.float64)


@filling_kernel
def _place(label: Any, left: Any, right: Any, starts: Any, places: Any, edge: Any, above: Any) -> None:
    """Fill in the depth, active and awaited symbol of each node's element, its parent, and if it is on a left edge.

    Children come before their parents, so the loop runs backwards. A left child is on the left edge of its parent's
    element. A right child is awaited: in the same element if its parent is awaited, else in a new one, a level deeper.
    """
    for i in range(len(label) - 1, -1, -1):
        if starts[i]:
            edge[i] = True
            places[i, 0] = places[i, 1] = places[i, 2] = 0  # ⟨ROOT, ROOT⟩
        if left[i] < 0:
            continue
        first, second = left[i], right[i]
        above[first] = i
        edge[first] = True
        for column in range(3):
            places[first, column] = places[i, column]
        if second < 0:
            continue
        above[second] = i
        edge[second] = False
        for column in range(3):
            places[second, column] = places[i, column]
        if edge[i]:
            places[second, 0] = places[i, 0] + 1
            places[second, 1] = label[i]
        places[second, 2] = label[second]


def counting_settings(language: str) -> GrammarSettings:
    """Return settings for counting: left binarisation, new symbols know one sibling, no latent splits."""
    return GrammarSettings(language, "left", horizontal=1, schedule=Schedule(rounds=0))


class Empirical(NamedTuple):
    """A grammar of trees with joined unary chains, and the event counts of the same trees."""

    grammar: Grammar
    events: Events


def joined(tree: Tree) -> Tree:
    """Return the tree with its unary chains joined, except for ROOT, which remains at the top.

    Raises FormatError for a label that contains +.

    >>> from rerank_plugins.core.constituency_tree import read_trees
    >>> str(joined(*read_trees(["(ROOT (S (VP (VB Go))))"])))
    '(ROOT (S+VP+VB Go))'
    """
    try:
        if len(tree.subtrees) == 1:
            return Tree(tree.label, (join_unaries(tree.subtrees[0]),))
        return join_unaries(tree)
    except ValueError as error:
        raise FormatError(f"{error}: unary chains cannot be joined") from None


def train_empirical(
    trees: Sequence[Sequence[Tree]],
    weights: Sequence[float],
    settings: GrammarSettings,
    depth: int = 4,
    strength: float = 1.0,
    tagged: Tagged | None = None,
) -> Empirical:
    """Train a model with a store of `depth` elements on treebanks; the trees of each count with its weight.

    `strength` is κ of the smoothing (interpolation.py); `tagged` words are added to the lexicon. Raises FormatError if
    there are no trees or none fits in the store, ConfigError for settings with latent splits, whose events cannot be
    counted in trees.
    """
    if settings.schedule.rounds:
        raise ConfigError(
            f"{settings.schedule.rounds} rounds of latent splits, wanted 0: their events cannot be counted"
        )
    planted = encode_treebanks(trees, weights, settings, tagged, joined)
    events = count_events(planted.forest, depth, strength)
    recorded = {**planted.settings, "unaries": JOINED}
    return Empirical(treebank_grammar(planted.forest, settings.smoothing, recorded, planted.tagged), events)
