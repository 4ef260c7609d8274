"""The lowest order of the yields: two 4-gram models of symbols, which give any sequence of children a probability.

Pauls and Klein (2012), section 2.2:

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

from rerank_plugins.core.arrays import FloatArray, IntArray, LongArray
from rerank_plugins.kit.backoff.estimation import estimate
from rerank_plugins.kit.backoff.event_sources import TupleEvents
from rerank_plugins.kit.backoff.scoring import score_events
from rerank_plugins.kit.backoff.table_arrays import Tables
from rerank_plugins.kit.backoff.tables import BackoffTables
from rerank_plugins.kit.files.declared import Setting
from rerank_plugins.kit.workspace import Workspace
from rerank_plugins.treelet.events import SYMBOL_ORDER, symbol_events

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
    workspace: Workspace | None = None,
) -> YieldModel:
    """Train both models, with modified Kneser–Ney, on distinct rules, as (starts, symbols); `size` is in symbols.

    `prune` is by order the count up to which n-grams are left out; the model with the parent has one order more.
    """
    with_parent = TupleEvents((size,) * SYMBOL_ORDER, workspace)
    without = TupleEvents((size,) * (SYMBOL_ORDER - 1), workspace)
    _, events = symbol_events(*rules)
    with_parent.add(events)
    without.add(events[:, WITHOUT_PARENT])
    given_parent, alone = (
        estimate(events, prune=prune, workspace=workspace, jobs=jobs).tables for events in (with_parent, without)
    )
    return YieldModel(given_parent, alone)
