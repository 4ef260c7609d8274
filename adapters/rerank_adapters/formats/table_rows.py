"""Rows of tables in text files: CSV, or columns between tabs without quoting."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator

from rerank_plugins import FormatError

Row = tuple[int, list[str]]  # line number, that of the last line of a row of CSV, and cells


def table_rows(lines: Iterable[str], name: str, *, commas: bool) -> Iterator[Row]:
    """Yield the rows that are not empty, of CSV if `commas`. Raises FormatError, with the name and the line."""
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
