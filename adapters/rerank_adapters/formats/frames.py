"""N-best lists from a data frame or from records: a row for each hypothesis, with the id of its segment.

Frames of pandas, polars, Arrow and whatever else narwhals knows (the extra `frames`) are read alike; records are
mappings, which need no library. The rows of a segment need not follow one another. They are in the decoder's order, and
the segments in that of their first rows. Every numeric column without a role of its own is a feature.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, isnan
from numbers import Real
from typing import Any

from rerank_adapters.formats.records import OUTPUT_KEYS
from rerank_plugins import ConfigError, FormatError, Hypothesis, NBestList
from rerank_plugins.core.errors import suggestion

FRAMES = ("to_native", "__narwhals_dataframe__", "__dataframe__", "__arrow_c_stream__")  # a frame has one of these
Columns = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Roles:
    """The names of the columns; where one is None, the usual name is taken if there is such a column."""

    id: str | None = None
    text: str | None = None
    score: str | None = None
    source: str | None = None

    def named(self, columns: Iterable[str], texts: Container[str] = ()) -> dict[str, str]:
        """By role, the column that has it; `texts` are those columns that hold texts.

        Raises ConfigError for one that is missing, and where no column is named for the hypotheses and two may have
        them: beside `pred_text`, `text` is a transcript.
        """
        known, found = list(columns), {}
        for role, usual in (("id", ("id", "segment_id")), ("text", ("text",)), ("score", ("score",)), ("source", ())):
            own = getattr(self, role)
            names = (own,) if own is not None else (*usual, *(() if usual else (role,)))
            name = next((name for name in names if name in known), None)
            if name is not None:
                found[role] = name
            elif own is not None or role in ("id", "text"):
                wanted = f"no column {names[0]!r} for the {role} of each hypothesis"
                raise ConfigError(f"{wanted}{suggestion(names[0], known)}; name it by `{role}=`")
        rival = next((name for name in OUTPUT_KEYS if self.text is None and name in known and name in texts), None)
        if rival is not None:
            raise ConfigError(f"{found['text']!r} and {rival!r} may both be the hypotheses: name the column by `text=`")
        return found


def is_frame(data: object) -> bool:
    """Whether the data are a frame of some library: a table with columns, and no path, text or list."""
    return any(hasattr(data, name) for name in FRAMES) and hasattr(data, "columns")


def lists_of_frame(data: Any, roles: Roles = Roles()) -> list[NBestList]:
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


def lists_of_records(records: Iterable[Mapping[str, Any]], roles: Roles = Roles()) -> list[NBestList]:
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
    named = roles.named(columns, {name for name, values in columns.items() if any(isinstance(v, str) for v in values)})
    taken = set(named.values())
    features = {name: values for name, values in columns.items() if name not in taken and _is_numeric(values)}
    ids = [_id(value, row) for row, value in enumerate(columns[named["id"]])]
    texts = columns[named["text"]]
    scores: Sequence[Any] = columns[named["score"]] if "score" in named else [None] * len(ids)
    sources: Sequence[Any] = columns[named["source"]] if "source" in named else [None] * len(ids)
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise FormatError(f"row {row}: {named['text']} is {text!r}, wanted a text")
    totals = [None if _is_missing(value) else _number(named["score"], value, row) for row, value in enumerate(scores)]
    if None in totals and set(totals) != {None}:
        row = totals.index(None)
        raise FormatError(f"row {row}: no {named['score']}, which other rows have; wanted all of them or none")
    values = [[_number(name, value, row) for row, value in enumerate(column)] for name, column in features.items()]
    rows_of: dict[str, list[int]] = {}
    for row, id_ in enumerate(ids):
        rows_of.setdefault(id_, []).append(row)
    lists = []
    for id_, rows in rows_of.items():
        hypotheses = [Hypothesis(texts[row], tuple(column[row] for column in values), totals[row]) for row in rows]
        found = {sources[row]: row for row in reversed(rows) if not _is_missing(sources[row])}
        if len(found) > 1:
            row = max(found.values())
            raise FormatError(f"row {row}: another {named['source']} than that of segment {id_} in an earlier row")
        source = next(iter(found), None)
        lists.append(NBestList(id_, tuple(hypotheses), tuple(features), source, rows=tuple(rows)))
    return lists


def _id(value: object, row: int) -> str:
    if _is_missing(value):
        raise FormatError(f"row {row}: no id of a segment")
    if isinstance(value, float) and value.is_integer():  # whole numbers in a column that has gaps
        return str(int(value))
    return str(value)


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and isnan(value)) or repr(value) in ("<NA>", "NaT")


def _is_numeric(values: Sequence[Any]) -> bool:
    """Whether a column has numbers alone, some of which may be missing; truth values are not numbers."""
    present = [value for value in values if not _is_missing(value)]
    return bool(present) and all(isinstance(value, Real) and not isinstance(value, bool) for value in present)


def _number(name: str, value: Any, row: int) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not isfinite(value):
        raise FormatError(f"row {row}: {name} is {value!r}, wanted a finite number")
    return float(value)
