"""The factors of HEADLEX, as events for the back-off core: farthest context symbol first, predicted symbol last.

A phrase P with head word w and its tag t is generated head first, then its modifiers outwards on both sides until STOP.
A modifier consists of its symbol C, its head tag and its head word. It is conditioned on P, w, t, the head child H and
the previous modifier C' with head word w' (Pauls and Klein 2012, footnote 6). Back-off drops the previous modifier
first, which leaves Model 1 (Collins 1999).

    head    w, t, P, H
    symbol  (C', w'), w, t, P, (side, H), C
    tag     (C', w'), w, P, (side, H), C, t_C           of phrases; a tag is its own head tag
    word    (C', w'), w, (P, side, H), C, t_C, w_C

The children of ROOT are right modifiers without a head: H and t are EDGE, w is `<s>`. Pairs are numbered as one symbol.
Collins' distance, subcategorisation (Model 2) and coordination are not implemented.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from rerank_plugins import BoolArray, IntArray, LongArray
from rerank_plugins.kit.kernels import filling_kernel, kernel
from rerank_plugins.kit.trees.head_rules import HeadRules, english_heads
from rerank_plugins.treelet.rule_numbers import rules_of
from rerank_plugins.treelet.tree_arrays import EDGE, Symbols, TreeArrays, siblings


@dataclass
class HeadFinder:
    """Finds the head children of rules; each distinct rule is looked up once."""

    symbols: Symbols
    rules: HeadRules = field(default_factory=english_heads)
    _known: dict[bytes, int] = field(default_factory=dict)

    def find(self, starts: LongArray, symbols: IntArray) -> IntArray:
        """(n) the index (from 0) of the head child of each rule; -1 for a rule without children."""
        label: Callable[[int], str] = self.symbols.label
        known, heads = self._known, []
        text, width = symbols.tobytes(), symbols.itemsize
        ends = (starts * width).tolist()
        for start, end in pairwise(ends):
            key = text[start:end]
            head = known.get(key)
            if head is None:
                parent, *children = map(label, np.frombuffer(key, symbols.dtype).tolist())
                head = known[key] = self.rules.head(parent, children) if children else -1
            heads.append(head)
        return np.array(heads, np.int32)


class Heads(NamedTuple):
    """(N) `child`: the node of the head child, -1 for tags; `word`: the node of the head word's tag."""

    child: IntArray
    word: IntArray


def find_heads(forest: TreeArrays, finder: HeadFinder) -> Heads:
    """The heads of all nodes; a phrase without words is the node of its own head word."""
    phrases, starts, symbols = rules_of(forest)
    first, following = siblings(forest.parent)
    child = np.full(len(forest.symbol), -1, np.int32)
    word = np.arange(len(forest.symbol), dtype=np.int32)
    follow_heads(phrases, finder.find(starts, symbols), first, following, child, word)
    return Heads(child, word)


@filling_kernel
def follow_heads(
    phrases: LongArray, chosen: IntArray, first: IntArray, following: IntArray, child: IntArray, word: IntArray,
) -> None:  # fmt: skip
    """Fill in head children and nodes of head words, from the last phrase to the first, so that children come first."""
    for k in range(len(phrases) - 1, -1, -1):
        node = phrases[k]
        if chosen[k] < 0:
            continue
        head = first[node]
        for _ in range(chosen[k]):
            head = following[head]
        child[node] = head
        word[node] = word[head]


KINDS = ("head", "symbol", "tag", "word")
START_WORD = 0  # the number of <s>


class Factors(NamedTuple):
    """For each kind, (n) the tree that each event belongs to, and (n, order) the events."""

    trees: dict[str, LongArray]
    events: dict[str, IntArray]


def sizes(symbols: int, words: int) -> dict[str, tuple[int, ...]]:
    """The number of values of each column, the predicted one first, for this many symbols and words."""
    sided, before = 2 * symbols, symbols * words
    return {
        "head": (symbols, symbols, symbols, words),
        "symbol": (symbols, sided, symbols, symbols, words, before),
        "tag": (symbols, symbols, sided, symbols, words, before),
        "word": (words, symbols, symbols, symbols * sided, words, before),
    }


