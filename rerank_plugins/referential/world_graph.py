"""Reads world models in RDF and OWL with rdflib (the extra `rdf`).

A resource that has a type, and is itself no class or property, is an individual; so is every subject or object of an
object property. Its types and all their superclasses (rdfs:subClassOf) are its properties; a property of resources is a
relation with two arguments; one with numbers is a measure. Names are what follows the last `#` or `/`. Functors, which
RDF has no words for, are given by a TOML file that names the graph.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from rerank_plugins import FormatError, ModelError
from rerank_plugins.referential.world import Where
from rerank_plugins.referential.world_description import Facts, line_of

GRAPHS = {".ttl": "turtle", ".owl": "xml", ".rdf": "xml", ".nt": "nt", ".jsonld": "json-ld"}


def read_graph(path: Path, facts: Facts) -> None:
    """Add the facts of a graph. Raises FormatError, and ModelError where rdflib is not installed."""
    try:
        import rdflib
        from rdflib.namespace import OWL, RDF, RDFS
    except ImportError:
        raise ModelError(f"{path}: reading RDF needs rdflib: install 'rerank-plugins[rdf]'") from None
    graph = rdflib.Graph()
    try:
        text = path.read_text(encoding="utf-8")
        graph.parse(data=text, format=GRAPHS.get(path.suffix, "turtle"))
    except OSError as error:
        raise FormatError(f"cannot be read ({error.strerror})", path=str(path)) from None
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
