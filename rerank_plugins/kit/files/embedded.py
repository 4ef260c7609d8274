"""Finds the files of embedded models, and reads each model once for all parts of a process."""

from __future__ import annotations

from collections.abc import Callable, Hashable, MutableMapping
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakValueDictionary

T = TypeVar("T")
FOLDER = Path(str(files("rerank_plugins.resources")))
ENGLISH = "en"  # the language of the models that are used where no other one is named

_shared: MutableMapping[Hashable, Any] = WeakValueDictionary()


def embedded(name: str, language: str = ENGLISH) -> Path:
    """The path of an embedded file, such as `grammar.pcfg`; `resources/LANGUAGE/README.md` describes its training."""
    return FOLDER / language / name


def shared(key: Hashable, read: Callable[[], T]) -> T:
    """The embedded model that `read` reads: one object under each key for all that use it at a time.

    Nobody may change the model, and weak references to it must be possible.
    """
    model: T | None = _shared.get(key)
    if model is None:
        _shared[key] = model = read()
    return model


def shared_if_embedded(path: Path, read: Callable[[Path], T]) -> T:
    """The model that `read` reads from a file; that of an embedded file is shared."""
    return shared(path, lambda: read(path)) if path.is_relative_to(FOLDER) else read(path)


def keep_shared() -> None:
    """Keep embedded models in memory from now on, even while nobody uses them."""
    global _shared  # noqa: PLW0603
    _shared = dict(_shared)
