"""Describes what the values of a feature depend on besides the lists, which is the key under which they are kept.

Within one job, the description of core/identity.py is enough: class, options, files. Values that outlive the job also
depend on the code that the class uses. Their identity therefore contains a hash of the whole package of each class in
the description (a class of `my_plugins.features` depends on all of `my_plugins`, with its data files) and the versions
of the libraries that compute. Values are not kept beyond the job where this is not enough to be sure: the class is
defined in a plugin file, which may import anything, or in a script; an option is a file that cannot be read. A class
variable `cached` of the extractor decides otherwise: False keeps its values out of the cache; True declares that its
own source file, options and `resources` are all that they depend on.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from rerank_adapters.chain.extraction.plan import Plan
from rerank_plugins import __version__
from rerank_plugins.core.identity import describe
from rerank_plugins.core.loader import FILE_MODULE

LIBRARIES = ("numpy", "numba", "kenlm", "sacrebleu", "rapidfuzz")
WHOLE = 1 << 16  # bytes of a data file that are hashed; of a larger one, the size and as many bytes at its end
TEXT = "rerank_adapters.text"  # the package of the text pipelines


class ValueIdentity(NamedTuple):
    """The JSON text of all that the values depend on, and whether that is enough to keep them beyond the job."""

    text: str
    lasting: bool


def value_identity(plan: Plan, label: str) -> ValueIdentity:
    """The identity of the values of one feature of a plan. Raises what `describe` raises."""
    extractor = plan.extractors[label]
    text, source = plan.pipelines(label)
    description = {
        "extractor": describe(extractor, file_names=False),
        "components": list(extractor.components),
        "text": text.describe(),
        "source": source.describe(),
    }
    sure, code = code_of(description, TEXT) if extractor.cached is not False else (False, {})
    lasting = sure and "options" in description["extractor"] if extractor.cached is None else extractor.cached
    identity = {"values": description, **code}
    return ValueIdentity(json.dumps(identity, ensure_ascii=False, sort_keys=True), lasting)


def code_of(description: Any, *packages: str) -> tuple[bool, dict[str, Any]]:
    """What the objects of a description (identity.py) depend on besides it: the code of their packages, and libraries.

    Hashes of the `packages` named are added. The first value is whether this is all that they depend on.
    """
    classes = set(_named(description, "class"))
    names = {_package(name.rpartition(".")[0]) for name in classes}
    hashes = {package: package_hash(package) for package in sorted({*names, *packages})}
    sure = all(hashes.values()) and "no file" not in _texts(description) and not any("<locals>" in c for c in classes)
    libraries = {name: _version(name) for name in LIBRARIES}
    return sure, {"version": __version__, "packages": hashes, "libraries": libraries}


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


@cache
def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None
