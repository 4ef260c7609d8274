"""The weights of a linear model, by feature name, and their file weights.toml.

This is an example of the file:

    decision = "map"
    scale = 1.0                         # of the posterior, for "mbr"
    evidence = 0                        # number of hypotheses that vote, for "mbr"; 0: all
    margin = 0.25                       # by which the total of another hypothesis must exceed the 1-best's; 0: none
    [dense]
    TranslationModel0 = [0.2, 0.1]      # X_0, X_1
    LM0 = 0.5
    [sparse]
    "wt_der~the" = 0.01
    [provenance]                        # how the weights were made

Floats are written with the digits that read back exactly.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import Any, Literal

import numpy as np
import tomli_w

from rerank_adapters.formats.items import names_differ
from rerank_adapters.formats.splicing import label_groups
from rerank_plugins import (
    ConfigError,
    FeatureTable,
    FloatArray,
    FormatError,
    TuningResult,
    open_atomic,
    open_text,
)
from rerank_plugins.core.errors import suggestion
from rerank_plugins.core.json_and_toml import read_toml_table
from rerank_plugins.kit.files.text import display_name

KEYS = ("decision", "scale", "evidence", "margin", "dense", "sparse", "provenance")


@dataclass(frozen=True, repr=False)
class Weights:
    """Weights by name, the decision rule, and the provenance.

    `dense`       the weight of each dense feature; a table must have exactly these features
    `sparse`      the weights of sparse features; a feature without one has weight 0
    `decision`    "map" chooses the highest weighted sum, "mbr" the highest expected utility under softmax(scale * sum),
                  taken over the `evidence` hypotheses of highest sum (0: all of them)
    `provenance`  how they were made: version, seed, metric signature, tuner and settings, fingerprints, score ...
    `margin`      the first hypothesis of a list is left only where the total of another one exceeds its own by more, in
                  the unit of the totals; 0 chooses the highest total, infinity keeps the first hypothesis everywhere

    >>> Weights({"length": 0.25, "lm": -1.5})
    Weights of 2 features
            -1.5  lm
            0.25  length
    """

    dense: Mapping[str, float]
    sparse: Mapping[str, float] = field(default_factory=dict)
    decision: Literal["map", "mbr"] = "map"
    scale: float = 1.0
    evidence: int = 0
    provenance: Mapping[str, Any] = field(default_factory=dict)
    margin: float = 0.0

    def __repr__(self) -> str:
        """A table of the dense weights, the largest first, and how many others there are."""
        count = f"{len(self.dense)} features" + (f" and {len(self.sparse)} sparse ones" if self.sparse else "")
        how = "" if self.decision == "map" else f", decision {self.decision}"
        how += f", margin {self.margin:.4g}" if self.margin else ""
        rows = sorted(self.dense.items(), key=lambda item: -abs(item[1]))
        return "\n".join([f"Weights of {count}{how}", *(f"{weight:12.6g}  {name}" for name, weight in rows)])

    @classmethod
    def from_tuning(cls, table: FeatureTable, result: TuningResult, provenance: Mapping[str, Any]) -> Weights:
        """The weights of a tuning result for the features of `table`."""
        values = [float(value) for value in result.weights]
        dense = dict(zip(table.names, values, strict=False))
        sparse = dict(zip(table.sparse.names, values[len(table.names) :], strict=True))
        decision = result.decision, float(result.scale), result.evidence
        return cls(dense, sparse, *decision, provenance, float(result.margin))

    def vector(self, all_names: Sequence[str], sparse_names: Collection[str] = ()) -> FloatArray:
        """(len(all_names)): the weights in the order of a table's `all_names`; 0 for `sparse_names` without a weight.

        Dense weights called F0, F1, ..., as kbmira writes them without the features' names, are assigned by position
        where the table has none of these names. Raises ConfigError with the features that lack a weight and the dense
        weights without a feature.
        """
        sparse_names = frozenset(sparse_names)
        dense = self.dense_for(all_names, sparse_names)
        known = {**self.sparse, **dense}
        names = set(all_names)
        missing = [name for name in all_names if name not in known and name not in sparse_names]
        difference = names_differ(missing, [name for name in dense if name not in names])
        if difference:
            origin = f" of {self.provenance['file']}" if "file" in self.provenance else ""
            raise ConfigError(f"the weights{origin} are for other features: the file {difference}")
        return np.array([known.get(name, 0.0) for name in all_names], np.float64)

    def vector_for(self, table: FeatureTable) -> FloatArray:
        """The weights in the order of a table's columns. Raises ConfigError as `vector` does."""
        return self.vector(table.all_names, frozenset(table.sparse.names))

    def dense_for(self, all_names: Sequence[str], sparse_names: Collection[str]) -> Mapping[str, float]:
        """The dense weights by name; those called F0, F1, ... get the names of the table's features, by position."""
        wanted = [name for name in all_names if name not in sparse_names and name not in self.sparse]
        anonymous = [f"F{i}" for i in range(len(self.dense))]
        if list(self.dense) != anonymous or len(wanted) != len(anonymous) or set(wanted) & set(anonymous):
            return self.dense
        return dict(zip(wanted, self.dense.values(), strict=True))


def grouped(weights: Mapping[str, float]) -> dict[str, list[float] | float]:
    """The weights with each run X_0, X_1, ... as a list under the name X (see `label_groups`)."""
    return {
        label: [weights[name] for name in members] if len(members) > 1 else weights[label]
        for label, members in label_groups(list(weights))
    }


