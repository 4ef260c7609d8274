"""Reads world models from tables of comma-separated (.csv) or tab-separated values (.tsv) with a header.

A table holds one of these:

    taxonomy     the columns parent, label and child; the parent is empty for a concept at the top, and a child without
                 a label has its own name as label
    individuals  the individual in the first column, which declares it, and a column for each property, measure or
                 relation: `EXECUTABLE:property` (yes or no), `SIZE:measure` (a number or nothing),
                 `CONTAIN:relation` (individuals separated by `;`)
    relation     the tuples of the relation `name`, an argument a column; the header names the arguments
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from rerank_plugins.core.errors import FormatError
from rerank_plugins.core.registry import suggestion
from rerank_plugins.referential.world import Where
from rerank_plugins.referential.world_description import Facts, at_fault

TABLES = {".csv": ",", ".tsv": "\t"}  # endings, and what separates columns
HOLDS = ("taxonomy", "individuals", "relation")
TRUTH = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False, "": False}
Row = tuple[list[str], Where]


def read_table(path: Path, holds: str, name: str, facts: Facts, named: Where | None = None) -> None:
    """Add the facts of a table. Raises FormatError with the line; `named` is where another file names this one."""
    named = named or partial(_at, str(path), None)
    if holds not in HOLDS:
        raise at_fault(named, f"a table holds {holds!r}{suggestion(holds, HOLDS)}")
    if holds == "relation" and not name:
        raise at_fault(named, "a table that holds a relation needs its name: name = …")
    rows = _rows(path, named)
    header, where = next(rows, ([], named))
    if holds == "taxonomy":
        if header != ["parent", "label", "child"]:
            raise at_fault(where, f"columns {', '.join(header)}, wanted parent, label, child")
        for (parent, label, child), line in rows:
            facts.arc(parent, label or child, child, line)
    elif holds == "relation":
        facts.name(name, "relation", where)
        facts.arguments[name] = tuple(header)
        for row, line in rows:
            facts.row(name, row, line)
    else:
        _individuals(header, rows, where, facts)


def _individuals(header: Sequence[str], rows: Iterator[Row], where: Where, facts: Facts) -> None:
    columns = [column.rpartition(":") for column in header[1:]]
    for name, _, kind in columns:
        if kind not in ("property", "measure", "relation") or not name:
            raise at_fault(where, f"column {name or kind!r}, wanted NAME:property, NAME:measure or NAME:relation")
        facts.name(name, kind, where)
        if kind == "relation":
            facts.arguments.setdefault(name, ("1", "2"))
    for (individual, *cells), line in rows:
        facts.individual(individual)
        for (name, _, kind), cell in zip(columns, cells, strict=True):
            if kind == "relation":
                for other in filter(None, map(str.strip, cell.split(";"))):
                    facts.row(name, [individual, other], line)
            elif kind == "measure" and cell:
                facts.value(name, individual, _number(cell), line)
            elif kind == "property":
                if cell.lower() not in TRUTH:
                    raise at_fault(line, f"property {name!r} of {individual!r} is {cell!r}, wanted yes or no")
                facts.properties.setdefault(name, [])
                if TRUTH[cell.lower()]:
                    facts.member(name, individual, line)


def _number(cell: str) -> float | str:
    try:
        return float(cell)
    except ValueError:
        return cell


def _rows(path: Path, named: Where) -> Iterator[Row]:
    """The rows of a table with their positions in the file, header first. FormatError: a row of another length."""
    try:
        with open(path, encoding="utf-8", newline="") as stream:
            reader = csv.reader(stream, delimiter=TABLES.get(path.suffix, ","))
            width = 0
            for row in reader:
                cells, where = [cell.strip() for cell in row], partial(_at, str(path), reader.line_num)
                if not any(cells):
                    continue
                width = width or len(cells)
                if len(cells) != width:
                    raise at_fault(where, f"{len(cells)} columns, wanted the {width} of the header")
                yield cells, where
    except OSError as error:
        which = "" if named()[0] == str(path) else f"{path}: "
        raise at_fault(named, f"{which}cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise FormatError(f"not UTF-8 text (byte {error.start})", path=str(path)) from None
    except csv.Error as error:
        raise FormatError(f"not CSV: {error}", path=str(path), line=reader.line_num) from None


def _at(path: str, line: int | None) -> tuple[str, int | None]:
    return path, line
