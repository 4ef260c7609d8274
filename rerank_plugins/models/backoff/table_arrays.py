"""Back-off tables as the arrays of a model file."""

from __future__ import annotations

from rerank_plugins.errors import ModelError
from rerank_plugins.model_file import Arrays
from rerank_plugins.models.backoff.tables import BackoffTables

TABLES = ("contexts", "events", "context_levels", "event_levels", "children")


def table_arrays(tables: BackoffTables, prefix: str = "") -> Arrays:
    """The arrays of the tables by name, for `write_model`; `tables.unseen` belongs among the settings.

    A model of several tables gives each a `prefix` of its own.
    """
    return {prefix + name: getattr(tables, name) for name in TABLES}


def tables_from(arrays: Arrays, unseen: float, where: str, prefix: str = "") -> BackoffTables:
    """The tables of a model file. Raises ModelError if arrays are missing or do not fit together."""
    if missing := [prefix + name for name in TABLES if prefix + name not in arrays]:
        raise ModelError(f"{where}: damaged model: it has no {', '.join(missing)}")
    tables = BackoffTables(**{name: arrays[prefix + name] for name in TABLES}, unseen=unseen)
    tables.check(where)
    return tables
