"""One identity: a hash of all that the results of objects depend on.

Two objects of the same identity compute the same results. It keys the objects in use, the values in the cache, the
columns of feature tables and the stages of a run; there is no second kind of fingerprint.

An identity contains, for each object, its class, its options and the content of the files among these; for each class,
the code of its package with its data files (a class of `my_plugins.features` depends on all of `my_plugins`); and the
versions of the libraries that compute. Of a class in a plugin file or a script, it contains the code of that file and
of the modules beside it that are imported. A feature that depends on more than that says `cached = False`. A class
without a file of code, or inside a function, and a file that cannot be read have another identity in each process, so
that nothing which outlives the process is taken for theirs.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import pickle
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import accumulate
from pathlib import Path
from typing import Any
from uuid import uuid4
from weakref import WeakKeyDictionary

import numpy as np

from rerank_plugins.core.errors import PluginError
from rerank_plugins.core.files import FILE_MODULE, content_hash

LIBRARIES = ("numpy", "scipy", "numba", "kenlm", "sacrebleu", "rapidfuzz")
LOCAL = "<locals>"  # in the qualified name of what is defined in a function
DATA_BYTES = 1 << 16  # bytes at the end of a package's data file that count: model files have their checksums there
BUILT = (".pyc", ".nbi", ".nbc", ".tmp")  # suffixes of files that are made of a package's code

_own = uuid4().hex  # of this process alone
_own_of_classes: WeakKeyDictionary[type, str] = WeakKeyDictionary()


def identity(*parts: object) -> str:
    """The identity of objects, plain values, arrays and files together: a SHA-256 in hexadecimal digits.

    A path stands for the content of its file or folder. Raises PluginError for an object that cannot be pickled and is
    no dataclass, and any error that the property `resources` of an object raises.

    >>> from pathlib import Path
    >>> identity("length", 1) == identity("length", 1) != identity("length", 2)
    True
    """
    described = describe(list(parts))
    code = {name: _code_of(name) for name in sorted(set(_classes(described)))}
    libraries = {name: _version(name) for name in LIBRARIES}
    return _hash(json.dumps([described, code, libraries], ensure_ascii=False, sort_keys=True).encode())


def describe(value: Any) -> Any:
    """The plain values, which JSON can hold, that an identity is a hash of: without code.

    A path becomes the hash of its content, and a class its name. A dataclass becomes its class and its fields
    (`options`), except caches, whose names begin with `_`, and options that do not change results. Two attributes of a
    dataclass are described as well: `engines`, a tuple of the distributions that it uses, by their versions, and
    `resources`, the files that it reads besides its options. Any other object becomes its class and the hash of its
    pickle, or its attributes if its class is defined in a function. Raises what `identity` raises.
    """
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Path):
        return f"sha256:{path_hash(value) or _own}"
    if isinstance(value, Mapping):
        return {str(key): describe(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [describe(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((describe(item) for item in value), key=repr)
    if isinstance(value, np.ndarray):
        return {"array": _hash(value.tobytes()), "shape": list(value.shape), "type": str(value.dtype)}
    if isinstance(value, type):
        return {"class": _named(value)}
    kind = type(value)
    description: dict[str, Any] = {"class": _named(kind)}
    if not dataclasses.is_dataclass(value):
        if LOCAL in kind.__qualname__ and hasattr(value, "__dict__"):  # no pickle holds an object of such a class
            return description | {"attributes": describe(vars(value))}
        return description | {"pickle": _pickle_hash(value)}
    if isinstance(engines := getattr(value, "engines", None), tuple):
        description["engines"] = {name: _version(name) for name in engines}
    if resources := getattr(value, "resources", None):
        description["resources"] = describe(resources)
    names = [
        field.name
        for field in dataclasses.fields(value)
        if not field.name.startswith("_") and field.metadata.get("changes_results", True)
    ]
    return description | {"options": {name: describe(getattr(value, name)) for name in names}}


def constructor_call(value: Any) -> str:
    """An object of a dataclass as the call that makes it: with names of files, without options at their defaults.

    >>> from rerank_plugins.core.errors import ConfigError
    >>> constructor_call(3), constructor_call(ConfigError)
    ('3', 'type')
    """
    if isinstance(value, Path):
        return value.name
    if value is None or isinstance(value, (bool, int, float, str)):
        return str(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(constructor_call, value))}]"
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return type(value).__name__
    fields = (field for field in dataclasses.fields(value) if field.init and not field.name.startswith("_"))
    values = [(field, getattr(value, field.name)) for field in fields]
    options = [f"{f.name}={constructor_call(own)}" for f, own in values if own is not f.default and own != f.default]
    return f"{type(value).__name__}({', '.join(options)})" if options else type(value).__name__


def path_hash(path: Path) -> str | None:
    """The SHA-256 of a file, or of all files of a folder with their names; None for a pipe and what cannot be read."""
    try:
        if path.is_dir():
            files = sorted(file for file in path.rglob("*") if file.is_file())
            return _hash(json.dumps([[str(file.relative_to(path)), path_hash(file)] for file in files]).encode())
        return content_hash(path) if path.is_file() else None
    except OSError:
        return None


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


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


def _named(kind: type) -> str:
    """The module and name of a class; one inside a function or without a file has a name of its own in each process."""
    name = f"{kind.__module__}:{kind.__qualname__}"
    if LOCAL not in kind.__qualname__ and (kind.__module__ in sys.builtin_module_names or _file_of(kind.__module__)):
        return name
    return f"{name} {_own_of_classes.setdefault(kind, uuid4().hex)}"


def _classes(description: Any) -> Iterator[str]:
    """The modules of the classes in a description, at any depth."""
    if isinstance(description, dict):
        if isinstance(name := description.get("class"), str):
            yield name.partition(":")[0]
        description = list(description.values())
    if isinstance(description, list):
        for value in description:
            yield from _classes(value)


def _file_of(module: str) -> Path | None:
    """The file of an imported module, if it has one."""
    file = getattr(sys.modules.get(module), "__file__", None)
    return Path(file) if file and Path(file).is_file() else None


def _code_of(module: str) -> str:
    """The hash of the code that a class of a module may use."""
    if module == "__main__" or module.startswith(FILE_MODULE):
        return _code_beside(module)
    packages = accumulate(module.split("."), "{}.{}".format)  # of which the first may be a namespace without a file
    return next((package_hash(package) for package in packages if _file_of(package)), "")


def _code_beside(module: str) -> str:
    """The hash of the code of a plugin file or script, and of the imported modules that lie in its folder or below."""
    file = _file_of(module)
    if file is None:
        return ""
    folder = file.resolve().parent
    others = {own.resolve() for name in list(sys.modules) if (own := _file_of(name))}
    files = sorted({file.resolve(), *(other for other in others if other.is_relative_to(folder))})
    return _hash(json.dumps([[str(own.relative_to(folder)), path_hash(own)] for own in files]).encode())


@cache
def package_hash(name: str) -> str:
    """The hash of all files of an imported package, or of the file of a module; empty for a module without a file.

    Code is hashed whole, and of a data file its size and its end.
    """
    origin = _file_of(name)
    if origin is None:
        return ""
    files = sorted(_files(origin.parent)) if hasattr(sys.modules[name], "__path__") else [origin]
    digest = hashlib.sha256()
    for file in files:
        with open(file, "rb") as stream:
            size = stream.seek(0, 2)
            stream.seek(0 if file.suffix == ".py" else max(0, size - DATA_BYTES))
            digest.update(f"{file.relative_to(origin.parent)} {size}\0".encode())
            digest.update(stream.read())
    return digest.hexdigest()


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.suffix not in BUILT and "__pycache__" not in path.parts and path.is_file():
            yield path
