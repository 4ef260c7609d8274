"""Events of the treelet model, as rows for the back-off core: farthest context symbol first, predicted symbol last.

Pauls and Klein (2012), section 2 (their figure 1 b and c):

    rules    r', P', P, r        r = P → C_1 … C_d: the yield C_1 … C_d, given P, its parent P' and the rule r' above
    words    w_-2, w_-1, r', R, P, w        w at the tag P, given its right sibling R, the rule r' above, words before
    symbols  C_i-3, C_i-2, C_i-1, P, C_i        each child, and STOP after the last, given the children before it

A yield is predicted as the rule that it forms with P, so yields of different phrases are different symbols, and r and
r' are numbered alike. Back-off drops the farthest symbol of a context first. ROOT has no P' and r'; EDGE stands for R
of a last child, for C_0 and for STOP; `<s>` is before the first word, and NONE before that. A shorter context is the
right end of a row.

The lowest order of the yields are two 4-gram models of symbols, which give any sequence of children a probability
(section 2.2):

    b(C_1 … C_d | P) = λ Π_i p(C_i | C_i-3 C_i-2 C_i-1, P) + (1 - λ) Π_i p(C_i | C_i-3 C_i-2 C_i-1)        λ = 0.9

They are counted over rule types, each distinct rule once, as Kneser–Ney's lower orders count contexts, because they are
used for unseen rules (on GUM, perplexity was 4 % lower than with counts over tokens, which the paper may use). Both
products include STOP after C_d, without which they would not sum to one over yields of all lengths; the empty yield has
a probability too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from rerank_plugins import FloatArray, IntArray, LongArray
from rerank_plugins.kit.backoff.estimation import estimate
from rerank_plugins.kit.backoff.events import NONE, TupleEvents
from rerank_plugins.kit.backoff.scoring import score_events
from rerank_plugins.kit.backoff.tables import BackoffTables, Tables
from rerank_plugins.kit.files.model_schema import Setting
from rerank_plugins.treelet.tree_arrays import EDGE, TreeArrays

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
    after = np.append(forest.parent, -1)[tags + 1]  # what follows a tag is its sibling or has another parent
    right = np.where(after == forest.parent[tags], forest.symbol[np.minimum(tags + 1, len(forest.symbol) - 1)], EDGE)
    words = forest.word[tags]
    tree = np.searchsorted(forest.offsets, tags, side="right")
    position = np.arange(len(tags)) - np.searchsorted(tree, tree)  # in the sentence
    events = np.empty((len(tags), WORD_ORDER), np.int32)
    before = np.concatenate([[START_WORD] * 2, words])
    events[:, 0] = np.where(position >= 2, before[: len(words)], np.where(position == 1, START_WORD, NONE))
    events[:, 1] = np.where(position >= 1, before[1 : len(words) + 1], START_WORD)
    events[:, 2] = rule[forest.parent[tags]]
    events[:, 3] = right
    events[:, 4] = forest.symbol[tags]
    events[:, 5] = words
    return tags, events


def symbol_events(starts: LongArray, symbols: IntArray) -> tuple[LongArray, IntArray]:
    """(m) the rule of each event, and (m, 5) the events of the children of rules, with STOP after the last."""
    rule = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    start, child = starts[rule], np.arange(1, len(rule) + 1)  # an event for each child, and one for STOP
    events = np.full((len(rule), SYMBOL_ORDER), EDGE, np.int32)
    inside = np.flatnonzero(child < starts[rule + 1])
    events[inside, 4] = symbols[child[inside]]
    events[:, 3] = symbols[start]
    for back in range(1, SYMBOL_ORDER - 1):
        before = child - back
        inside = np.flatnonzero(before > start)
        events[inside, 3 - back] = symbols[before[inside]]
        events[before < start, 3 - back] = NONE
    return rule, events


WEIGHT = 0.9  # λ
WITHOUT_PARENT = [0, 1, 2, 4]  # columns of an event without its parent


@dataclass(frozen=True, eq=False)
class YieldModel:
    """Two 4-gram models of symbols: given the previous symbols and the parent, and without the parent."""

    given_parent: Annotated[BackoffTables, Tables("S", "given_parent.")]
    alone: Annotated[BackoffTables, Tables("S", "alone.")]
    weight: Annotated[float, Setting()] = WEIGHT

    def score(self, starts: LongArray, symbols: IntArray) -> FloatArray:
        """(n) ln b(C_1 … C_d | P) of n rules, laid out as in `Rules`; 0 for a rule without symbols."""
        rule, events = symbol_events(starts, symbols)
        rules = len(starts) - 1
        given = np.bincount(rule, score_events(self.given_parent, events)[0], rules)
        alone = np.bincount(rule, score_events(self.alone, events[:, WITHOUT_PARENT])[0], rules)
        mixed = np.logaddexp(np.log(self.weight) + given, np.log1p(-self.weight) + alone)
        return np.where(np.diff(starts) > 0, mixed, 0.0)


def train_yields(
    rules: tuple[LongArray, IntArray],
    size: int,
    prune: Sequence[int] = (),
    *,
    jobs: int,
) -> YieldModel:
    """Train both models, with modified Kneser–Ney, on distinct rules, as (starts, symbols); `size` is in symbols.

    `prune` is by order the count up to which n-grams are left out; the model with the parent has one order more.
    """
    with_parent = TupleEvents((size,) * SYMBOL_ORDER)
    without = TupleEvents((size,) * (SYMBOL_ORDER - 1))
    _, events = symbol_events(*rules)
    with_parent.add(events)
    without.add(events[:, WITHOUT_PARENT])
    given_parent, alone = (estimate(events, prune=prune, jobs=jobs).tables for events in (with_parent, without))
    return YieldModel(given_parent, alone)
