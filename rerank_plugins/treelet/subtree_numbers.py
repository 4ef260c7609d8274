"""Numbers distinct subtrees, with what the treelet model's transformations read of a node before flattening.

The transformations make of a node something that depends only on the node and on what is below it; its parent's mark
is all that comes from above. Each distinct subtree is therefore looked at once, in whichever trees it occurs: the trees
of a k-best list share most of their subtrees, and so do the hypotheses of an n-best list.

A tag with its word is looked at in Python (label_marks.py), and so is each distinct production, for its head. The
kernels number the tags and the productions, and then the phrases from the bottom up, with their heads. All of them are
sequences of integers, of which equal ones get the same number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rerank_plugins import ROOT, IntArray, LongArray, SharedTrees
from rerank_plugins.kit.kernels import filling_kernel, part
from rerank_plugins.kit.trees.head_rules import english_heads
from rerank_plugins.kit.trees.treebank_cleaning import category
from rerank_plugins.kit.vocabulary.word_hash import FNV_FACTOR, FNV_START
from rerank_plugins.treelet.form_numbers import FormNumbers
from rerank_plugins.treelet.label_marks import MARKED, PLAIN, TEMPORAL, head_word, number_class

CATEGORIES = (ROOT, "NP", "VP", "S", "SBAR")  # the first categories by number
COLUMNS = CATEGORY, LABEL, HEAD, WORD, WIDTH = range(5)  # of what is known of a subtree


@part
def hashed(key: IntArray, start: int, end: int) -> Any:
    """The FNV-1a hash of whole integers, not negative; the bits are mixed, because the integers are small."""
    code = np.uint64(FNV_START)
    for i in range(start, end):
        code = (code ^ np.uint64(key[i])) * np.uint64(FNV_FACTOR)
    code ^= code >> np.uint64(29)
    return np.int64((code * np.uint64(FNV_FACTOR)) >> np.uint64(33))


@filling_kernel
def intern(slots: IntArray, starts: LongArray, entries: IntArray, used: LongArray, key: IntArray, size: Any) -> Any:
    """The number of the sequence key[:size], which gets the next number if it is new."""
    mask = len(slots) - 1
    place = hashed(key, 0, size) & mask
    while slots[place] >= 0:
        row = np.int64(slots[place])
        start = starts[row]
        if starts[row + 1] - start == size:
            same = True
            for i in range(size):
                same = same and entries[start + i] == key[i]
            if same:
                return row
        place = (place + 1) & mask
    row = used[0]
    slots[place] = row
    starts[row + 1] = starts[row] + size
    for i in range(size):
        entries[starts[row] + i] = key[i]
    used[0] += 1
    return row


@filling_kernel
def fill_slots(slots: IntArray, starts: LongArray, entries: IntArray, used: int) -> None:
    """Enter the sequences that have numbers in an empty hash table."""
    mask = len(slots) - 1
    for row in range(used):
        place = hashed(entries, starts[row], starts[row + 1]) & mask
        while slots[place] >= 0:
            place = (place + 1) & mask
        slots[place] = row


def grown(array: Any, size: int) -> Any:
    """The array, or a copy of it with room for twice `size` rows if it has fewer than `size`."""
    if len(array) >= size:
        return array
    longer = np.empty((2 * size, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


class Interner:
    """Sequences by number: sequence r is entries[starts[r] : starts[r + 1]]."""

    def __init__(self) -> None:
        self.starts, self.entries = np.zeros(1, np.int64), np.empty(0, np.int32)
        self.used = np.zeros(1, np.int64)
        self._slots = np.full(16, -1, np.int32)

    def __len__(self) -> int:
        return int(self.used[0])

    def arrays(self, rows: int, entries: int) -> tuple[IntArray, LongArray, IntArray, LongArray]:
        """The first arguments of `intern`, with room for so many new sequences and integers in them."""
        size = len(self) + rows
        self.starts = grown(self.starts, size + 1)
        self.entries = grown(self.entries, int(self.starts[len(self)]) + entries)
        if len(self._slots) < 2 * size:
            self._slots = np.full(1 << int(4 * size).bit_length(), -1, np.int32)
            fill_slots(self._slots, self.starts, self.entries, len(self))
        return self._slots, self.starts, self.entries, self.used

    def sequence(self, number: int) -> list[int]:
        """The sequence of a number."""
        start, end = self.starts[number : number + 2]
        sequence: list[int] = self.entries[start:end].tolist()
        return sequence


@filling_kernel
def number_tags(
    label: IntArray, bounds: LongArray, children: IntArray, word: IntArray, number: IntArray, production: IntArray,
    subtrees: Any, productions: Any, key: IntArray,
) -> None:  # fmt: skip
    """Fill in the `number` of each tag among the nodes, and the `production` of each phrase, as numbers in the tables.

    A tag's sequence is its word and label, after a 0; a phrase's, 1 + its label and its children. `key` has room for
    one sequence.
    """
    size_of_tag = np.int64(3)  # typed as other sizes, so that `intern` is compiled once
    for n in range(len(label)):
        start, end = bounds[n, 0], bounds[n, 1]
        key[0] = 1 + label[n]
        if children[start] < 0:
            key[0], key[1], key[2] = 0, label[n], word[-1 - children[start]]
            number[n] = intern(subtrees[0], subtrees[1], subtrees[2], subtrees[3], key, size_of_tag)
            production[n] = -1
        else:
            for i in range(start, end):
                key[1 + i - start] = label[children[i]]
            production[n] = intern(productions[0], productions[1], productions[2], productions[3], key, 1 + end - start)


@filling_kernel
def number_phrases(
    label: IntArray, bounds: LongArray, children: IntArray, number: IntArray, production: IntArray,
    head_child: IntArray, category_of: IntArray, root: int, facts: IntArray, subtrees: Any, labels: Any, key: IntArray,
) -> None:  # fmt: skip
    """Fill in the `number` of each phrase among the nodes, and the `facts` of new ones.

    `head_child` is the head among the children of each production, `category_of` the category of each label; `root` is
    the label of roots, which have no heads. `key` has room for one sequence.

    Its arguments are the columns of trees and of tables that outlive them.
    """
    size_of_label = np.int64(2)
    for n in range(len(label)):
        if production[n] < 0:
            continue
        start, end = bounds[n, 0], bounds[n, 1]
        key[0] = 1 + label[n]
        for i in range(start, end):
            key[1 + i - start] = number[children[i]]
        known = subtrees[3][0]
        x = number[n] = intern(subtrees[0], subtrees[1], subtrees[2], subtrees[3], key, 1 + end - start)
        if x < known:
            continue
        head = facts[number[children[start + head_child[production[n]]]], HEAD]
        key[0], key[1] = label[n], head
        facts[x, CATEGORY], facts[x, HEAD], facts[x, WORD] = category_of[label[n]], head, -1
        facts[x, LABEL] = (
            intern(labels[0], labels[1], labels[2], labels[3], key, size_of_label) if label[n] != root else 0
        )
        width = 0
        for i in range(start, end):
            width += facts[number[children[i]], WIDTH]
        facts[x, WIDTH] = width


class Numbering:
    """Subtrees by number: `facts` (X, 5) are the category, label with head, head, word (-1 for phrases) and width.

    `children` has the children of each subtree, after one other number. `names` are the categories, `labels` the labels
    with heads, and `words` the words, by number.
    """

    def __init__(self, numbers: FormNumbers | None = None) -> None:
        self._rules = english_heads()
        self._numbers = numbers
        self.children = Interner()
        self.facts = np.empty((0, len(COLUMNS)), np.int32)
        self.names, self.labels, self.words = list(CATEGORIES), [ROOT], list[str]()
        self._names = {name: number for number, name in enumerate(self.names)}
        self._label_of = Interner()
        intern(*self._label_of.arrays(1, 2), np.zeros(2, np.int32), 2)
        self._word_numbers: dict[str, int] = {}
        self._head_names: list[str] = [""]
        self._heads: dict[str, int] = {"": 0}
        self._productions = Interner()
        self._head_child = np.empty(0, np.int32)
        self._plain = [ROOT]  # labels as they stand in the trees
        self._plain_numbers = {ROOT: 0}
        self._category_of = np.zeros(1, np.int32)
        self._label_arrays: dict[tuple[str, ...], IntArray] = {}

    def __len__(self) -> int:
        return len(self.children)

    def roots(self, parses: Sequence[SharedTrees]) -> IntArray:
        """The numbers of all trees, one parse after the other."""
        nodes = np.cumsum([0, *(len(parse.label) for parse in parses)])
        before = np.cumsum([0, *(len(parse.words) for parse in parses)])
        places = np.cumsum([0, *(len(parse.children) for parse in parses)])
        word = np.array([self._word(word) for parse in parses for word in parse.words], np.int32)
        label = _joined([self._plain_labels(parse.labels)[parse.label] for parse in parses])
        bounds = np.concatenate(
            [np.zeros((0, 2), np.int32), *(p.bounds + a for p, a in zip(parses, places, strict=False))]
        )
        children = _joined(
            [
                np.where(parse.children < 0, parse.children - first_word, parse.children + first_node)
                for parse, first_word, first_node in zip(parses, before, nodes, strict=False)
            ]
        )
        number, production = np.empty((2, len(label)), np.int32)
        room = (len(label), len(children) + 3 * len(label))
        subtrees, productions = self.children.arrays(*room), self._productions.arrays(*room)
        old, old_productions = len(self), len(self._productions)
        self.facts = grown(self.facts, old + len(label))
        key = np.empty(len(children) + 3, np.int32)
        number_tags(label, bounds, children, word, number, production, subtrees, productions, key)
        for tag in range(old, len(self)):
            self._add_tag(tag)
        new = [self._head(each) for each in range(old_productions, len(self._productions))]
        self._head_child = np.append(self._head_child, np.array(new, np.int32))
        labels = self._label_of.arrays(len(label), 2 * len(label))
        number_phrases(
            label, bounds, children, number, production, self._head_child, self._category_of, 0, self.facts, subtrees,
            labels, key,
        )  # fmt: skip
        for each in range(len(self.labels), len(self._label_of)):
            plain, head = self._label_of.sequence(each)
            self.labels.append(f"{self._plain[plain]}-{self._head_names[head]}")
        return number[_joined([parse.roots + first for parse, first in zip(parses, nodes, strict=False)])]

    def _word(self, word: str) -> int:
        number = self._word_numbers.get(word)
        if number is None:
            number = self._word_numbers[word] = len(self.words)
            self.words.append(word)
        return number

    def _plain_labels(self, labels: tuple[str, ...]) -> IntArray:
        """The numbers of labels as they stand in the trees."""
        numbers = self._label_arrays.get(labels)
        if numbers is None:
            for label in labels:
                if label not in self._plain_numbers:
                    self._plain_numbers[label] = len(self._plain)
                    self._plain.append(label)
                    self._category_of = np.append(self._category_of, np.int32(self._category(category(label))))
            numbers = self._label_arrays[labels] = np.array([self._plain_numbers[each] for each in labels], np.int32)
        return numbers

    def _category(self, name: str) -> int:
        if name not in self._names:
            self._names[name] = len(self.names)
            self.names.append(name)
        return self._names[name]

    def _head(self, production: int) -> int:
        """The child that is the head of a production."""
        label, *children = (self._plain[each] for each in self._labels_of(production))
        return self._rules.head(label, [PLAIN.get(child, child) for child in children])

    def _labels_of(self, production: int) -> list[int]:
        label, *children = self._productions.sequence(production)
        return [label - 1, *children]

    def _add_tag(self, number: int) -> None:
        """Fill in what is known of a tag."""
        _, plain, word = self.children.sequence(number)
        tag, text = self._plain[plain], self.words[word]
        if tag in MARKED and text.lower() in TEMPORAL:
            tag = MARKED[tag]
        closed = head_word(tag, text)
        if self._numbers is not None and not closed:
            tag = self._numbers.marked(tag, text)
        head, label = closed or tag, f"{tag}-{closed}" if closed else tag
        if label in ("CD", "NUM"):
            label = f"{label}-{number_class(text)}"
        if head not in self._heads:
            self._heads[head] = len(self._head_names)
            self._head_names.append(head)
        # The label of a tag has a number among those of phrases; a sequence of three keeps them apart.
        (spelling,) = self._plain_labels((label,)).tolist()
        row = intern(*self._label_of.arrays(1, 3), np.array([0, spelling, 0], np.int32), 3)
        if row == len(self.labels):
            self.labels.append(label)
        self.facts[number] = (self._category(category(tag)), row, self._heads[head], word, 1)


def _joined(parts: Sequence[Any]) -> IntArray:
    return np.concatenate([np.zeros(0, np.int32), *parts]).astype(np.int32)
