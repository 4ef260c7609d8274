"""Fits tables into a width without breaking a word: it wraps heads first, then divides columns among tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rerank_adapters.report.tables import Table

MARGIN, GAP = 1, 3  # characters of a drawn table beside those of the cells: at its end, and for each column


def fitted(table: Table, width: int) -> Iterator[Table]:
    """The table in one or several that are at most `width` characters wide when drawn.

    Where it is too wide, the heads of its columns are wrapped at spaces, and after full stops and hyphens. Where that
    is not enough, its columns are shared out over several tables, each with the first column. A table of two columns
    is never divided, however wide they are.
    """
    columns = list(zip(table.header, *table.rows, strict=True))
    widths = [_width(column) for column in columns]
    if sum(widths) + GAP * len(widths) + MARGIN <= width:
        yield table
        return
    header = [_wrapped(head, max(map(_width_of_cell, cells), default=0)) for head, *cells in columns]
    widths = [_width((head, *cells)) for head, (_, *cells) in zip(header, columns, strict=True)]
    groups = list(_grouped(widths, width))
    for number, group in enumerate(groups, 1):
        kept = [0, *group]
        yield replace(
            table,
            title=table.title if number == 1 else f"{table.title} (continued)",
            header=tuple(header[i] for i in kept),
            rows=tuple(tuple(row[i] for i in kept) for row in table.rows),
            notes=table.notes if number == len(groups) else (),
        )


def _grouped(widths: Sequence[int], width: int) -> Iterator[list[int]]:
    """The columns after the first, in groups that fit beside it; a group has at least one."""
    first = widths[0] + GAP + MARGIN
    group: list[int] = []
    used = first
    for column in range(1, len(widths)):
        if group and used + widths[column] + GAP > width:
            yield group
            group, used = [], first
        group.append(column)
        used += widths[column] + GAP
    yield group


def _wrapped(head: str, width: int) -> str:
    """The head on lines of at most `width` characters, or as wide as its longest word."""
    words = re.split(r"(?<=[ .-])(?=[^ ])", head)
    width = max(width, *(len(word.rstrip()) for word in words))
    lines = [words[0]]
    for word in words[1:]:
        if len((lines[-1] + word).rstrip()) <= width:
            lines[-1] += word
        else:
            lines.append(word)
    return "\n".join(line.rstrip() for line in lines)


def _width(column: Sequence[str]) -> int:
    return max(map(_width_of_cell, column))


def _width_of_cell(cell: str) -> int:
    return max(map(len, cell.split("\n")))
