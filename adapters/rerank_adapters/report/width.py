"""Tables no wider than a terminal.

Long names are wrapped at their separators. Columns whose names leave too little room are numbered, with a note that
says what each number stands for; columns that still do not fit go to a further table.
"""

from __future__ import annotations

import re
from dataclasses import replace

from rerank_adapters.report.tables import Table

WIDTH = 80  # characters of a terminal
LONGEST_NAME = 32  # characters of a name in the first column before it is wrapped
LONGEST_LABEL = 16  # the same in a header
SEPARATED = re.compile(r"[^\s._/,-]*[\s._/,-]*")  # a word with the separators after it


def wrapped_name(name: str, width: int) -> str:
    """The name on lines of at most `width` characters, broken only after a separator (`.`, `_`, `-`, `/`, `,`, space).

    >>> wrapped_name("dependency-lm.per_word", 14).split()
    ['dependency-lm.', 'per_word']
    """
    lines = [""]
    for piece in SEPARATED.findall(name):
        if len((lines[-1] + piece).rstrip()) > width and lines[-1]:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


def fitted(table: Table, kept: int = 1, width: int = WIDTH) -> list[Table]:
    """The table as one or more tables that fit the width, each of which has the first `kept` columns.

    Only a single column that is too wide exceeds it. The notes are under the last table.
    """
    header = tuple(wrapped_name(label, LONGEST_LABEL) for label in table.header)
    rows = tuple((wrapped_name(row[0], LONGEST_NAME), *row[1:]) for row in table.rows)
    groups = _column_groups(header, rows, kept, width)
    notes = table.notes
    if len(groups) > 1:
        numbers = [str(number) for number in range(1, len(header) - kept + 1)]
        notes = (*(f"{number}: {name}" for number, name in zip(numbers, table.header[kept:], strict=True)), *notes)
        header = (*header[:kept], *numbers)
        groups = _column_groups(header, rows, kept, width)
    tables = []
    for number, group in enumerate(groups, 1):
        columns = [*range(kept), *group]
        tables.append(
            replace(
                table,
                title=f"{table.title} ({number} of {len(groups)})" if len(groups) > 1 else table.title,
                header=tuple(header[i] for i in columns),
                rows=tuple(tuple(row[i] for i in columns) for row in rows),
                notes=notes if number == len(groups) else (),
            )
        )
    return tables


def _column_groups(
    header: tuple[str, ...], rows: tuple[tuple[str, ...], ...], kept: int, width: int
) -> list[list[int]]:
    """The columns after the first `kept` ones, in groups that fit the width together with these."""
    widths = [
        max(len(line) for cell in cells for line in cell.split("\n")) for cells in zip(header, *rows, strict=True)
    ]
    always = sum(widths[:kept]) + 3 * kept + 1  # each column has two blanks and a border
    groups, used = [list[int]()], always
    for column in range(kept, len(header)):
        if used + widths[column] + 3 > width and groups[-1]:
            groups.append([])
            used = always
        groups[-1].append(column)
        used += widths[column] + 3
    return groups
