"""Events of the dependency language model: each word of a tree, preceded by its path of ancestors.

Gubbins and Vlachos (2013), sections 2 and 3. w_0 = ROOT; A(w) is the path of words from ROOT to the parent of w, G(w)
the labels of the arcs from ROOT to w. The context of order N is A^{(N-1)}(w), the up to N-1 closest ancestors, and in
the labelled model G^{(N-1)}(w), the labels of the arcs between successive elements of (A^{(N-1)}, w). So ancestor a_k
comes with the label of the arc to its child on the path, and both leave the context together: one context symbol
(a_k, g_k), numbered a_k · L + g_k. The unigram conditions on no label.

    P(S | T) = Π_i P(w_i | A^{(N-1)}(w_i), G^{(N-1)}(w_i))                                    (models of eqs. 4 and 5)

The paper multiplies in breadth-first order; each factor depends on the path alone, so the order does not matter and
words are kept as they stand in the sentence. O(N) array operations over all words at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from rerank_plugins.core.arrays import IntArray, LongArray
from rerank_plugins.core.dependency_tree import DependencyTree

Ids = IntArray
NONE = -1  # fills the positions before ROOT


@dataclass(frozen=True, eq=False)
class TreePaths:
    """The trees of a corpus, concatenated: (n) numbers of words and labels, and positions of heads.

    `heads` are positions in these arrays, -1 for ROOT; tree t has the words `offsets[t]:offsets[t + 1]`.
    """

    words: Ids
    heads: Ids
    labels: Ids
    offsets: LongArray


def lay_out(
    trees: Sequence[DependencyTree], word_number: Callable[[str], int], label_number: Callable[[str], int]
) -> TreePaths:
    """The trees in numbers; `word_number` and `label_number` give the number of a word and of a label."""
    offsets = np.cumsum([0, *(len(tree.words) for tree in trees)], dtype=np.int64)
    size = int(offsets[-1])
    return TreePaths(
        _numbered((tree.words for tree in trees), word_number, size),
        _absolute((tree.heads for tree in trees), offsets),
        _numbered((tree.relations for tree in trees), label_number, size),
        offsets,
    )


def _numbered(names: Iterable[Sequence[str]], number_of: Callable[[str], int], size: int) -> Ids:
    return np.fromiter(map(number_of, chain.from_iterable(names)), np.int32, size)


def _absolute(heads: Iterable[Sequence[int]], offsets: LongArray) -> Ids:
    within = np.fromiter(chain.from_iterable(heads), np.int32, int(offsets[-1]))
    start = np.repeat(offsets[:-1], np.diff(offsets))
    return np.where(within < 0, -1, within + start).astype(np.int32)


def paths(forest: TreePaths, order: int, root: int, labels: int) -> Ids:
    """(n, order): the event of each word, farthest ancestor first and the word last, NONE before ROOT.

    `root` is the number of the symbol ROOT among the context words. Context symbols are numbered
    word · `labels` + label; with `labels` = 1 the model is unlabelled, and the symbol is the word.
    """
    events = np.full((len(forest.words), order), NONE, np.int32)
    events[:, order - 1] = forest.words
    below = np.arange(len(forest.words), dtype=np.int32)  # top of each path so far; -1 after ROOT
    for column in range(order - 2, -1, -1):
        open_ = np.flatnonzero(below >= 0)
        child = below[open_]
        head = forest.heads[child]
        symbol = (
            np.where(head >= 0, forest.words[head], root) * labels
        )  # where head is -1, words[-1] is read but not used
        events[open_, column] = symbol + forest.labels[child] if labels > 1 else symbol
        below[open_] = head
    return events
