"""Transforms trees for the treelet model: from numbered subtrees to the arrays of the transformed trees.

The input trees must be clean (no empty elements, no function tags; see kit/trees/treebank_cleaning.py) and under ROOT.
Numbers of distinct subtrees, with their heads, come from subtree_numbers.py, and the marks in labels from
label_marks.py. Two kernels do the rest on these numbers:

1. `flatten` finds, for every new phrase, its children after the flattening of NPs, SBARs and VPs, the phrase whose
   label it then has (of a chain of VPs, the lowest), and whether it is a sentence with a gap.
2. `emit` writes the nodes of each tree in pre-order, with the marks of their parents and without unary chains.

A label consists of a category, a head, a gap and a parent. Nodes carry it as one integer, and each distinct integer is
looked up once among the symbols of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from rerank_plugins import BoolArray, IntArray, LongArray, SharedTrees
from rerank_plugins.kit.kernels import filling_kernel, part
from rerank_plugins.kit.trees.head_rules import CONJUNCTIONS
from rerank_plugins.treelet.form_numbers import FormNumbers
from rerank_plugins.treelet.subtree_numbers import CATEGORY, LABEL, WIDTH, WORD, Numbering, grown

REMEMBERED = 50_000  # distinct subtrees, about 300 bytes each
ROOT_NUMBER, NP, VP, S, SBAR = range(5)  # the first categories by number


class TransformedTrees(NamedTuple):
    """N nodes of T transformed trees: (N) `symbol` and `parent`, (T + 1) `offsets`; (N) `word`, -1 at phrases.

    `words` are the words by number; from one call to the next, words are only added to the list, or it is another list.
    """

    symbol: IntArray
    parent: IntArray
    word: IntArray
    offsets: LongArray
    words: list[str]

    def sentences(self) -> list[tuple[str, ...]]:
        """The words of each tree."""
        inside = np.flatnonzero(self.word >= 0)
        words = [self.words[number] for number in self.word[inside].tolist()]
        cuts = np.searchsorted(inside, self.offsets).tolist()
        return [tuple(words[start:end]) for start, end in pairwise(cuts)]


class ArrayTransformations:
    """Transforms trees for a model, with the heads of English.

    `phrases` and `tags` give the numbers of labels (`Symbols.lookups`), `numbers` marks of tags.
    """

    def __init__(
        self, phrases: Callable[[str], int], tags: Callable[[str], int], numbers: FormNumbers | None = None
    ) -> None:
        self._phrases, self._tags, self._numbers = phrases, tags, numbers
        self._start()

    def _start(self) -> None:
        """Forget all subtrees."""
        self._numbering = Numbering(self._numbers)
        self._symbol: dict[int, int] = {}  # symbols by the integer of a node's label
        self._done = 0  # subtrees that have been flattened
        self._flat = _Flat(
            np.empty(0, np.int32), np.empty(0, np.bool_), np.empty((0, 6), np.int32), np.empty(0, np.int32)
        )

    def __call__(self, parses: Sequence[SharedTrees]) -> TransformedTrees:
        """The transformed trees of all parses, in order."""
        if len(self._numbering) > REMEMBERED:
            self._start()
        roots = self._numbering.roots(parses)
        self._flatten()
        facts, flat = self._numbering.facts, self._flat
        offsets = np.zeros(len(roots) + 1, np.int64)
        room = int(facts[roots, WIDTH].sum()) * 2 + 2 * len(roots)
        key, (parent, word) = np.empty(room, np.int64), np.empty((2, room), np.int32)
        total = emit(roots, facts, flat, offsets, key, parent, word, np.empty((room + 1, 3), np.int64))
        return TransformedTrees(
            self._symbols(key[:total]), parent[:total], word[:total], offsets, self._numbering.words
        )

    def _flatten(self) -> None:
        """Flatten the subtrees that are new."""
        numbering, flat, done = self._numbering, self._flat, self._done
        size = self._done = len(numbering)
        need = (flat.bounds[done - 1, 5] if done else 0) + 3 * numbering.facts[done:size, WIDTH].sum()
        label, gap, bounds = (grown(part, size) for part in flat[:3])
        label[done:size] = numbering.facts[done:size, LABEL]
        gap[done:size] = False
        self._flat = _Flat(label, gap, bounds, grown(flat.pool, int(need)))
        conjunction = np.array([name in CONJUNCTIONS for name in numbering.names])
        children = numbering.children
        flatten(done, size, children.starts, children.entries, conjunction, numbering.facts, self._flat)

    def _symbols(self, key: LongArray) -> IntArray:
        """(N) the symbols of nodes by the integers of their labels."""
        distinct, inverse = np.unique(key, return_inverse=True)
        symbols = self._symbol
        new = [each for each in distinct.tolist() if each not in symbols]
        labels, names = self._numbering.labels, self._numbering.names
        for each in new:
            rest, is_tag = divmod(each, 2)
            rest, gap = divmod(rest, 2)
            number, above = divmod(rest, ABOVE)
            label = labels[number] + ("-GAP" if gap else "") + (f"^{names[above - 1]}" if above else "")
            symbols[each] = self._tags(label) if is_tag else self._phrases(label)
        return np.array([symbols[each] for each in distinct.tolist()], np.int32)[inverse]


ABOVE = 4096  # more than there are categories


class _Flat(NamedTuple):
    """X subtrees after flattening: (X) `label` (of a chain of VPs, that of the lowest) and `gap`.

    `bounds` (X, 6) are those of the children of each in `pool`: starts and ends after the flattening of NPs, of
    SBARs too, and of VPs too.
    """

    label: IntArray
    gap: BoolArray
    bounds: IntArray
    pool: IntArray


@part
def only_child(source: IntArray, first: int, last: int, kind: int, facts: IntArray, conjunction: BoolArray) -> int:
    """The index in `source` of the one child of a category `kind`; -1 where there are more, none, or a conjunction."""
    place = -1
    for i in range(first, last):
        if conjunction[facts[source[i], CATEGORY]] or (facts[source[i], CATEGORY] == kind and place >= 0):
            return -1
        if facts[source[i], CATEGORY] == kind:
            place = i
    return place


@part
def spliced(
    source: IntArray, first: int, last: int, only: int, kind: int, facts: IntArray, bounds: IntArray, column: int,
    pool: IntArray, place: int,
) -> int:  # fmt: skip
    """Write children to the pool from index `place` on; return the index after them.

    The child at index `only`, and those of the category `kind`, give way to their own children, whose bounds are in
    the columns `column` and `column` + 1.
    """
    for i in range(first, last):
        child = source[i]
        if i == only or facts[child, CATEGORY] == kind:
            for c in range(bounds[child, column], bounds[child, column + 1]):
                pool[place] = pool[c]
                place += 1
        else:
            pool[place] = child
            place += 1
    return place


@filling_kernel
def flatten(
    done: int, size: int, starts: LongArray, children: IntArray, conjunction: BoolArray, facts: IntArray, flat: _Flat
) -> None:
    """Fill in the subtrees from number `done` on: children have lower numbers than their parents."""
    label, gap, bounds, pool = flat
    place: Any = np.int64(bounds[done - 1, 5]) if done else 0
    for x in range(done, size):
        category = facts[x, CATEGORY]
        for column in range(bounds.shape[1]):
            bounds[x, column] = place
        if facts[x, WORD] >= 0:
            continue
        # NP flattening: an NP that is the only NP among the children of an NP gives way to its children.
        first, last, only = starts[x] + 1, starts[x + 1], -1
        if category == NP:
            only = only_child(children, first, last, NP, facts, conjunction)
        first, place = place, spliced(children, first, last, only, -1, facts, bounds, 0, pool, place)
        last = bounds[x, 1] = place
        # SBAR flattening: every S under an SBAR gives way to its children.
        if category == SBAR:
            first, place = place, spliced(pool, first, last, -1, S, facts, bounds, 2, pool, place)
            last = place
        bounds[x, 2], bounds[x, 3] = first, last
        # VP flattening: a VP with one VP among its children takes over that VP's label and children.
        if category == VP:
            only = only_child(pool, first, last, VP, facts, conjunction)
            if only >= 0:
                label[x] = label[pool[only]]
                first, place = place, spliced(pool, first, last, only, -1, facts, bounds, 4, pool, place)
                last = place
        bounds[x, 4], bounds[x, 5] = first, last
        # Gapped sentences: the first NP or VP among the children is a VP.
        if S <= category <= SBAR:
            for i in range(first, last):
                kind = facts[pool[i], CATEGORY]
                if NP <= kind <= VP:
                    gap[x] = kind == VP
                    break


@filling_kernel
def emit(
    roots: IntArray,
    facts: IntArray,
    flat: _Flat,
    offsets: LongArray,
    key: LongArray,
    parent: IntArray,
    words: IntArray,
    stack: LongArray,
) -> int:
    """Write the nodes of each tree in pre-order, under ROOT; return their number. `stack` has three columns."""
    label, gap, bounds, pool = flat
    count = 0
    for tree in range(len(roots)):
        stack[0, 0], stack[0, 1], stack[0, 2] = roots[tree], 0, -1
        depth = 1
        while depth:
            depth -= 1
            x, above, upper = stack[depth, 0], stack[depth, 1], stack[depth, 2]
            # A phrase marks its children with its category if it is ROOT, and every VP among them.
            mark, first, last = facts[x, CATEGORY] + 1, bounds[x, 4], bounds[x, 5]
            # A phrase with one child, the root apart, is left out; the child's mark records it all the same.
            while facts[x, WORD] < 0 and last - first == 1 and (label[x] != 0 or above != 0):
                x = pool[first]
                above = mark if mark == 1 + ROOT_NUMBER or facts[x, CATEGORY] == VP else 0
                mark, first, last = facts[x, CATEGORY] + 1, bounds[x, 4], bounds[x, 5]
            word = facts[x, WORD]
            is_tag = word >= 0
            if upper < 0 and (is_tag or above or label[x] != 0):
                key[count], parent[count], words[count] = 0, -1, -1
                upper = count
                count += 1
            key[count] = ((label[x] * ABOVE + above) * 2 + gap[x]) * 2 + is_tag
            parent[count], words[count] = upper, word
            if not is_tag:
                for i in range(last - 1, first - 1, -1):
                    child = pool[i]
                    stack[depth, 0], stack[depth, 2] = child, count
                    stack[depth, 1] = mark if mark == 1 + ROOT_NUMBER or facts[child, CATEGORY] == VP else 0
                    depth += 1
            count += 1
        offsets[tree + 1] = count
    return count
