"""Converts back-off tables to the arrays of a model file, and back."""

from __future__ import annotations

from typing import Any

from rerank_plugins.core.errors import ModelError
from rerank_plugins.kit.backoff.packed_tables import PackedTables
from rerank_plugins.kit.backoff.tables import BackoffTables
from rerank_plugins.kit.files.declared import Contents, Stored
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
            return {key: tables_from(contents.arrays, 0.0, contents.path, f"{key}.") for key in self.keys}
        unseen = float(contents.settings["unseen"]) if self.has_unseen else 0.0
        tables = tables_from(contents.arrays, unseen, contents.path, self.prefix)
        contents.agree(f"the list of 1-grams of {name}", (tables.sizes[0],), (self.symbols,))
        return tables
