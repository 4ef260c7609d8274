"""Converts back-off tables to the arrays of a model file, and back."""

from __future__ import annotations

from rerank_plugins.core.errors import ModelError
from rerank_plugins.kit.backoff.packed_tables import PackedTables
from rerank_plugins.kit.backoff.tables import BackoffTables
from rerank_plugins.kit.files.model_file import Arrays

PACKED = (
    "event_bits", "context_bits", "event_fields", "context_fields", "bases", "values", "context_levels", "event_levels",
)  # fmt: skip
TABLES = ("contexts", "events", "context_levels", "event_levels", "children")


def table_arrays(tables: BackoffTables, prefix: str = "") -> Arrays:
    """The arrays of the tables by name, for `write_model`; `tables.unseen` belongs among the settings.

    A model of several tables gives each a `prefix` of its own.
    """
    return {prefix + name: getattr(tables, name) for name in TABLES}


def packed_arrays(tables: PackedTables) -> Arrays:
    """The arrays of packed tables by name, for `write_model`."""
    return {name: getattr(tables, name) for name in PACKED}


def text_tables_from(arrays: Arrays, unseen: float, where: str) -> BackoffTables | PackedTables:
    """The tables of the model file of a text, packed or not. Raises ModelError as `tables_from` does."""
    if "event_bits" not in arrays:
        return tables_from(arrays, unseen, where)
    if missing := [name for name in PACKED if name not in arrays]:
        raise ModelError(f"{where}: damaged model: it has no {', '.join(missing)}")
    tables = PackedTables(**{name: arrays[name] for name in PACKED}, unseen=unseen)
    tables.check(where)
    return tables


def tables_from(arrays: Arrays, unseen: float, where: str, prefix: str = "") -> BackoffTables:
    """The tables of a model file. Raises ModelError if arrays are missing or do not fit together."""
    if missing := [prefix + name for name in TABLES if prefix + name not in arrays]:
        raise ModelError(f"{where}: damaged model: it has no {', '.join(missing)}")
    tables = BackoffTables(**{name: arrays[prefix + name] for name in TABLES}, unseen=unseen)
    tables.check(where)
    return tables
