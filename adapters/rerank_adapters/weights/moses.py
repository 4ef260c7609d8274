"""Moses's weights files: dense (`name= v v v`, as `moses -show-weights` prints and kbmira reads), sparse (`name v`).

The output of kbmira (`F0 0.1`, then sparse features) and of mert (only numbers, called F0, F1, ...) can be read too;
its dense weights lack the names of the features and are assigned by position (`Weights.vector`). A name with an
underscore is a sparse feature, as in n-best lists, unless it is one of a run X_0, X_1, ...

The [weight] section of moses.ini (Moses 1.0 and later) is read and replaced. Features that Moses does not tune
(`tuneable=false`, UnknownWordPenalty, single values by `tuneable-components`) are not in its n-best lists; the reader
skips them and the writer keeps their weights. The sections [weight-t], [weight-l] ... of Moses before 1.0 and the file
of sparse weights named by [weight-file] are not supported.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import inf
from pathlib import Path

from rerank_adapters.formats.items import names_differ
from rerank_adapters.weights.named_weights import Weights, expand_group, grouped
from rerank_plugins import ConfigError, FormatError, open_atomic, open_text
from rerank_plugins.kit.files.text import display_name, finite_value, shortest

UNTUNED = ("UnknownWordPenalty",)


def weight_line(text: str, path: str, line: int) -> tuple[str, list[float]]:
    """The label ("" where there are only numbers) and the values of a line `name= v v`, `name=v` or `name v`.

    Raises FormatError for a value that is not a finite number, and for a line without values.
    """
    first, *tokens = text.split()
    if tokens and tokens[0].startswith("="):  # name = value, name =value
        first, tokens = f"{first}{tokens[0]}", tokens[1:]
    label, equals, joined = first.rpartition("=")
    if equals and not joined:
        named = bool(label)
    elif _is_number(joined):  # name=value, or (no "=") a number alone
        named, tokens = bool(label) or not equals, [joined, *tokens]
    else:
        named, label = True, first
    if not named:
        raise FormatError(f"found {text.strip()!r}, expected 'name= value ...'", path=path, line=line)
    if not tokens:
        raise FormatError(f"found {text.strip()!r}, expected a name and its weight", path=path, line=line)
    return label, [finite_value(token, f"a weight of {label!r}", path, line, largest=inf) for token in tokens]


def _is_number(token: str) -> bool:
    try:
        float(token)
    except ValueError:
        return False
    return True


def read_moses_weights(path: str | Path) -> Weights:
    """Read a file of dense weights, of sparse weights, or of both. Raises FormatError with the line."""
    name = display_name(path)
    weights: dict[str, float] = {}
    with open_text(path) as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip() or line.startswith("#"):
                continue
            label, values = weight_line(line, name, number)
            new = expand_group(label, values) if label else {f"F{i}": value for i, value in enumerate(values)}
            twice = next((key for key in new if key in weights), None)
            if twice is not None:
                raise FormatError(f"feature {twice!r} has two weights", path=name, line=number)
            weights.update(new)
    if not weights:
        raise FormatError("the file is empty, expected a line per feature: name and weight", path=name)
    sparse = {key: value for key, value in weights.items() if "_" in key and not _in_run(key, weights)}
    dense = {key: value for key, value in weights.items() if key not in sparse}
    return Weights(dense, sparse, provenance={"file": name})


def _in_run(name: str, names: dict[str, float]) -> bool:
    """Whether the name is X_i and all of X_0, X_1, ... X_i are among the names."""
    stem, _, index = name.rpartition("_")
    digits = index.isascii() and index.isdigit() and (index == "0" or index[0] != "0")
    return digits and int(index) < len(names) and all(f"{stem}_{i}" in names for i in range(int(index)))


def write_moses_dense(weights: Weights, path: str | Path) -> None:
    """Write the dense weights, one `name= v v v` per line, as kbmira's option -d reads them."""
    with open_atomic(path) as stream:
        stream.writelines(line + "\n" for line in dense_lines(weights))


def write_moses_sparse(weights: Weights, path: str | Path) -> None:
    """Write the sparse weights, one `name value` per line, as Moses's weight-file reads them."""
    with open_atomic(path) as stream:
        stream.writelines(f"{name} {shortest(value)}\n" for name, value in weights.sparse.items())


def dense_lines(weights: Weights) -> list[str]:
    """A line `name= v v v` for each group of dense features."""
    return [
        f"{label}= {' '.join(map(shortest, value if isinstance(value, list) else [value]))}"
        for label, value in grouped(weights.dense).items()
    ]


