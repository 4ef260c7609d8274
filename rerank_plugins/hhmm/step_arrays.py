"""The scratch arrays of a step of the search, which every step uses again."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rerank_plugins.hhmm.recombination import PART, STACK, STORE, Table

ROWS = 1 << 12  # stores of a table at first


class Workspace(NamedTuple):
    """Tables of the parts of a step (transitions.py), all of the same size, and the contributions of one store.

    In `last_use` (rules), transitions.py notes which rules were counted; `order`, `spare` and `values` (rows) serve the
    sorting of stores. `clock` (1) is the base of the slots in the next step (recombination.py).
    """

    stacks: Table
    promoted: Table
    awaiting: Table
    emitted: Table
    parts: Any
    last_use: Any
    order: Any
    spare: Any
    values: Any
    clock: Any


def new_workspace(most: int, rules: int, rows: int = ROWS) -> Workspace:
    """Return empty tables of `rows` stores, a power of two, for stores of up to `most` contributions each."""
    stacks, promoted, awaiting, emitted = (
        Table(np.zeros(2 * rows, np.int64), np.empty(rows, kind)) for kind in (STACK, STORE, STORE, STORE)
    )
    order, spare = np.empty((2, rows), np.int64)
    last_use = np.full(rules, -1, np.int64)
    parts, values, clock = np.empty(most, PART), np.empty(rows), np.ones(1, np.int64)
    return Workspace(stacks, promoted, awaiting, emitted, parts, last_use, order, spare, values, clock)
