"""Reads and writes the empirical model: a grammar's arrays (constituency/model_file.py) and the counts of events."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rerank_plugins import FloatArray, IntArray, ModelError
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
from rerank_plugins.core.errors import DAMAGE
from rerank_plugins.hhmm.event_counts import END, HERE, Empirical, Events
from rerank_plugins.kit.files import model_file

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


def _events(settings: dict[str, object], arrays: model_file.Arrays, grammar: Grammar, path: Path) -> Events:
    try:
        tables: dict[str, IntArray] = {
            name: np.stack([arrays[f"{name}{column}"] for column in range(columns)], axis=1).astype(np.int32)
            for name, columns in COLUMNS.items()
        }
        counts: list[FloatArray] = [arrays[name].astype(np.float64) for name in ("reduced", "expanded")]
        depth, strength = int(str(settings["depth"])), float(str(settings["strength"]))
    except DAMAGE as error:
        raise ModelError(f"{path}: damaged model ({type(error).__name__}: {error})") from None
    reductions, expansions = tables["reductions"], tables["expansions"]
    fit = len(reductions) == len(counts[0]) and len(expansions) == len(counts[1]) and depth > 0 <= strength
    fit = fit and all(bool((values >= 0).all() and np.isfinite(values).all()) for values in counts)
    for table, least, most in (
        (reductions, [0, 0, 0, 0, 0, END], [depth, *[grammar.size] * 3, 2, len(grammar.binary)]),
        (expansions, [0, 0, 0, HERE], [depth + 1, *[grammar.size] * 3]),
    ):
        fit = fit and len(table) > 0 and bool(((table >= least) & (table < most)).all())
    if not fit:
        raise ModelError(f"{path}: damaged model: its events do not fit its grammar")
    return Events(depth, strength, reductions, counts[0], expansions, counts[1])
