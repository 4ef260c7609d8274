"""Describes what an object's results depend on, as plain values and hashes: its class, source code, options and files.

Two objects with equal descriptions compute the same results. Hence the finished parts of an interrupted extraction, the
columns of a feature table and cached parses are reused exactly when the description of the object that computed them is
unchanged. The description does not cover modules that a plugin imports.
"""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import json
import pickle
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from rerank_plugins.core.errors import PluginError
from rerank_plugins.core.paths import content_hash


def describe(value: Any, *, file_names: bool = True) -> Any:
    """Plain values, which JSON can hold, that change whenever the results of `value` may change.

    A path becomes the name of the file and the hash of its content; without the name if `file_names` is false, so that
    copies of a file are equal. A dataclass becomes its class, the hash of the source file of that class, and its fields
    (`options`), except caches, whose names begin with `_`, and options that do not change results. Two attributes of a
    dataclass are described as well: `engines`, a tuple of the distributions that it uses, by their versions, and
    `resources`, the files that it reads besides its options. Any other object becomes its class and the hash of its
    pickle.

    Raises PluginError for an object that cannot be pickled, and any error that the property `resources` raises.
    """

    def inner(item: Any) -> Any:
        return describe(item, file_names=file_names)

    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Path):
        digest = path_hash(value)
        if file_names:
            return {"file": value.name, "sha256": digest}
        return f"sha256:{digest}" if digest else "no file"
    if isinstance(value, Mapping):
        return {str(key): inner(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [inner(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((inner(item) for item in value), key=repr)
    if isinstance(value, np.ndarray):
        return {"array": _hash(value.tobytes()), "shape": list(value.shape), "type": str(value.dtype)}
    kind = type(value)
    description: dict[str, Any] = {"class": f"{kind.__module__}.{kind.__qualname__}", "code": _code_hash(kind)}
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return description | {"pickle": _pickle_hash(value)}
    if isinstance(engines := getattr(value, "engines", None), tuple):
        description["engines"] = {name: _version(name) for name in engines}
    if resources := getattr(value, "resources", None):
        description["resources"] = inner(resources)
    names = [
        field.name
        for field in dataclasses.fields(value)
        if not field.name.startswith("_") and field.metadata.get("changes_results", True)
    ]
    return description | {"options": {name: inner(getattr(value, name)) for name in names}}


def plain_hash(value: Any) -> str:
    """The SHA-256 of plain values (those that JSON can hold), in hexadecimal digits."""
    return _hash(json.dumps(value, ensure_ascii=False, sort_keys=True).encode())


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def path_hash(path: Path) -> str | None:
    """The hash of a file or of all files of a folder; None if it cannot be read, an error that opening it reports."""
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())
        return plain_hash([[str(file.relative_to(path)), path_hash(file)] for file in files])
    try:
        return content_hash(path)
    except OSError:
        return None


def _code_hash(kind: type) -> str:
    """The hash of the source file of a class; empty for a class without one (defined interactively, or compiled)."""
    try:
        file = inspect.getsourcefile(kind)
    except (OSError, TypeError):
        return ""
    return (path_hash(Path(file)) or "")[:16] if file else ""


def _pickle_hash(value: Any) -> str:
    try:
        return _hash(pickle.dumps(value))
    except Exception as error:  # the __reduce__ of a plugin's class may raise any error
        kind = type(value)
        message = f"{kind.__module__}.{kind.__qualname__} cannot be sent to another process: {error}"
        raise PluginError(message) from error


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None
