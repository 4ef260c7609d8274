"""The lowest order of the yields: any sequence of children, by two 4-gram models of symbols.

Pauls and Klein (2012), section 2.2:

    b(C_1 … C_d | P) = λ Π_i p(C_i | C_i-3 C_i-2 C_i-1, P) + (1 - λ) Π_i p(C_i | C_i-3 C_i-2 C_i-1)        λ = 0.9

They are counted over rule types: each distinct rule once, as Kneser–Ney's lower orders count contexts, for what they
are asked about is rules that were not seen (GUM: perplexity 4 % lower than over tokens, as the paper may have it).
Both products run on to STOP after C_d, without which they would not sum to one over yields of all lengths; the empty
yield has a share of that too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rerank_plugins.arrays import FloatArray, IntArray, LongArray
from rerank_plugins.models.backoff.estimation import estimate
from rerank_plugins.models.backoff.events import TupleEvents
from rerank_plugins.models.backoff.scoring import score_events
from rerank_plugins.models.backoff.tables import BackoffTables
from rerank_plugins.models.treelet.events import SYMBOL_ORDER, symbol_events

WEIGHT = 0.9  # λ
WITHOUT_PARENT = [0, 1, 2, 4]  # columns of an event


@dataclass(frozen=True, eq=False)
class YieldModel:
    """The two 4-gram models: of symbols given those before them and the parent, and without the parent."""

    given_parent: BackoffTables
    alone: BackoffTables
    weight: float = WEIGHT

    def score(self, starts: LongArray, symbols: IntArray) -> FloatArray:
        """(n) ln b(C_1 … C_d | P) of n rules, as `Rules` holds them; 0 for a rule without symbols."""
        rule, events = symbol_events(starts, symbols)
        rules = len(starts) - 1
        given = np.bincount(rule, score_events(self.given_parent, events)[0], rules)
        alone = np.bincount(rule, score_events(self.alone, events[:, WITHOUT_PARENT])[0], rules)
        mixed = np.logaddexp(np.log(self.weight) + given, np.log1p(-self.weight) + alone)
        return np.where(np.diff(starts) > 0, mixed, 0.0)


def train_yields(starts: LongArray, symbols: IntArray, size: int, jobs: int) -> YieldModel:
    """Both models from the rules of a corpus, modified Kneser–Ney; `size` is the number of symbols."""
    _, events = symbol_events(starts, symbols)
    with_parent, without = TupleEvents((size,) * SYMBOL_ORDER), TupleEvents((size,) * (SYMBOL_ORDER - 1))
    with_parent.add(events)
    without.add(events[:, WITHOUT_PARENT])
    given_parent, alone = (estimate(source, jobs=jobs).tables for source in (with_parent, without))
    return YieldModel(given_parent, alone)