def factors(forest: TreeArrays, heads: Heads, root: int, symbols: int, words: int) -> Factors:
    """All events of the forest; `root` is the number of ROOT, `symbols` and `words` are counts."""
    nodes = len(forest.symbol)
    widths = {kind: len(size) for kind, size in sizes(symbols, words).items()}
    most = {"head": nodes, "symbol": 3 * nodes, "tag": nodes, "word": nodes}
    rows = {kind: np.empty((most[kind], width), np.int32) for kind, width in widths.items()}
    owners = {kind: np.empty(most[kind], np.int64) for kind in KINDS}
    first, following = siblings(forest.parent)
    phrases = PhraseTrees(forest.symbol, np.maximum(forest.word, 0), forest.word >= 0, forest.tree, first, following)
    used = write_events(phrases, heads, root, symbols, words, *(EventRows(rows[kind], owners[kind]) for kind in KINDS))
    ends = dict(zip(KINDS, used.tolist(), strict=True))
    return Factors(
        {kind: owners[kind][: ends[kind]] for kind in KINDS}, {kind: rows[kind][: ends[kind]] for kind in KINDS}
    )


class PhraseTrees(NamedTuple):
    """(N) of each node: its symbol and word, whether it is a tag, its tree, its first child and its next sibling."""

    symbol: IntArray
    word: IntArray
    is_tag: BoolArray
    tree: LongArray
    first: IntArray
    following: IntArray


class EventRows(NamedTuple):
    """Room for n events of a kind, (n, order), and (n) for the tree of each."""

    rows: IntArray
    trees: LongArray


@kernel
def write_events(
    phrases: PhraseTrees, heads: Heads, root: int, symbols: int, words: int, of_heads: EventRows,
    of_symbols: EventRows, of_tags: EventRows, of_words: EventRows,
) -> LongArray:  # fmt: skip
    """Write the events of every phrase; return (4) the number of events of each kind.

    It is long because the events of four kinds are written in one walk.
    """
    symbol, word, is_tag, tree = phrases.symbol, phrases.word, phrases.is_tag, phrases.tree
    used = np.zeros(4, np.int64)
    children = np.empty(len(symbol), np.int64)
    for node in range(len(symbol)):
        if is_tag[node]:
            continue
        # The children of the phrase, from left to right.
        count = 0
        child = phrases.first[node]
        while child >= 0:
            children[count] = child
            count += 1
            child = phrases.following[child]
        # The phrase, its head word and head tag; the children of ROOT have no head.
        p = symbol[node]
        top = p == root
        w = START_WORD if top else word[heads.word[node]]
        t = EDGE if top else symbol[heads.word[node]]
        # The head child, predicted from w, t and P.
        at = -1  # its index among the children
        h = EDGE
        if not top:
            for i in range(count):
                if children[i] == heads.child[node]:
                    at = i
            h = symbol[heads.child[node]] if at >= 0 else EDGE
            row = of_heads.rows[used[0]]
            row[0], row[1], row[2], row[3] = w, t, p, h
            of_heads.trees[used[0]] = tree[node]
            used[0] += 1
        # Modifiers to the left of the head (side 0), then to its right (side 1), from the head outwards.
        for side in range(1 if top else 0, 2):
            sided = side * symbols + h
            before = EDGE * words + START_WORD
            i = at
            while True:
                i += 1 if side == 1 else -1
                # The symbol of the modifier, or STOP (EDGE) after the last.
                done = i < 0 or i >= count
                c = EDGE if done else symbol[children[i]]
                row = of_symbols.rows[used[1]]
                row[0], row[1], row[2], row[3], row[4], row[5] = before, w, t, p, sided, c
                of_symbols.trees[used[1]] = tree[node]
                used[1] += 1
                if done:
                    break
                # Its head tag, unless it is a tag, and its head word.
                other = heads.word[children[i]]
                if not is_tag[children[i]]:
                    row = of_tags.rows[used[2]]
                    row[0], row[1], row[2], row[3], row[4], row[5] = before, w, p, sided, c, symbol[other]
                    of_tags.trees[used[2]] = tree[node]
                    used[2] += 1
                row = of_words.rows[used[3]]
                row[0], row[1], row[2] = before, w, p * 2 * symbols + sided
                row[3], row[4], row[5] = c, symbol[other], word[other]
                of_words.trees[used[3]] = tree[node]
                used[3] += 1
                before = c * words + word[other]
    return used
