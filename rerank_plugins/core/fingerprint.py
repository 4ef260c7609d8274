"""Describes what an object's results depend on, as plain values and hashes: its class, source code, options and files.

Two objects with equal descriptions compute the same results. Hence the finished parts of an interrupted extraction, the
columns of a feature table and cached parses are reused exactly when the description of the object that computed them is
unchanged. The description does not cover modules that a plugin imports.

What outlives a job also depends on the code that the classes use (`Fingerprint.of`): hashes of the whole package of
each class in the description (a class of `my_plugins.features` depends on all of `my_plugins`, with its data files),
and the versions of the libraries that compute. The fingerprint is not complete where a class is defined in a plugin
file, which may import anything, or in a script, and where an option is a file that cannot be read.
"""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import json
import pickle
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from rerank_plugins.core.errors import PluginError
from rerank_plugins.core.paths import FILE_MODULE, content_hash

LIBRARIES = ("numpy", "numba", "kenlm", "sacrebleu", "rapidfuzz")
LOCAL = "<locals>"  # in the qualified name of what is defined in a function
WHOLE = 1 << 16  # bytes of a data file that are hashed; of a larger one, the size and as many bytes at its end


@dataclass(frozen=True)
class Fingerprint:
    """All that a result depends on, as plain values, which JSON can hold.

    `complete` says whether nothing else can change the result; only then may it be used again when the hash is equal.
    """

    values: Any
    complete: bool = True

    @classmethod
    def of(cls, values: Mapping[str, Any], *packages: str) -> Fingerprint:
        """The fingerprint of what depends on these values, in which descriptions of objects may be, and on code.

        The code is that of all classes in the values and of the `packages` named; libraries count by their versions.
        """
        sure, code = _code_of(values, *packages)
        return cls({**values, **code}, sure)

    @cached_property
    def text(self) -> str:
        """The values as JSON."""
        return json.dumps(self.values, ensure_ascii=False, sort_keys=True)

    @property
    def hash(self) -> str:
        """The SHA-256 of the values, in hexadecimal digits."""
        return _hash(self.text.encode())


def describe(value: Any, *, file_names: bool = True) -> Any:
    """Plain values, which JSON can hold, that change whenever the results of `value` may change.

    A path becomes the name of the file and the hash of its content; without the name if `file_names` is false, so that
    copies of a file are equal. A dataclass becomes its class, the hash of the source file of that class, and its fields
    (`options`), except caches, whose names begin with `_`, and options that do not change results. Two attributes of a
    dataclass are described as well: `engines`, a tuple of the distributions that it uses, by their versions, and
    `resources`, the files that it reads besides its options. Any other object becomes its class and the hash of its
    pickle, or its attributes if the class is defined in a function.

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
        if LOCAL in kind.__qualname__ and hasattr(value, "__dict__"):  # no pickle holds an object of such a class
            return description | {"attributes": inner(vars(value))}
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


@cache
def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def _code_of(description: Any, *packages: str) -> tuple[bool, dict[str, Any]]:
    """What the objects of a description depend on besides it: the code of their packages, and libraries.

    Hashes of the `packages` named are added. The first value is whether this is all that they depend on.
    """
    classes = set(_named(description, "class"))
    names = {_package(name.rpartition(".")[0]) for name in classes}
    hashes = {package: package_hash(package) for package in sorted({*names, *packages})}
    sure = all(hashes.values()) and "no file" not in _texts(description) and not any(LOCAL in c for c in classes)
    libraries = {name: _version(name) for name in LIBRARIES}
    return sure, {"packages": hashes, "libraries": libraries}


def _named(description: Any, key: str) -> Iterator[str]:
    """The texts under a key of a description, at any depth."""
    if isinstance(description, dict):
        if isinstance(description.get(key), str):
            yield description[key]
        description = list(description.values())
    if isinstance(description, list):
        for value in description:
            yield from _named(value, key)


def _texts(value: Any) -> Iterator[str]:
    """The texts among the values of a description, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)


def _package(module: str) -> str:
    return module if module.startswith(FILE_MODULE) or module == "__main__" else module.partition(".")[0]


@cache
def package_hash(name: str) -> str | None:
    """The hash of all files of a package (of a module: of its file); None for a plugin file, a script, or no files.

    Code is hashed whole, and of a large data file its size and its end, where model files have their checksums.
    """
    module = sys.modules.get(name)
    if module is None or not getattr(module, "__file__", None) or name.startswith(FILE_MODULE) or name == "__main__":
        return None
    origin = Path(str(module.__file__))
    files = sorted(_files(origin.parent)) if hasattr(module, "__path__") else [origin]
    digest = hashlib.sha256()
    try:
        for file in files:
            with open(file, "rb") as stream:
                size = stream.seek(0, 2)
                stream.seek(0 if file.suffix == ".py" else max(0, size - WHOLE))
                digest.update(f"{file.relative_to(origin.parent)} {size}\0".encode())
                digest.update(stream.read())
    except OSError:
        return None
    return digest.hexdigest()


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.suffix not in (".pyc", ".nbi", ".nbc", ".tmp") and "__pycache__" not in path.parts and path.is_file():
            yield path
