"""Moses's weights files: dense (`name= v v v`, as `moses -show-weights` prints and kbmira reads) and sparse (`name v`).

The output of kbmira (`F0 0.1`, then sparse features) and of mert (only numbers, called F0, F1, ...) can be read too;
its dense weights lack the names of the features and are assigned by position (`Weights.vector`). A name with an
underscore is a sparse feature, as in n-best lists, unless it is one of a run X_0, X_1, ...
"""

from __future__ import annotations

from pathlib import Path

from rerank_adapters.weights.values import Weights, grouped, ungrouped
from rerank_plugins.core.errors import FormatError
from rerank_plugins.kit.files.text import display_name, finite, open_atomic, open_text, shortest


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
    try:
        return label, [finite(token) for token in tokens]
    except ValueError as error:
        raise FormatError(f"a weight of {label!r} {error}", path=path, line=line) from None


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
            new = ungrouped(label, values) if label else {f"F{i}": value for i, value in enumerate(values)}
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
