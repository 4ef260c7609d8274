"""Events of the treelet model, as rows for the back-off core: farthest context symbol first, predicted symbol last.

Pauls and Klein (2012), section 2 (their figure 1 b and c):

    rules    r', P', P, r        r = P → C_1 … C_d: the yield C_1 … C_d, given P, its parent P' and the rule r' above
    words    w_-2, w_-1, r', R, P, w        w at the tag P, given its right sibling R, the rule r' above, words before
    symbols  C_i-3, C_i-2, C_i-1, P, C_i        each child, and STOP after the last, given the children before it

A yield is predicted as the rule that it forms with P, so yields of different phrases are different symbols, and r and
r' are numbered alike. Back-off drops the farthest symbol of a context first. ROOT has no P' and r'; EDGE stands for R
of a last child, for C_0 and for STOP; `<s>` is before the first word, and NONE before that. A shorter context is the
right end of a row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rerank_plugins.core.arrays import IntArray, LongArray
from rerank_plugins.kit.backoff.events import NONE
from rerank_plugins.kit.kernels import filling_kernel
from rerank_plugins.treelet.tree_arrays import EDGE, TreeArrays, siblings

RULE_ORDER, WORD_ORDER, SYMBOL_ORDER = 4, 6, 5
START_WORD = 0  # the number of <s>


def rule_events(forest: TreeArrays, phrases: LongArray, rules: IntArray) -> IntArray:
    """(n, 4) the events of the n `phrases` of the forest, which have these `rules`."""
    rule = np.full(len(forest.symbol), NONE, np.int32)
    rule[phrases] = rules
    above = forest.parent[phrases]
    below_root = above >= 0
    events = np.empty((len(phrases), RULE_ORDER), np.int32)
    events[:, 0] = np.where(below_root, rule[above], NONE)
    events[:, 1] = np.where(below_root, forest.symbol[above], NONE)
    events[:, 2] = forest.symbol[phrases]
    events[:, 3] = rules
    return events


def word_events(forest: TreeArrays, phrases: LongArray, rules: IntArray) -> tuple[LongArray, IntArray]:
    """(m) the nodes of the tags of the forest, and (m, 6) the events of their words, in order."""
    rule = np.full(len(forest.symbol), NONE, np.int32)
    rule[phrases] = rules
    tags = np.flatnonzero(forest.word >= 0)
    _, following = siblings(forest.parent)
    right = following[tags]
    words = forest.word[tags]
    tree = np.searchsorted(forest.offsets, tags, side="right")
    position = np.arange(len(tags)) - np.searchsorted(tree, tree)  # in the sentence
    events = np.empty((len(tags), WORD_ORDER), np.int32)
    before = np.concatenate([[START_WORD] * 2, words])
    events[:, 0] = np.where(position >= 2, before[: len(words)], np.where(position == 1, START_WORD, NONE))
    events[:, 1] = np.where(position >= 1, before[1 : len(words) + 1], START_WORD)
    events[:, 2] = rule[forest.parent[tags]]
    events[:, 3] = np.where(right >= 0, forest.symbol[right], EDGE)
    events[:, 4] = forest.symbol[tags]
    events[:, 5] = words
    return tags, events


def symbol_events(starts: LongArray, symbols: IntArray) -> tuple[LongArray, IntArray]:
    """(m) the rule of each event, and (m, 5) the events of the children of rules, with STOP after the last."""
    lengths = np.diff(starts)  # an event for each child, and one for STOP
    events = np.full((int(lengths.sum()), SYMBOL_ORDER), NONE, np.int32)
    fill_symbol_events(starts, symbols, events)
    return np.repeat(np.arange(len(lengths)), lengths), events


@filling_kernel
def fill_symbol_events(starts: Any, symbols: Any, events: Any) -> None:
    """Write the events; columns before EDGE keep their value, NONE."""
    row = 0
    for rule in range(len(starts) - 1):
        start, end = starts[rule], starts[rule + 1]
        for i in range(start + 1, end + 1 if end > start else end):
            events[row, 4] = symbols[i] if i < end else EDGE
            events[row, 3] = symbols[start]
            for back in range(1, 4):
                if i - back > start:
                    events[row, 3 - back] = symbols[i - back]
                else:
                    events[row, 3 - back] = EDGE
                    break
            row += 1
