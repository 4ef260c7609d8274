"""Tables no wider than a terminal: names are wrapped at their separators, and columns that do not fit go to a further
table.
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
    """The table as one or more tables that fit the width; each has the first `kept` columns, the last has the notes.

    Long names in the first column and in the header are wrapped. A single column that is too wide stays as it is.
    """
    header = tuple(wrapped_name(label, LONGEST_LABEL) for label in table.header)
    rows = tuple((wrapped_name(row[0], LONGEST_NAME), *row[1:]) for row in table.rows)
    widths = [
        max(len(line) for cell in cells for line in cell.split("\n")) for cells in zip(header, *rows, strict=True)
    ]
    always = sum(widths[:kept]) + 3 * kept + 1  # each column has two blanks and a border
    groups: list[list[int]] = [[]]
    used = always
    for column in range(kept, len(header)):
        if used + widths[column] + 3 > width and groups[-1]:
            groups.append([])
            used = always
        groups[-1].append(column)
        used += widths[column] + 3
    tables = []
    for number, group in enumerate(groups, 1):
        columns = [*range(kept), *group]
        title = f"{table.title} ({number} of {len(groups)})" if len(groups) > 1 else table.title
        cells = tuple(tuple(row[i] for i in columns) for row in rows)
        notes = table.notes if number == len(groups) else ()
        tables.append(replace(table, title=title, header=tuple(header[i] for i in columns), rows=cells, notes=notes))
    return tables