def expand_group(label: str, values: Sequence[float]) -> dict[str, float]:
    """The weights of a group by name: X for a single value, X_0, X_1, ... for several."""
    if len(values) == 1:
        return {label: values[0]}
    return {f"{label}_{i}": value for i, value in enumerate(values)}


@dataclass(frozen=True)
class TomlFile:
    """The name of a TOML file, as error messages show it, its text and its content."""

    name: str
    text: str
    document: Mapping[str, Any]

    def error(self, message: str, key: str | None = None) -> FormatError:
        """The error to raise, with the line of the key, which tomllib does not give."""
        line = None
        if key is not None:
            pattern = re.compile(rf"""\s*\[?\s*["']?{re.escape(key)}["']?\s*[\]=.]""")
            line = next((i for i, line in enumerate(self.text.split("\n"), 1) if pattern.match(line)), None)
        return FormatError(message, path=self.name, line=line)


def read_toml(path: str | Path) -> TomlFile:
    """Read a file, compressed or not; `-` is stdin. Raises FormatError, with the line, where it is not valid TOML."""
    name = display_name(path)
    with open_text(path) as lines:
        text = "".join(lines)
    try:
        return TomlFile(name, text, read_toml_table(text))
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"line (\d+)", str(error))
        raise FormatError(f"not valid TOML: {error}", path=name, line=int(at[1]) if at else None) from None


def write_toml(document: Mapping[str, Any], path: str | Path) -> None:
    """Write a document to a file; `-` is stdout."""
    with open_atomic(path) as stream:
        stream.write(tomli_w.dumps(document))


def plain_values(value: Any) -> Any:
    """The value in TOML's types: without None, with sequences as arrays, numpy values as Python's and paths as text."""
    if isinstance(value, Mapping):
        return {str(key): plain_values(item) for key, item in value.items() if item is not None}
    if isinstance(value, str | bool | int | float):
        return value
    if hasattr(value, "tolist"):
        return plain_values(value.tolist())
    if isinstance(value, Sequence):
        return [plain_values(item) for item in value if item is not None]
    return str(value)


def write_weights(weights: Weights, path: str | Path) -> None:
    """Write weights.toml, completely or not at all; `-` is stdout."""
    provenance = {key: value for key, value in weights.provenance.items() if key != "file"}
    document = {
        "decision": weights.decision,
        "scale": weights.scale,
        "evidence": weights.evidence,
        "margin": weights.margin if weights.margin else {},
        "dense": grouped(weights.dense),
        "sparse": dict(weights.sparse),
        "provenance": plain_values(provenance),
    }
    write_toml({key: value for key, value in document.items() if value != {} or key == "dense"}, path)


def read_weights_toml(path: str | Path) -> Weights:
    """Read weights.toml. Raises FormatError, with the line."""
    file = read_toml(path)
    for key in file.document:
        if key not in KEYS:
            raise file.error(f"unknown key {key!r}{suggestion(key, KEYS)}", key)
    decision, scale = file.document.get("decision", "map"), file.document.get("scale", 1.0)
    if decision not in ("map", "mbr"):
        raise file.error(f"decision is {decision!r}, expected 'map' or 'mbr'", "decision")
    scale = _numbers("scale", [scale], file)[0]
    evidence = file.document.get("evidence", 0)
    if not isinstance(evidence, int) or evidence < 0:
        raise file.error(f"evidence is {evidence!r}, expected a number of hypotheses (0: all)", "evidence")
    margin = file.document.get("margin", 0.0)
    if isinstance(margin, bool) or not isinstance(margin, int | float) or not margin >= 0:
        raise file.error(f"margin is {margin!r}, expected a number of 0 or more (inf: keep every 1-best)", "margin")
    sections: dict[str, dict[str, float]] = {"dense": {}, "sparse": {}}
    for section, weights in sections.items():
        for label, value in _table(section, file).items():
            values = _numbers(label, value if isinstance(value, list) else [value], file)
            new = {f"{label}_{i}": v for i, v in enumerate(values)} if isinstance(value, list) else {label: values[0]}
            twice = next((key for key in new if key in sections["dense"] or key in sections["sparse"]), None)
            if twice is not None:
                raise file.error(f"feature {twice!r} has two weights", label)
            weights.update(new)
    if not sections["dense"] and not sections["sparse"]:
        raise file.error("no weights: expected a table [dense] with a number per feature")
    provenance = {**_table("provenance", file), "file": file.name}
    return Weights(sections["dense"], sections["sparse"], decision, scale, evidence, provenance, float(margin))


def _table(key: str, file: TomlFile) -> dict[str, Any]:
    table = file.document.get(key, {})
    if not isinstance(table, dict):
        raise file.error(f"{key} is {table!r}, expected a table [{key}]", key)
    return table


def _numbers(label: str, values: Sequence[Any], file: TomlFile) -> list[float]:
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
            raise file.error(f"the weight of {label!r} is {value!r}, expected a finite number", label)
    if not values:
        raise file.error(f"{label!r} has no weight", label)
    return [float(value) for value in values]


def made_at() -> str:
    """The present time, or that of `SOURCE_DATE_EPOCH` (seconds since 1970), by which equal runs write equal files.

    Raises ConfigError where the variable is no number of seconds.
    """
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch is None:
        return datetime.now(UTC).isoformat(timespec="seconds")
    try:
        return datetime.fromtimestamp(int(epoch), UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        raise ConfigError(f"SOURCE_DATE_EPOCH is {epoch!r}, expected seconds since 1970") from None
