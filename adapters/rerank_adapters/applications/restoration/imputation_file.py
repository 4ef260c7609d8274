"""Reads and writes CSV files of the billion-word imputation task: the header `"id","sentence"`, then such rows.

The incomplete sentences and the submissions of restored ones have the same form. A quotation mark in a sentence is
written twice. Files are read and written in a stream.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator

from rerank_plugins.core.errors import FormatError

HEADER = ("id", "sentence")
HEADER_LINE = '"id","sentence"\n'


def is_header(line: str) -> bool:
    """Whether a line is the header of such a file."""
    return [cell.strip().strip('"').lower() for cell in line.split(",")] == list(HEADER)


def parse_rows(lines: Iterable[str], name: str) -> Iterator[tuple[int, str, str]]:
    """Yield (line number, id, sentence) of the rows after the header. Raises FormatError, with the file and line.

    An id that comes again, a row that is not CSV or has other columns, and a first line that is no header are errors.
    """
    reader = csv.reader(lines, strict=True)
    seen: set[str] = set()
    try:
        if tuple(cell.strip().lower() for cell in next(reader, [])) != HEADER:
            raise FormatError('not a file of the imputation task: wanted the header "id","sentence"', path=name, line=1)
        for cells in reader:
            if not cells:
                continue
            if len(cells) != len(HEADER):
                raise FormatError(f"{len(cells)} columns, wanted id and sentence", path=name, line=reader.line_num)
            if cells[0] in seen:
                raise FormatError(f"sentence {cells[0]} comes again", path=name, line=reader.line_num)
            seen.add(cells[0])
            yield reader.line_num, cells[0], cells[1]
    except csv.Error as error:
        raise FormatError(f"not CSV: {error}", path=name, line=reader.line_num) from None


def row_lines(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    """The lines of a file of (id, sentence) rows, header first."""
    yield HEADER_LINE
    for id_, sentence in rows:
        yield row_line(id_, sentence)


def row_line(id_: str, sentence: str) -> str:
    r"""A row as a line, with its end; an id that is a number is not quoted.

    >>> row_line("1", 'he said " no')
    '1,"he said "" no"\n'
    """
    return f"{id_ if id_.isdigit() else _quoted(id_)},{_quoted(sentence)}\n"


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
