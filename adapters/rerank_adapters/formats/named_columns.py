"""Rows of tables whose first line names the columns: CSV, TSV, and columns between semicolons.

The line of names shows what separates the columns: a tab, a comma or a semicolon. Values in quotation marks may hold
these, and line ends.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rerank_plugins import FormatError

SEPARATORS = "\t,;"


@dataclass(frozen=True)
class Row:
    """A row of the table: its columns, the number of its first line, and its lines, with the line of names before."""

    columns: Mapping[str, Any]
    line: int
    raw: str


def separator_of(header: str) -> str | None:
    """The separator of the columns: the first one that the line of names has; None where it has none."""
    return next((mark for mark in SEPARATORS if mark in header), None)


def delimited_rows(header: str, numbered: Iterator[tuple[int, str]], path: str) -> Iterator[Row]:
    """The rows after a line of names. Raises FormatError for a row of another width."""
    taken: list[tuple[int, str]] = []  # the lines of the row that is being read

    def one_by_one() -> Iterator[str]:
        for number, line in numbered:
            taken.append((number, line))
            yield line

    separator = separator_of(header) or SEPARATORS[0]
    names = [name.strip() for name in next(csv.reader([header.removeprefix("\ufeff")], delimiter=separator))]
    if repeated := [name for place, name in enumerate(names) if name in names[:place]]:
        raise FormatError(f"two columns are called {repeated[0]!r}", path=path, line=1)
    lead = header
    rows = csv.reader(one_by_one(), delimiter=separator)
    while True:
        taken.clear()
        try:
            values = next(rows, None)
        except csv.Error as error:
            raise FormatError(f"no row of a table ({error})", path=path, line=taken[0][0]) from None
        if values is None:
            return
        line, lead = taken[0][0], lead + "".join(text for _, text in taken)
        if not values:  # an empty line
            continue
        if len(values) != len(names):
            raise FormatError(f"found {len(values)} columns, expected {len(names)}", path=path, line=line)
        yield Row(dict(zip(names, values, strict=True)), line, lead)
        lead = ""
