"""Reads world models from TOML or JSON, which have the same keys (docs/models/referential.md).

    individuals = ["f1", "f2", "d1"]
    property.EXECUTABLE = ["f1", "f2"]
    relation.CONTAIN = [["d1", "f1"]]
    measure.SIZE = { f1 = 10, f2 = 20 }
    functor.LARGEST = { kind = "superlative", measure = "SIZE" }
    taxonomy = [["", "district", "top"], ["top", "sports", "sports"]]
    table = [{ file = "students.csv", holds = "taxonomy" }]
    graph = ["people.ttl"]

Files that a world names are relative to its own. A path that ends with `.csv` or `.tsv` is read as the arcs of a
taxonomy, and one that ends with `.ttl`, `.owl`, `.rdf`, `.nt` or `.jsonld` as a graph.

A table of comma-separated (.csv) or tab-separated values (.tsv) has a header, and holds one of these:

    taxonomy     the columns parent, label and child; the parent is empty for a concept at the top, and a child without
                 a label has its own name as label
    individuals  the individual in the first column, which declares it, and a column for each property, measure or
                 relation: `EXECUTABLE:property` (yes or no), `SIZE:measure` (a number or nothing),
                 `CONTAIN:relation` (individuals separated by `;`)
    relation     the tuples of the relation `name`, an argument a column; the header names the arguments

Graphs in RDF and OWL are read by rdflib (the extra `rdf`). A resource that has a type, and is itself no class or
property, is an individual; so is every subject or object of an object property. Its types and all their superclasses
(rdfs:subClassOf) are its properties; a property of resources is a relation with two arguments; one with numbers is a
measure. Names are what follows the last `#` or `/`. Functors, which RDF has no words for, are given by a TOML file that
names the graph.
"""

from __future__ import annotations

import csv
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rerank_plugins import FormatError, ModelError, open_text
from rerank_plugins.core.errors import DAMAGE
from rerank_plugins.core.json_and_toml import read_json, read_toml_table
from rerank_plugins.core.registry import suggestion
from rerank_plugins.referential.world import Where, World
from rerank_plugins.referential.world_description import Facts, at_fault, line_of

GRAPHS = {".ttl": "turtle", ".owl": "xml", ".rdf": "xml", ".nt": "nt", ".jsonld": "json-ld"}


def read_graph(path: Path, facts: Facts) -> None:
    """Add the facts of a graph. Raises FormatError, and ModelError where rdflib is not installed."""
    try:
        import rdflib
        from rdflib.namespace import OWL, RDF, RDFS
    except ImportError:
        raise ModelError(f"{path}: reading RDF needs rdflib: install 'rerank-plugins[rdf]'") from None
    graph, text = rdflib.Graph(), _text(path)
    try:
        graph.parse(data=text, format=GRAPHS.get(path.suffix, "turtle"))
    except Exception as error:  # the parsers of rdflib raise errors of many kinds
        line = getattr(error, "lines", None)
        message = f"not valid {GRAPHS.get(path.suffix, 'turtle')}: {type(error).__name__}"
        raise FormatError(message, path=str(path), line=line + 1 if isinstance(line, int) else None) from None

    def where(*nodes: Any) -> Where:
        return lambda: (str(path), line_of(text, [_name(node) for node in nodes]))

    above = _superclasses(path, text, {(a, b) for a, b in graph.subject_objects(RDFS.subClassOf) if a != b})
    vocabulary = {str(OWL), str(RDF), str(RDFS)}
    schema = set(above) | {parent for parents in above.values() for parent in parents}
    schema |= {
        s
        for s, kind in graph.subject_objects(RDF.type)
        if _space(kind) in vocabulary and _name(kind) != "NamedIndividual"
    }
    triples = sorted(((s, p, o) for s, p, o in graph if s not in schema), key=str)
    for subject, predicate, value in triples:
        if predicate != RDF.type and _space(predicate) in vocabulary:
            continue
        facts.individual(_name(subject))
        if predicate == RDF.type:
            for kind in [value, *sorted(above.get(value, ()))]:
                if _space(kind) not in vocabulary:
                    facts.name(_name(kind), "property", where(subject, kind))
                    facts.member(_name(kind), _name(subject), where(subject, kind))
        elif isinstance(value, rdflib.Literal):
            number = value.toPython()
            if isinstance(number, (int, float)) and not isinstance(number, bool):
                facts.name(_name(predicate), "measure", where(subject, predicate))
                try:
                    measured = float(number)
                except OverflowError:
                    raise FormatError(f"the number of {_name(subject)} is too large", path=str(path)) from None
                facts.value(_name(predicate), _name(subject), measured, where(subject, predicate))
        else:
            facts.individual(_name(value))
            facts.name(_name(predicate), "relation", where(subject, predicate))
            facts.row(_name(predicate), [_name(subject), _name(value)], where(subject, predicate))


