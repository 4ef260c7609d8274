"""The rows of tables in files, whatever they are read from: a mapping of columns, with the line.

CSV, TSV and columns between semicolons have a line of names, which shows what separates the columns. Values in
quotation marks may hold separators and line ends. Rows in JSON have a column in each key; those of Parquet and Arrow
are read as such lines (`columnar.py`).
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from rerank_adapters.formats.records import json_records
from rerank_plugins import FormatError

SEPARATORS = "\t,;"


@dataclass(frozen=True)
class Row:
    """A row of a table: its columns, the number of its first line, and its lines, with the line of names before."""

    columns: Mapping[str, Any]
    line: int
    raw: str = ""


def rows_of(lines: Iterable[str], path: str) -> Iterator[Row]:
    """The rows of a table, by the form of its first line. Raises FormatError for lines that are not rows."""
    stream = iter(lines)
    first = next(stream, None)
    if first is not None and first.lstrip()[:1] in ("{", "["):
        for record, raw, line in json_records(chain([first], stream), path):
            if not isinstance(record, dict):
                wanted = "expected an object with a column in each key"
                raise FormatError(f"found {raw.strip()!r:.60}, {wanted}", path=path, line=line)
            yield Row(record, line, raw)
    elif first is not None:
        yield from delimited_rows(first, enumerate(stream, 2), path)


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
    try:
        names = [name.strip() for name in next(csv.reader([header.removeprefix("\ufeff")], delimiter=separator))]
    except csv.Error as error:
        raise FormatError(f"no line of names ({error})", path=path, line=1) from None
    if repeated := [name for place, name in enumerate(names) if name and name in names[:place]]:
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


def table_rows(lines: Iterable[str], name: str, *, commas: bool) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each row that is not empty, and its last line, of CSV if `commas`, otherwise between tabs.

    Tabs have no quoting. Raises FormatError, with the name and the line.
    """
    if not commas:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield number, line.rstrip("\r\n").split("\t")
        return
    reader = csv.reader(lines, strict=True)
    try:
        for cells in reader:
            if cells:
                yield reader.line_num, cells
    except csv.Error as error:
        raise FormatError(f"not CSV: {error}", path=name, line=reader.line_num) from None
