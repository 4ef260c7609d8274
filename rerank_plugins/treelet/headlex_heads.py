"""Finds the head of every node of a forest by head rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from rerank_plugins.core.arrays import IntArray, LongArray
from rerank_plugins.kit.kernels import filling_kernel
from rerank_plugins.kit.trees.head_rules import HeadRules, english_heads
from rerank_plugins.treelet.rule_numbers import rules_of
from rerank_plugins.treelet.tree_arrays import Symbols, TreeArrays, siblings


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


@dataclass(frozen=True, eq=False)
class Heads:
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
def follow_heads(phrases: Any, chosen: Any, first: Any, following: Any, child: Any, word: Any) -> None:
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
