"""The objects in use in this process that several users share: plugins, embedded models, and their parts.

An object is found again under its key, which says all that it is made of, as long as somebody uses it. Features with
the same model thus load it once, and a parser that two of them use parses each sentence once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, MutableMapping
from typing import Any, TypeVar
from weakref import WeakValueDictionary

T = TypeVar("T")

_in_use: WeakValueDictionary[Hashable, Any] = WeakValueDictionary()


def objects_in_use() -> MutableMapping[Hashable, Any]:
    """All of them by key; those that nobody uses any more are not among them."""
    return _in_use


def shared(key: Hashable, make: Callable[[], T]) -> T:
    """The object in use under this key, or else the one that `make` makes: one for all that use it at a time.

    Nobody may change the object, and weak references to it must be possible.
    """
    found: T | None = _in_use.get(key)
    if found is None:
        _in_use[key] = found = make()
    return found
