"""Reads and writes the empirical model: a grammar's arrays (constituency/model_file.py) and the counts of events."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import IntArray, ModelError
from rerank_plugins.constituency.grammar import Grammar
from rerank_plugins.constituency.model_file import (
    COUNTED,
    INCREMENTAL,
    grammar_arrays,
    grammar_from,
    grammar_settings,
    write_packed,
)
from rerank_plugins.constituency.model_file import KIND as GRAMMAR
from rerank_plugins.hhmm.event_counts import END, HERE, Empirical, Events
from rerank_plugins.kit.files import model_file
from rerank_plugins.kit.files.array_values import ContentsError, check_range
from rerank_plugins.kit.files.model_schema import Array, ModelFile, Setting

KIND = INCREMENTAL
COLUMNS = {"reductions": 6, "expansions": 4}


def write_empirical(model: Empirical, path: Path, *, compact: bool = False) -> int:
    """Write the model atomically and return the size of the file in bytes. Raises OSError."""
    events = model.events
    settings = {**grammar_settings(model.grammar), "depth": events.depth, "strength": events.strength}
    arrays = grammar_arrays(model.grammar, compact=compact)
    arrays |= {"reduced": events.reduced.astype(np.float32), "expanded": events.expanded.astype(np.float32)}
    for name, columns in COLUMNS.items():  # separate columns compress better
        arrays |= {f"{name}{column}": getattr(events, name)[:, column] for column in range(columns)}
    return write_packed(path, KIND, settings, arrays, model.grammar.bases)


def read_hhmm(path: Path) -> tuple[Grammar, Events | None]:
    """Read a grammar, and the events of its trees if the file has them.

    Raises ModelError for a file that is missing, truncated, damaged, or of another version or kind.
    """
    settings, arrays = model_file.read_model(path, KIND, GRAMMAR)
    grammar = grammar_from(settings, arrays, path)
    return grammar, _events(settings, arrays, grammar, path) if COUNTED in arrays else None


@dataclass(frozen=True)
class StoredEvents:
    """The counts of events in a file, whose columns are separate arrays, and the settings of the model."""

    reduced: Annotated[NDArray[np.float32], Array("R", values="positive")]
    expanded: Annotated[NDArray[np.float32], Array("X", values="positive")]
    reductions0: Annotated[IntArray, Array("R")]
    reductions1: Annotated[IntArray, Array("R")]
    reductions2: Annotated[IntArray, Array("R")]
    reductions3: Annotated[IntArray, Array("R")]
    reductions4: Annotated[IntArray, Array("R")]
    reductions5: Annotated[IntArray, Array("R")]
    expansions0: Annotated[IntArray, Array("X")]
    expansions1: Annotated[IntArray, Array("X")]
    expansions2: Annotated[IntArray, Array("X")]
    expansions3: Annotated[IntArray, Array("X")]
    depth: Annotated[int, Setting()]
    strength: Annotated[float, Setting()]

    def table(self, name: str) -> IntArray:
        """The (n, columns) events of this name."""
        columns = [getattr(self, f"{name}{column}") for column in range(COLUMNS[name])]
        return np.stack(columns, axis=1).astype(np.int32)


STORED = ModelFile(StoredEvents, KIND, "model of events")


def _events(settings: dict[str, object], arrays: model_file.Arrays, grammar: Grammar, path: Path) -> Events:
    stored = STORED.from_contents(settings, arrays, str(path))
    depth, strength, size = stored.depth, stored.strength, grammar.size
    reductions, expansions = stored.table("reductions"), stored.table("expansions")
    if not (depth > 0 <= strength and len(reductions) and len(expansions)):
        wanted = "wanted a store of 1 or more, a strength of 0 or more, and events of both kinds"
        raise ModelError(f"{path}: damaged model of events: depth {depth}, strength {strength}, {wanted}")
    try:
        for name, table, least, most in (
            ("reductions", reductions, [0, 0, 0, 0, 0, END], [depth, size, size, size, 2, len(grammar.binary)]),
            ("expansions", expansions, [0, 0, 0, HERE], [depth + 1, size, size, size]),
        ):
            for column, (lowest, end) in enumerate(zip(least, most, strict=True)):
                check_range(f"{name}{column}", table[:, column], lowest, end - 1)
    except ContentsError as error:
        raise ModelError(f"{path}: damaged model of events: {error}") from None
    counts = stored.reduced.astype(np.float64), stored.expanded.astype(np.float64)
    return Events(depth, strength, reductions, counts[0], expansions, counts[1])
