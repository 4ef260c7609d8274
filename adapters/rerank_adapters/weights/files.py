"""weights.toml, and which reader a weights file gets.

    decision = "map"
    scale = 1.0                         # of the posterior, for "mbr"
    evidence = 0                        # hypotheses that vote, for "mbr"; 0: all
    [dense]
    TranslationModel0 = [0.2, 0.1]      # X_0, X_1
    LM0 = 0.5
    [sparse]
    "wt_der~the" = 0.01
    [provenance]                        # how they were made

Floats are written with the digits that read back exactly.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

import tomli_w

from rerank_adapters.formats.compressed import display_name, open_atomic, open_text
from rerank_adapters.weights.moses_files import read_moses_weights
from rerank_adapters.weights.moses_ini import read_moses_ini
from rerank_adapters.weights.values import Weights, grouped
from rerank_plugins.errors import FormatError
from rerank_plugins.plugins import suggestion

KEYS = ("decision", "scale", "evidence", "dense", "sparse", "provenance")


def read_weights(path: str | Path) -> Weights:
    """Weights from a file: weights.toml by the ending .toml, moses.ini by .ini, else a Moses weights file.

    Raises FormatError, with the line, for a value that is no finite number, an unknown key, a name that comes twice.
    """
    if Path(path).suffix == ".toml":
        return _read_toml(path)
    if Path(path).suffix == ".ini":
        return read_moses_ini(path)
    return read_moses_weights(path)


def write_weights(weights: Weights, path: str | Path) -> None:
    """Write weights.toml, whole or not at all; `-` is stdout."""
    provenance = {key: value for key, value in weights.provenance.items() if key != "file"}
    document = {
        "decision": weights.decision,
        "scale": weights.scale,
        "evidence": weights.evidence,
        "dense": grouped(weights.dense),
        "sparse": dict(weights.sparse),
        "provenance": plain_values(provenance),
    }
    with open_atomic(path) as stream:
        stream.write(tomli_w.dumps({key: value for key, value in document.items() if value != {} or key == "dense"}))


def plain_values(value: Any) -> Any:
    """The value in types that TOML has: None left out, tuples as arrays, numpy's numbers as Python's, paths as text."""
    if isinstance(value, Mapping):
        return {str(key): plain_values(item) for key, item in value.items() if item is not None}
    if isinstance(value, str | bool | int | float):
        return value
    if hasattr(value, "tolist"):
        return plain_values(value.tolist())
    if isinstance(value, Sequence):
        return [plain_values(item) for item in value if item is not None]
    return str(value)


def _read_toml(path: str | Path) -> Weights:
    name = display_name(path)
    with open_text(path) as lines:
        text = "".join(lines)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"line (\d+)", str(error))
        raise FormatError(f"no TOML: {error}", path=name, line=int(at[1]) if at else None) from None
    for key in document:
        if key not in KEYS:
            raise FormatError(f"unknown key {key!r}{suggestion(key, KEYS)}", path=name, line=_line(text, key))
    decision, scale = document.get("decision", "map"), document.get("scale", 1.0)
    if decision not in ("map", "mbr"):
        message = f"decision is {decision!r}, expected 'map' or 'mbr'"
        raise FormatError(message, path=name, line=_line(text, "decision"))
    scale = _numbers("scale", [scale], text, name)[0]
    evidence = document.get("evidence", 0)
    if not isinstance(evidence, int) or evidence < 0:
        message = f"evidence is {evidence!r}, expected a number of hypotheses (0: all)"
        raise FormatError(message, path=name, line=_line(text, "evidence"))
    sections: dict[str, dict[str, float]] = {"dense": {}, "sparse": {}}
    for section, weights in sections.items():
        for label, value in _table(document, section, text, name).items():
            values = _numbers(label, value if isinstance(value, list) else [value], text, name)
            new = {f"{label}_{i}": v for i, v in enumerate(values)} if isinstance(value, list) else {label: values[0]}
            twice = next((key for key in new if key in sections["dense"] or key in sections["sparse"]), None)
            if twice is not None:
                raise FormatError(f"feature {twice!r} has two weights", path=name, line=_line(text, label))
            weights.update(new)
    if not sections["dense"] and not sections["sparse"]:
        raise FormatError("no weights: expected a table [dense] with a number per feature", path=name)
    provenance = {**_table(document, "provenance", text, name), "file": name}
    return Weights(sections["dense"], sections["sparse"], decision, scale, evidence, provenance)


def _table(document: Mapping[str, Any], key: str, text: str, name: str) -> dict[str, Any]:
    table = document.get(key, {})
    if not isinstance(table, dict):
        raise FormatError(f"{key} is {table!r}, expected a table [{key}]", path=name, line=_line(text, key))
    return table


def _numbers(label: str, values: Sequence[Any], text: str, name: str) -> list[float]:
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
            found = f"the weight of {label!r} is {value!r}, expected a finite number"
            raise FormatError(found, path=name, line=_line(text, label))
    if not values:
        raise FormatError(f"{label!r} has no weight", path=name, line=_line(text, label))
    return [float(value) for value in values]


def _line(text: str, key: str) -> int | None:
    """The line on which a key stands (tomllib does not say)."""
    pattern = re.compile(rf"""\s*\[?\s*["']?{re.escape(key)}["']?\s*[\]=.]""")
    return next((i for i, line in enumerate(text.split("\n"), 1) if pattern.match(line)), None)