def _superclasses(path: Path, text: str, pairs: set[tuple[Any, Any]]) -> dict[Any, set[Any]]:
    """All superclasses of each class. Raises FormatError for a cycle."""
    above: dict[Any, set[Any]] = {}
    for lower, upper in pairs:
        above.setdefault(lower, set()).add(upper)
    changed = True
    while changed:
        changed = False
        for uppers in above.values():
            more = {higher for upper in uppers for higher in above.get(upper, ())} - uppers
            uppers |= more
            changed = changed or bool(more)
    for lower, uppers in sorted(above.items(), key=str):
        if lower in uppers:
            line = line_of(text, [_name(lower), "subClassOf"])
            raise FormatError(f"the taxonomy has a cycle through {_name(lower)}", path=str(path), line=line)
    return above


def _name(node: Any) -> str:
    return re.split(r"[#/]", str(node))[-1]


def _space(node: Any) -> str:
    text = str(node)
    return text[: len(text) - len(_name(node))]


TABLES = {".csv": ",", ".tsv": "\t"}  # endings, and what separates columns
HOLDS = ("taxonomy", "individuals", "relation")
TRUTH = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False, "": False}
Row = tuple[list[str], Where]


def _line(path: Path, number: int) -> tuple[str, int]:
    return str(path), number


def read_table(path: Path, holds: str, name: str, facts: Facts, named: Where | None = None) -> None:
    """Add the facts of a table. Raises FormatError with the line; `named` is where another file names this one."""
    named = named or (lambda: (str(path), None))
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


KEYS = ("individuals", "property", "relation", "measure", "functor", "taxonomy", "table", "graph")


def read_world(path: Path) -> World:
    """Read a world model. Raises FormatError with the file and the line, and ModelError where rdflib is missing."""
    facts = Facts()
    if path.suffix in TABLES:
        read_table(path, "taxonomy", "", facts)
    elif path.suffix in GRAPHS:
        read_graph(path, facts)
    else:
        _read_described(path, facts)
    return facts.world(str(path))


def files_of_world(path: Path) -> list[Path]:
    """The files that a world model in TOML or JSON names; none for another format, or if it cannot be read."""
    try:
        text = _text(path)
        table = read_json(text) if path.suffix == ".json" else read_toml_table(text)
        names = [*(entry["file"] for entry in table.get("table", ())), *table.get("graph", ())]
        return [path.parent / name for name in names]
    except (FormatError, *DAMAGE):  # `read_world` raises the error
        return []


def _text(path: Path) -> str:
    with open_text(path) as lines:
        return "".join(lines)


def _read_described(path: Path, facts: Facts) -> None:
    text = _text(path)
    try:
        table: Any = read_json(text) if path.suffix == ".json" else read_toml_table(text)
    except json.JSONDecodeError as error:
        raise FormatError(f"not valid JSON: {error.msg}", path=str(path), line=error.lineno) from None
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

    def read(self, table: Any) -> None:
        """Add everything in the file to the facts."""
        if not isinstance(table, dict):
            raise FormatError("wanted an object with the keys " + ", ".join(KEYS), path=str(self.path))
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
        for name in self.wanted(table.get("graph", []), list, "a list of files", "graph"):
            read_graph(self.path.parent / name, self.facts)

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
            raise at_fault(self.at("table"), f"table is {entry!r:.60}, wanted {{ file = …, holds = … }}")
        read_table(self.path.parent / entry["file"], str(entry.get("holds", "individuals")), str(entry.get("name", "")),
                   self.facts, self.at("table", entry["file"]))  # fmt: skip
