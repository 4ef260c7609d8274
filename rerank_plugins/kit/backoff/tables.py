"""A finished back-off model as two arrays of records, and as arrays of a model file.

Contexts are numbered level by level (0 is the empty context), each level in suffix order, so that the contexts that
extend a context by one symbol stand together. The events of a context stand together too, sorted by symbol; the empty
context has an event for every symbol, at its number. Values are log10 in 32 bits, as in ARPA files and KenLM, so that
imported values are exported digit for digit; scores that leave this package are natural logs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.arrays import FloatArray, IntArray, LongArray, is_offset_array
from rerank_plugins.core.errors import ModelError
from rerank_plugins.kit.files.array_values import ContentsError, check_range, check_rising, check_values
from rerank_plugins.kit.files.model_file import Arrays
from rerank_plugins.kit.files.model_schema import Contents, Stored

CONTEXT = np.dtype([("backoff", "<f4"), ("parent", "<i4"), ("events", "<i4"), ("symbol", "<i4")])
EVENT = np.dtype([("symbol", "<i4"), ("log10", "<f4"), ("next", "<i4")])
LOG_ZERO = -99.0  # log10 of 0 in ARPA files
STEPS = 64  # of log10 by which the values of compact models are rounded: a probability changes by at most 1.8 %
ARRAYS = ("contexts", "events", "context_levels", "event_levels", "children")  # of tables in a model file
RecordArray = NDArray[Any]


@dataclass(frozen=True)
class BackoffTables:
    """The arrays of a model of order n.

    `contexts` (C + 1) of CONTEXT: log10 of the back-off weight; the context without its farthest symbol, and that
    symbol; the first of its events. The last record only marks the end of the events of the last context.
    `events` (E) of EVENT: the predicted symbol; log10 p; in models of text the longest known context after it.
    `context_levels`, `event_levels` (n + 1): where the contexts of 0, 1, … symbols and their events start.
    `children` (C + 1): the first extension of each context by a symbol; empty in models of text, which follow `next`.
    `unseen`: log10 of the weight of each symbol by which the whole context is longer than the longest known one.
    """

    contexts: RecordArray
    events: RecordArray
    context_levels: LongArray
    event_levels: LongArray
    children: IntArray = field(default_factory=lambda: np.zeros(0, np.int32))
    unseen: float = 0.0

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""
        return len(self.event_levels) - 1

    @property
    def sizes(self) -> list[int]:
        """The number of n-grams of each order."""
        return [int(n) for n in np.diff(self.event_levels)]

    @cached_property
    def search(self) -> tuple[IntArray, IntArray, IntArray]:
        """Copies in which symbols are found fast, for models of tuples.

        The context of each nearest symbol, -1 if the model has none; the symbols of all contexts; those of all events.
        """
        symbols = np.ascontiguousarray(self.contexts["symbol"])
        first, end = self.context_levels[1:3].tolist() if self.order > 1 else (1, 1)
        nearest = np.full(int(symbols[first:end].max(initial=-1)) + 1, -1, np.int32)
        nearest[symbols[first:end]] = np.arange(first, end)
        return nearest, symbols, np.ascontiguousarray(self.events["symbol"])

    @cached_property
    def weights(self) -> FloatArray:
        """(contexts) log10 of the product of the back-off weights from each context down to the empty one."""
        weights = np.zeros(len(self.contexts) - 1)
        for level in range(1, self.order):
            span = slice(*self.context_levels[level : level + 2].tolist())
            weights[span] = self.contexts["backoff"][span] + weights[self.contexts["parent"][span]]
        return weights

    def check(self, where: str, prefix: str = "") -> None:
        """Raise ModelError if the arrays do not fit together, or if a value is out of the range of its array.

        `prefix` is that of the arrays' names in the file `where`.
        """
        contexts, events = len(self.contexts) - 1, len(self.events)
        if self.contexts.dtype != CONTEXT or self.events.dtype != EVENT:
            raise ModelError(f"{where}: damaged model: its records are of another type")
        levels = (self.context_levels, contexts), (self.event_levels, events)
        fits = all(len(starts) == self.order + 1 and starts[0] == 0 and starts[-1] == end for starts, end in levels)
        fits = fits and all(bool((np.diff(starts) >= 0).all()) for starts, _ in levels)
        fits = fits and contexts >= 1 and int(self.context_levels[1]) == 1
        fits = fits and bool((self.contexts["events"][self.context_levels] == self.event_levels).all())
        if not fits or len(self.children) not in (0, contexts + 1):
            raise ModelError(f"{where}: damaged model: its arrays {prefix}contexts and others do not fit together")
        try:
            self._check_links(prefix)
            check_values(f"log10 of {prefix}events", self.events["log10"], "finite ln p")
            check_values(f"backoff of {prefix}contexts", self.contexts["backoff"], "finite")
        except ContentsError as error:
            raise ModelError(f"{where}: damaged model: {error}") from None

    def _check_links(self, prefix: str) -> None:
        """Raise ContentsError for a link that leads out of the arrays or to another level than it must."""
        contexts, levels = len(self.contexts) - 1, self.context_levels.tolist()
        parents, symbols = f"parent of {prefix}contexts", int(self.event_levels[1])
        check_range(parents, self.contexts["parent"][:1], 0, contexts - 1)
        for level in range(1, self.order):  # backing off ends, since each parent is a level below
            of_level = self.contexts["parent"][levels[level] : levels[level + 1]]
            check_range(parents, of_level, levels[level - 1], levels[level] - 1)
        if not is_offset_array(self.contexts["events"], len(self.events)):
            raise ContentsError(f"events of {prefix}contexts has an index out of range, or below the one before it")
        check_range(f"next of {prefix}events", self.events["next"], 0, contexts - 1)
        check_range(f"symbol of {prefix}events", self.events["symbol"], 0, symbols - 1)
        if (self.events["symbol"][:symbols] != np.arange(symbols)).any():
            raise ContentsError(f"symbol of {prefix}events is not the place of each event of the empty context")
        check_rising(f"{prefix}children", self.children, contexts)

    def check_symbols(self, name: str, sizes: Sequence[int]) -> None:
        """Raise ContentsError for columns of other sizes, of which the first is that of the predicted symbol.

        `name` is the name of the tables in messages.
        """
        if (self.order, self.sizes[0]) != (len(sizes), sizes[0]):
            has = f"{name} has {self.order} columns and predicts {self.sizes[0]} symbols"
            raise ContentsError(f"{has}, wanted {len(sizes)} and {sizes[0]}")
        levels = self.context_levels.tolist()
        for level, size in enumerate(sizes[1:], 1):
            symbols = self.contexts["symbol"][levels[level] : levels[level + 1]]
            check_range(f"symbol of contexts of {name}", symbols, 0, size - 1)


def rounded(tables: BackoffTables) -> BackoffTables:
    """The tables with log10 values that are multiples of 1 / STEPS, which halves the compressed file."""

    def rounding(records: RecordArray, name: str) -> RecordArray:
        copy = records.copy()
        copy[name] = np.round(copy[name] * STEPS) / STEPS
        return copy

    return replace(tables, events=rounding(tables.events, "log10"), contexts=rounding(tables.contexts, "backoff"))


def table_arrays(tables: BackoffTables, prefix: str = "") -> Arrays:
    """The arrays of the tables by name, for `write_model`; `tables.unseen` belongs among the settings.

    A model of several tables gives each a `prefix` of its own.
    """
    return {prefix + name: getattr(tables, name) for name in ARRAYS}


def tables_from(arrays: Arrays, unseen: float, where: str, prefix: str = "") -> BackoffTables:
    """The tables of a model file. Raises ModelError if arrays are missing or do not fit together."""
    if missing := [prefix + name for name in ARRAYS if prefix + name not in arrays]:
        raise ModelError(f"{where}: damaged model: it has no {', '.join(missing)}")
    tables = BackoffTables(**{name: arrays[prefix + name] for name in ARRAYS}, unseen=unseen)
    tables.check(where, prefix)
    return tables


class Tables(Stored):
    """Annotates tables with so many symbols ("*": any number), whose arrays have the `prefix`.

    With `keys`, the field is a mapping of them to tables, and the prefix of each is its key. `unseen` is 0 unless it is
    a setting.
    """

    def __init__(self, symbols: str, prefix: str = "", *, keys: tuple[str, ...] = (), has_unseen: bool = False) -> None:
        self.symbols, self.prefix, self.keys, self.has_unseen = symbols, prefix, keys, has_unseen

    def write(self, value: Any, _name: str, contents: Contents) -> None:
        """Add the arrays of the tables."""
        for prefix, tables in [(f"{key}.", value[key]) for key in self.keys] or [(self.prefix, value)]:
            contents.arrays.update(table_arrays(tables, prefix))
        if self.has_unseen:
            contents.settings["unseen"] = value.unseen

    def read(self, _hint: Any, name: str, contents: Contents) -> Any:
        """Return the tables. Raises ModelError or ValueError if their arrays are missing or do not fit."""
        if self.keys:
            return {key: self._read(contents, 0.0, f"{key}.") for key in self.keys}
        unseen = float(contents.settings["unseen"]) if self.has_unseen else 0.0
        tables = self._read(contents, unseen, self.prefix)
        contents.agree(f"the list of 1-grams of {name}", (tables.sizes[0],), (self.symbols,))
        return tables

    @staticmethod
    def _read(contents: Contents, unseen: float, prefix: str) -> BackoffTables:
        tables = tables_from(contents.arrays, unseen, contents.path, prefix)
        if not len(tables.children):
            raise ContentsError(f"{prefix}children has the length 0, wanted {len(tables.contexts)}")
        check_values(f"backoff of {prefix}contexts", tables.contexts["backoff"], "finite ln p")
        return tables
