"""Reads world models from TOML (docs/models/referential.md).

    individuals = ["f1", "f2", "d1"]
    property.EXECUTABLE = ["f1", "f2"]
    relation.CONTAIN = [["d1", "f1"]]
    measure.SIZE = { f1 = 10, f2 = 20 }
    functor.LARGEST = { kind = "superlative", measure = "SIZE" }
    taxonomy = [["", "district", "top"], ["top", "sports", "sports"]]
    table = [{ file = "students.csv", holds = "taxonomy" }]

A path that ends with `.csv` (comma-separated values) or `.tsv` (tab-separated ones) is read as the arcs of a taxonomy,
and so is a table that a world names, by a path relative to its own. The header of such a table is parent, label and
child; the parent is empty for a concept at the top, and a child without a label has its own name as label.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from rerank_plugins import FormatError, open_text
from rerank_plugins.core.errors import DAMAGE, suggestion
from rerank_plugins.core.json_and_toml import read_toml_table
from rerank_plugins.referential.world import Where, World
from rerank_plugins.referential.world_description import Facts, at_fault, line_of

TABLES = {".csv": ",", ".tsv": "\t"}  # endings, and what separates columns
KEYS = ("individuals", "property", "relation", "measure", "functor", "taxonomy", "table")
Row = tuple[list[str], Where]


def read_world(path: Path) -> World:
    """Read a world model. Raises FormatError with the file and the line."""
    facts = Facts()
    if path.suffix in TABLES:
        _read_taxonomy(path, facts, lambda: (str(path), None))
    else:
        _read_described(path, facts)
    return facts.world(str(path))


def files_of_world(path: Path) -> list[Path]:
    """The files that a world model in TOML names; none for a table, or if it cannot be read."""
    try:
        return [path.parent / entry["file"] for entry in read_toml_table(_text(path)).get("table", ())]
    except (FormatError, *DAMAGE):  # `read_world` raises the error
        return []


def _read_taxonomy(path: Path, facts: Facts, named: Where) -> None:
    """Add the arcs of a table. Raises FormatError with the line; `named` is where the table is named."""
    rows = _rows(path, named)
    header, where = next(rows, ([], named))
    if header != ["parent", "label", "child"]:
        raise at_fault(where, f"columns {', '.join(header)}, wanted parent, label, child")
    for (parent, label, child), line in rows:
        facts.arc(parent, label or child, child, line)


def _rows(path: Path, named: Where) -> Iterator[Row]:
    """The rows of a table with their positions in the file, header first. FormatError: a row of another length."""
    if not path.is_file():
        raise at_fault(named, "no such file" if named()[0] == str(path) else f"{path}: no such file")
    try:
        with open_text(path) as lines:
            reader = csv.reader(lines, delimiter=TABLES.get(path.suffix, ","))
            width = 0
            for row in reader:
                cells, where = [cell.strip() for cell in row], partial(_line, path, reader.line_num)
                if not any(cells):
                    continue
                width = width or len(cells)
                if len(cells) != width:
                    raise at_fault(where, f"{len(cells)} columns, wanted the {width} of the header")
                yield cells, where
    except csv.Error as error:
        raise FormatError(f"not CSV: {error}", path=str(path), line=reader.line_num) from None


def _line(path: Path, number: int) -> tuple[str, int]:
    return str(path), number


def _text(path: Path) -> str:
    with open_text(path) as lines:
        return "".join(lines)


def _read_described(path: Path, facts: Facts) -> None:
    text = _text(path)
    try:
        table = read_toml_table(text)
    except tomllib.TOMLDecodeError as error:
        raise FormatError(f"not valid TOML: {error}", path=str(path)) from None
    _Reader(path, text, facts).read(table)


class _Reader:
    """Checks the types of the values of a file, and adds them to the facts."""

    def __init__(self, path: Path, text: str, facts: Facts) -> None:
        self.path, self.text, self.facts = path, text, facts

    def at(self, *words: str) -> Where:
        """The file, and the line on which the words are found, each at or after the one before it."""
        return lambda: (str(self.path), line_of(self.text, words))

    def wanted(self, value: Any, kind: type, what: str, *words: str) -> Any:
        """The value. Raises FormatError if it is of another kind, or a list with anything but strings."""
        if not isinstance(value, kind) or (
            isinstance(value, list) and not all(isinstance(item, str) for item in value)
        ):
            raise at_fault(self.at(*words), f"{'.'.join(words)} is {value!r:.60}, wanted {what}")
        return value

    def read(self, table: Mapping[str, Any]) -> None:
        """Add everything in the file to the facts."""
        for key in sorted(table.keys() - set(KEYS)):
            raise at_fault(self.at(key), f"unknown key {key!r}{suggestion(key, KEYS)}")
        for name in self.wanted(table.get("individuals", []), list, "a list of names", "individuals"):
            self.facts.individual(name)
        for kind in ("property", "relation", "measure", "functor"):
            for name, value in self.wanted(table.get(kind, {}), dict, "a table by name", kind).items():
                self.facts.name(name, kind, self.at(kind, name))
                getattr(self, f"_{kind}")(name, value)
        for arc in self._rows(table.get("taxonomy", []), "taxonomy"):
            where = self.at("taxonomy", *arc)
            if len(arc) != 3:
                raise at_fault(
                    where, f"taxonomy: found {len(arc)} names ({', '.join(arc)}), wanted [parent, label, child]"
                )
            self.facts.arc(arc[0], arc[1], arc[2], where)
        tables = table.get("table", [])
        for entry in tables if isinstance(tables, list) else [tables]:
            self._table(entry)

    def _rows(self, value: Any, *words: str) -> list[list[str]]:
        if not isinstance(value, list):
            raise at_fault(self.at(*words), f"{'.'.join(words)} is {value!r:.60}, wanted a list of lists of names")
        return [self.wanted(row, list, "a list of names", *words) for row in value]

    def _property(self, name: str, members: Any) -> None:
        self.facts.properties.setdefault(name, [])
        for member in self.wanted(members, list, "a list of individuals", "property", name):
            self.facts.member(name, member, self.at("property", name, member))

    def _relation(self, name: str, value: Any) -> None:
        if isinstance(value, Mapping):
            for key in sorted(value.keys() - {"arguments", "tuples"}):
                raise at_fault(self.at("relation", name, key), f"relation.{name}: unknown key {key!r}")
            arguments = self.wanted(value.get("arguments"), list, "a list of names", "relation", name, "arguments")
            if len(set(arguments)) < len(arguments):
                raise at_fault(
                    self.at("relation", name),
                    f"relation.{name}: arguments {', '.join(arguments)}, wanted different names",
                )
            self.facts.arguments[name] = tuple(arguments)
            value = value.get("tuples", [])
        for row in self._rows(value, "relation", name):
            self.facts.row(name, row, self.at("relation", name, *row))

    def _measure(self, name: str, values: Any) -> None:
        self.facts.measures.setdefault(name, [])
        for individual, value in self.wanted(values, dict, "numbers by individual", "measure", name).items():
            self.facts.value(name, individual, value, self.at("measure", name, individual))

    def _functor(self, name: str, options: Any) -> None:
        options = self.wanted(options, dict, "a table with a kind", "functor", name)
        self.facts.functors[name] = options, self.at("functor", name)

    def _table(self, entry: Any) -> None:
        if not isinstance(entry, dict) or not isinstance(entry.get("file"), str):
            raise at_fault(self.at("table"), f'table is {entry!r:.60}, wanted {{ file = …, holds = "taxonomy" }}')
        where = self.at("table", entry["file"])
        if entry.get("holds") != "taxonomy":
            raise at_fault(where, f"a table holds {entry.get('holds')!r:.60}, wanted 'taxonomy'")
        _read_taxonomy(self.path.parent / entry["file"], self.facts, where)
