"""Trees to the arrays of their transformed selves, without making the transformed trees.

The transformations (trees/treelet_transforms, whose code is the slow twin) make of a node something that depends on the
node and on what is below it alone; only its parent's mark comes from above. Each distinct subtree is therefore looked
at once, in whichever trees it stands: the trees of a k-best list share most of their subtrees, and so do the hypotheses
of an n-best list. In Python, a distinct subtree gets a number, its head and the numbers of its children. Two kernels do
the rest on these numbers:

1. `flatten` finds, for every new phrase, its children after the flattening of NPs, SBARs and VPs, the phrase whose
   label it then has (of a chain of VPs, the lowest), and whether it is a sentence with a gap.
2. `emit` writes the nodes of each tree in pre-order, with the marks of their parents and without unary chains.

A label consists of a category, a head, a gap and a parent. Nodes carry it as one integer, and each distinct integer is
looked up once among the symbols of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from rerank_plugins.arrays import BoolArray, IntArray, LongArray
from rerank_plugins.trees.cleaning import category
from rerank_plugins.trees.constituency import ROOT, Tree
from rerank_plugins.trees.heads import CONJUNCTIONS, HeadRules, english_heads
from rerank_plugins.trees.treelet_transforms import TEMPORAL, annotate_heads, mark_numbers, mark_temporal
from rerank_plugins.trees.treelet_transforms.labels import MARK
from rerank_plugins.trees.treelet_transforms.tags import PLAIN

REMEMBERED = 50_000  # distinct subtrees, about 1 kB each
ROOT_NUMBER, NP, VP, S, SBAR = range(5)  # the first categories by number
OTHER = 5


class UnusualLabelError(Exception):
    """A label whose category its head would change: it has annotations that no cleaned tree has."""


class TransformedTrees(NamedTuple):
    """N nodes of T transformed trees: (N) `symbol` and `parent`, (T + 1) `offsets`; (N) `tag`, -1 at phrases.

    `words[tag]` is the word of a tag's node.
    """

    symbol: IntArray
    parent: IntArray
    tag: IntArray
    offsets: LongArray
    words: Sequence[str | None]

    def sentences(self) -> list[tuple[str, ...]]:
        """The words of each tree."""
        inside = np.flatnonzero(self.tag >= 0)
        words = [self.words[tag] for tag in self.tag[inside].tolist()]
        cuts = np.searchsorted(inside, self.offsets).tolist()
        return [tuple(words[start:end]) for start, end in pairwise(cuts)]


class ArrayTransformations:
    """Transforms trees for a model; `phrases` and `tags` give the numbers of labels (`Symbols.lookups`).

    Heads are those of English, unless other `rules` are given.
    """

    def __init__(
        self,
        phrases: Callable[[str], int],
        tags: Callable[[str], int],
        temporal: Collection[str] = TEMPORAL,
        rules: HeadRules | None = None,
    ) -> None:
        self._phrases, self._tags = phrases, tags
        self._temporal, self._rules = temporal, rules or english_heads()
        self._start()

    def _start(self) -> None:
        """Forget all subtrees."""
        self._trees: list[Tree] = []  # kept alive, so that an identity stays that of one tree
        self._known: dict[int, int] = {}  # numbers of subtrees by identity
        self._equal: dict[tuple[object, ...], int] = {}  # and by what they hold
        self._categories = {name: number for number, name in enumerate((ROOT, "NP", "VP", "S", "SBAR"))}
        self._labels = {ROOT: 0}  # labels with heads
        self._symbol: dict[int, int] = {}  # symbols by the integer of a node's label
        # of each distinct subtree: category, label with its head, the head, the word of a tag, children, words below
        self._category: list[int] = []
        self._label: list[int] = []
        self._head: list[str] = []
        self._word: list[str | None] = []
        self._children: list[int] = []
        self._ends: list[int] = []
        self._width: list[int] = []
        self._flat = _Flat.empty()

    def __call__(self, trees: Sequence[Tree]) -> TransformedTrees:
        """The transformed trees. Raises UnusualLabelError for a label that only the slow twin can handle."""
        if len(self._category) > REMEMBERED:
            self._start()
        self._trees.extend(trees)
        roots = np.array([tree.fold(self._number_tag, self._number_phrase, self._known) for tree in trees], np.int32)
        flat = self._flat = self._flattened()
        offsets = np.zeros(len(trees) + 1, np.int64)
        room = int(np.array(self._width, np.int64)[roots].sum()) * 2 + 2 * len(trees)
        key, parent, tag = np.empty(room, np.int64), np.empty(room, np.int32), np.empty(room, np.int32)
        total = emit(roots, flat, offsets, key, parent, tag)
        key, parent, tag = key[:total], parent[:total], tag[:total]
        return TransformedTrees(self._symbols(key), parent, tag, offsets, self._word)

    def _number_tag(self, tag: Tree) -> int:
        key = (tag.label, tag.word)
        number = self._equal.get(key)
        if number is None:
            marked = mark_temporal(tag, self._temporal)
            annotated = annotate_heads(marked, self._rules)
            head = annotated.label[len(marked.label) + 1 :] or marked.label
            label = mark_numbers(annotated).label
            number = self._equal[key] = self._add(category(marked.label), label, head, tag.word, [], 1)
        return number

    def _number_phrase(self, node: Tree, children: list[int]) -> int:
        key = (node.label, None, *children)
        number = self._equal.get(key)
        if number is None:
            labels = [PLAIN.get(child.label, child.label) for child in node.subtrees]
            head = self._head[children[self._rules.head(node.label, labels)]]
            label = node.label if node.label == ROOT else f"{node.label}-{head}"
            width = sum(map(self._width.__getitem__, children))
            number = self._equal[key] = self._add(category(node.label), label, head, None, children, width)
        return number

    def _add(self, name: str, label: str, head: str, word: str | None, children: list[int], width: int) -> int:
        if category(label) != name:
            raise UnusualLabelError(label)
        self._category.append(self._categories.setdefault(name, len(self._categories)))
        self._label.append(self._labels.setdefault(label, len(self._labels)))
        self._head.append(head)
        self._word.append(word)
        self._children.extend(children)
        self._ends.append(len(self._children))
        self._width.append(width)
        return len(self._category) - 1

    def _flattened(self) -> _Flat:
        """What flattening makes of all subtrees; those that were there before are taken over."""
        known, size = self._flat, len(self._category)
        done = len(known.label)
        if done == size:
            return known
        need = sum(self._width[done:])
        conjunction = np.zeros(len(self._categories), np.bool_)
        conjunction[[number for name, number in self._categories.items() if name in CONJUNCTIONS]] = True
        flat = known.grown(self._category, self._label, [word is not None for word in self._word], need)
        ends = np.array([0, *self._ends], np.int32)
        flatten(done, ends, np.array(self._children, np.int32), conjunction, flat)
        return flat

    def _symbols(self, key: LongArray) -> IntArray:
        """(N) the symbols of nodes by the integers of their labels."""
        distinct, inverse = np.unique(key, return_inverse=True)
        symbols = self._symbol
        new = [each for each in distinct.tolist() if each not in symbols]
        if new:
            labels, names = list(self._labels), list(self._categories)
            for each in new:
                rest, is_tag = divmod(each, 2)
                rest, gap = divmod(rest, 2)
                number, above = divmod(rest, ABOVE)
                label = labels[number] + (MARK if gap else "") + (f"^{names[above - 1]}" if above else "")
                symbols[each] = self._tags(label) if is_tag else self._phrases(label)
        return np.array([symbols[each] for each in distinct.tolist()], np.int32)[inverse]


ABOVE = 4096  # more than there are categories


class _Flat(NamedTuple):
    """X subtrees after flattening: (X) `category`, `label` (of a chain of VPs, that of the lowest), `gap` and `tag`.

    `bounds` (X, 6) says where the children of each stand in `pool`: starts and ends after the flattening of NPs, of
    SBARs too, and of VPs too.
    """

    category: IntArray
    label: IntArray
    gap: BoolArray
    tag: BoolArray
    bounds: IntArray
    pool: IntArray

    @classmethod
    def empty(cls) -> _Flat:
        none = np.zeros(0, np.int32)
        return cls(none, none, none.astype(np.bool_), none.astype(np.bool_), np.zeros((0, 6), np.int32), none)

    def grown(self, categories: list[int], labels: list[int], tags: list[bool], need: int) -> _Flat:
        """Room for more subtrees."""
        old, size = len(self.label), len(labels)
        label = np.array(labels, np.int32)
        label[:old] = self.label
        gap, bounds = np.zeros(size, np.bool_), np.zeros((size, 6), np.int32)
        gap[:old], bounds[:old] = self.gap, self.bounds
        pool = np.concatenate([self.pool, np.empty(3 * need, np.int32)])
        return _Flat(np.array(categories, np.int32), label, gap, np.array(tags, np.bool_), bounds, pool)


@njit(cache=True, nogil=True)
def only_child(source: Any, first: int, last: int, kind: int, category: Any, conjunction: Any) -> int:
    """The place in `source` of the one child of a category `kind`; -1 where there are more, none, or a conjunction."""
    place = -1
    for i in range(first, last):
        if conjunction[category[source[i]]] or (category[source[i]] == kind and place >= 0):
            return -1
        if category[source[i]] == kind:
            place = i
    return place


@njit(cache=True, nogil=True)
def spliced(
    source: Any, first: int, last: int, only: int, kind: int, category: Any, bounds: Any, column: int, pool: Any,
    place: int,
) -> int:  # fmt: skip
    """Write children to the pool from `place` on; the place after them.

    The child at the place `only`, and those of the category `kind`, give way to their own children, whose bounds are in
    the columns `column` and `column` + 1.
    """
    for i in range(first, last):
        child = source[i]
        if i == only or category[child] == kind:
            for c in range(bounds[child, column], bounds[child, column + 1]):
                pool[place] = pool[c]
                place += 1
        else:
            pool[place] = child
            place += 1
    return place


@njit(cache=True, nogil=True)
def flatten(done: int, child_ends: Any, children: Any, conjunction: Any, flat: Any) -> None:
    """Fill in the subtrees from number `done` on: children have lower numbers than their parents."""
    category, label, gap, tag, bounds, pool = flat
    place = bounds[done - 1, 5] if done else 0
    for x in range(done, len(label)):
        bounds[x, :] = place
        if tag[x]:
            continue
        # NP flattening: an NP that is the only NP among the children of an NP gives way to its children.
        first, last, only = child_ends[x], child_ends[x + 1], -1
        if category[x] == NP:
            only = only_child(children, first, last, NP, category, conjunction)
        place = spliced(children, first, last, only, -1, category, bounds, 0, pool, place)
        bounds[x, 1] = place
        # SBAR flattening: every S under an SBAR gives way to its children.
        first, last = bounds[x, 0], bounds[x, 1]
        if category[x] == SBAR:
            first, place = place, spliced(pool, first, last, -1, S, category, bounds, 2, pool, place)
            last = place
        bounds[x, 2], bounds[x, 3] = first, last
        # VP flattening: a VP with one VP among its children takes over that VP's label and children.
        if category[x] == VP:
            only = only_child(pool, first, last, VP, category, conjunction)
            if only >= 0:
                label[x] = label[pool[only]]
                first, place = place, spliced(pool, first, last, only, -1, category, bounds, 4, pool, place)
                last = place
        bounds[x, 4], bounds[x, 5] = first, last
        # Gapped sentences: the first NP or VP among the children is a VP.
        if category[x] == S or category[x] == SBAR:
            for i in range(first, last):
                if category[pool[i]] == NP:
                    break
                if category[pool[i]] == VP:
                    gap[x] = True
                    break


@njit(cache=True, nogil=True)
def emit(roots: Any, flat: Any, offsets: Any, key: Any, parent: Any, tags: Any) -> int:
    """Write the nodes of each tree in pre-order, under ROOT; how many there are."""
    category, label, gap, tag, bounds, pool = flat
    count = 0
    stack = np.empty((len(key) + 1, 3), np.int64)
    for tree in range(len(roots)):
        stack[0, 0], stack[0, 1], stack[0, 2] = roots[tree], 0, -1
        depth = 1
        while depth:
            depth -= 1
            x, above, upper = stack[depth]
            # a phrase with one child, the root apart, is left out; the child's mark tells of it all the same
            while not tag[x] and bounds[x, 5] - bounds[x, 4] == 1 and (label[x] != 0 or above != 0):
                child = pool[bounds[x, 4]]
                above = category[x] + 1 if category[x] == ROOT_NUMBER or category[child] == VP else 0
                x = child
            if upper < 0 and (tag[x] or above or label[x] != 0):
                key[count], parent[count], tags[count] = 0, -1, -1
                upper = count
                count += 1
            here = count
            key[here] = ((label[x] * ABOVE + above) * 2 + gap[x]) * 2 + tag[x]
            parent[here], tags[here] = upper, x if tag[x] else -1
            count += 1
            if tag[x]:
                continue
            for i in range(bounds[x, 5] - 1, bounds[x, 4] - 1, -1):
                child = pool[i]
                marked = category[x] == ROOT_NUMBER or category[child] == VP
                stack[depth, 0], stack[depth, 1], stack[depth, 2] = child, category[x] + 1 if marked else 0, here
                depth += 1
        offsets[tree + 1] = count
    return count
