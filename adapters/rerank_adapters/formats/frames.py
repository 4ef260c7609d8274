"""N-best lists from a data frame or from records: a row for each hypothesis, with the id of its segment.

Frames of pandas, polars, Arrow and whatever else narwhals knows (the extra `frames`) are read alike; records are
mappings, which need no library. The rows of a segment need not follow one another. They are in the decoder's order, and
the segments in that of their first rows. Every numeric column without a role of its own is a feature.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rerank_adapters.formats.items import Item, lists_of
from rerank_adapters.formats.records import id_of
from rerank_adapters.formats.tables import INDEX, Roles, is_missing, is_number
from rerank_plugins import ConfigError, FormatError, NBestList
from rerank_plugins.core.nbest import NO_SPARSE

FRAMES = ("to_native", "__narwhals_dataframe__", "__dataframe__", "__arrow_c_stream__")  # a frame has one of these
USUAL = Roles()
Columns = Mapping[str, Sequence[Any]]


def is_frame(data: object) -> bool:
    """Whether the data are a frame of some library: a table with columns, and no path, text or list."""
    return any(hasattr(data, name) for name in FRAMES) and hasattr(data, "columns")


def lists_of_frame(data: Any, roles: Roles = USUAL) -> list[NBestList]:
    """The lists of a frame.

    Raises ConfigError without narwhals and for missing columns and wrong names, FormatError for wrong rows.
    """
    try:
        import narwhals
    except ImportError:
        wanted = "lists in a data frame need narwhals: pip install 'rerank-plugins[frames]'"
        raise ConfigError(f"{wanted}; records, as a list of dictionaries, need nothing") from None
    try:
        frame = narwhals.from_native(data, eager_only=True)
        names = list(frame.columns)
    except TypeError:
        raise TypeError(f"wanted a frame of pandas, polars or Arrow in memory, found {type(data).__name__}") from None
    except ValueError:  # pandas and Arrow allow a name twice, which narwhals does not
        names = [*map(str, data.columns if hasattr(data, "iloc") else data.column_names)]
    _check_names(names)
    return lists_of_columns({name: frame[name].to_list() for name in names}, roles)


def _check_names(names: Sequence[object]) -> None:
    """Raise ConfigError for a name of a column that is not a text, as in an array, or that another column has."""
    for place, name in enumerate(names):
        if not isinstance(name, str):
            raise ConfigError(f"column {place} is called {name!r:.60}, wanted a text as its name")
        if name in names[:place]:
            raise ConfigError(f"two columns are called {name!r}")


def lists_of_records(records: Iterable[Mapping[str, Any]], roles: Roles = USUAL) -> list[NBestList]:
    """The lists of records. Raises TypeError for a record that is not a mapping, and the errors of `lists_of_columns`.

    >>> lists_of_records([{"id": 7, "text": "so it is", "lm": -3.5}, {"id": 7, "text": "so is it", "lm": -4.5}])
    [NBestList '7': 2 hypotheses, features lm
       0  so it is
       1  so is it]
    """
    rows = list(records)
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise TypeError(f"row {number}: wanted a mapping of columns, found {row!r:.60}")
    names = dict.fromkeys(name for row in rows for name in row)
    return lists_of_columns({name: [row.get(name) for row in rows] for name in names}, roles)


def lists_of_columns(columns: Columns, roles: Roles) -> list[NBestList]:
    """The lists of columns of equal length.

    Raises ConfigError for missing columns, for names that are not texts, and for two columns that may have the
    hypotheses; FormatError, with the row (from 0), for a missing id, a text that is none, a feature without a finite
    number, totals that only some hypotheses have, and two sources of one segment.
    """
    _check_names(list(columns))
    texts_in = {name for name, values in columns.items() if any(isinstance(value, str) for value in values)}
    named = roles.named(columns, texts_in)
    others = [name for name in columns if name not in named.values() and not INDEX.fullmatch(name)]
    names = tuple(name for name in others if _is_numeric(columns[name]))
    texts, totals = columns[named["text"]], _totals(columns, named)
    rows_of: dict[str, list[int]] = {}
    for row, value in enumerate(columns[named["id"]]):
        if is_missing(value):
            raise FormatError(f"row {row}: no id of a segment")
        if not isinstance(texts[row], str):
            raise FormatError(f"row {row}: {named['text']} is {texts[row]!r}, wanted a text")
        rows_of.setdefault(id_of(value) or str(value), []).append(row)
    sources = {
        id_: _source(rows, columns[named["source"]] if "source" in named else None, id_)
        for id_, rows in rows_of.items()
    }
    items = (
        Item(id_, row + 1, texts[row], totals[row], names, [columns[n][row] for n in names], NO_SPARSE, sources[id_])
        for id_, rows in rows_of.items()
        for row in rows
    )
    try:
        return [replace(nbest, line=0, rows=tuple(rows_of[nbest.segment_id])) for nbest in lists_of(items, "")]
    except FormatError as error:
        raise FormatError(f"row {(error.line or 1) - 1}: {error.message}") from None


def _totals(columns: Columns, named: Mapping[str, str]) -> Sequence[Any]:
    """The totals of all rows, or None for each. Raises FormatError for a row without one, where others have one."""
    values = columns[named["score"]] if "score" in named else [None] * len(columns[named["id"]])
    totals = [None if is_missing(value) else value for value in values]
    if None in totals and any(total is not None for total in totals):
        row = totals.index(None)
        raise FormatError(f"row {row}: no {named['score']}, which other rows have; wanted all of them or none")
    return totals


def _source(rows: Sequence[int], sources: Sequence[Any] | None, id_: str) -> str | None:
    """The source of a segment. Raises FormatError for a row that has another one than an earlier row."""
    found = {sources[row]: row for row in reversed(rows) if not is_missing(sources[row])} if sources else {}
    if len(found) > 1:
        raise FormatError(f"row {max(found.values())}: another source than that of segment {id_} in an earlier row")
    return next(iter(found), None)


def _is_numeric(values: Sequence[Any]) -> bool:
    """Whether a column has numbers alone, some of which may be missing."""
    present = [value for value in values if not is_missing(value)]
    return bool(present) and all(not isinstance(value, str) and is_number(value) for value in present)