@dataclass(frozen=True)
class _Group:
    """A line of the [weight] section: its line number, its label, its values, and which of the values are tuned."""

    line: int
    label: str
    values: list[float]
    tuned: list[bool]

    @property
    def weights(self) -> dict[str, float]:
        """The weights of the tuned values, by their names in the n-best list."""
        kept = [value for value, tuned in zip(self.values, self.tuned, strict=True) if tuned]
        return expand_group(self.label, kept) if kept else {}


def read_moses_ini(path: str | Path) -> Weights:
    """Read the tuned weights of a moses.ini. Raises FormatError, also where it has no [weight] section."""
    _, groups = _parsed(path)
    dense = {name: value for group in groups for name, value in group.weights.items()}
    return Weights(dense, provenance={"file": display_name(path)})


def write_moses_ini(
    weights: Weights, template: str | Path, path: str | Path, *, decoder_features_only: bool = False
) -> None:
    """Write `template`, a moses.ini, with these weights in its [weight] section; every other byte stays the same.

    Raises ConfigError where the dense features differ from those of the template. With `decoder_features_only`, weights
    of features that the decoder does not have are left out, as those of a reranker's own features must be.
    """
    lines, groups = _parsed(template)
    wanted = [name for group in groups for name in group.weights]
    written = [name for name in weights.dense if name in wanted or not decoder_features_only]
    difference = names_differ(wanted, written)
    if difference:
        raise ConfigError(f"these weights do not fit {display_name(template)}: the list of weights {difference}")
    for group in groups:
        line = lines[group.line - 1]
        new = iter([weights.dense[name] for name in group.weights])
        values = [next(new) if tuned else value for value, tuned in zip(group.values, group.tuned, strict=True)]
        if any(group.tuned):
            end = line[len(line.rstrip()) :]
            lines[group.line - 1] = f"{line[: line.index('=') + 1]} {' '.join(map(shortest, values))}{end}"
    with open_atomic(path) as stream:
        stream.writelines(lines)


def moses_weight_section(weights: Weights) -> str:
    """A [weight] section with the dense weights only, to be pasted into a moses.ini."""
    return "\n".join(["[weight]", *dense_lines(weights), ""])


def _parsed(path: str | Path) -> tuple[list[str], list[_Group]]:
    """The lines of a moses.ini and the groups of its [weight] section. Raises FormatError with the line."""
    name = display_name(path)
    with open_text(path) as stream:
        lines = list(stream)
    section, tuned_by_label, entries = "", dict[str, list[bool]](), list[tuple[int, str, list[float]]]()
    count: Counter[str] = Counter()
    sections = set()
    for number, line in enumerate(lines, 1):
        text = line.partition("#")[0].strip()
        if text.startswith("["):
            section = text.strip("[] ")
            sections.add(section)
        elif text and section == "feature":
            label, tuned = _feature(text, count)
            if tuned is not None:
                tuned_by_label[label] = tuned
        elif text and section == "weight":
            label, values = weight_line(text, name, number)
            if not label or any(label == other for _, other, _ in entries):
                what = f"{label!r} occurs twice" if label else "a weight without a name"
                raise FormatError(f"{what} in [weight]", path=name, line=number)
            entries.append((number, label, values))
    if "weight" not in sections:
        raise FormatError("no [weight] section: expected the moses.ini of Moses 1.0 or later", path=name)
    if not entries:
        raise FormatError("the [weight] section is empty", path=name)
    groups = []
    for number, label, values in entries:
        tuned = tuned_by_label.get(label, [not label.startswith(UNTUNED)])
        tuned = tuned * len(values) if len(tuned) == 1 else tuned
        if len(tuned) != len(values):
            message = f"{label!r} has {len(values)} weights, but tuneable-components names {len(tuned)}"
            raise FormatError(message, path=name, line=number)
        groups.append(_Group(number, label, values, tuned))
    return lines, groups


def _feature(text: str, count: Counter[str]) -> tuple[str, list[bool] | None]:
    """The name of a [feature] line, and which of its values are tuned (one truth value: all; None: not stated)."""
    kind, *rest = text.split()
    options = dict(token.split("=", 1) for token in rest if "=" in token)
    label = options.get("name", f"{kind}{count[kind]}")
    count[kind] += 1
    if "tuneable-components" in options:
        return label, [_true(value) for value in options["tuneable-components"].split(",")]
    if "tuneable" in options:
        return label, [_true(options["tuneable"])]
    return label, [False] if kind in UNTUNED else None


def _true(value: str) -> bool:
    return value.lower() in ("1", "true", "yes", "y")
