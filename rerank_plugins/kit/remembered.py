"""Dictionaries of computed values, with a bound in bytes: whoever reads texts for days must forget some."""

from __future__ import annotations

from collections.abc import Hashable
from sys import getsizeof
from typing import TypeVar

import numpy as np

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
ENTRY_BYTES = 100  # bytes that a dictionary takes for an entry, beside its key and value
MEGABYTE = 1_000_000


class Remembered(dict[Key, Value]):
    """A dictionary that forgets everything when it is asked to make room while it holds more than `most` bytes.

    >>> squares = Remembered(1000)
    >>> for number in range(20):
    ...     squares.make_room()
    ...     _ = squares.keep(number, number**2)
    >>> len(squares), squares.bytes < 1200
    (6, True)
    """

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most, self.bytes = most, 0

    def make_room(self) -> None:
        """Forget everything if the values take more bytes than they may."""
        if self.bytes > self.most:
            self.clear()
            self.bytes = 0

    def keep(self, key: Key, value: Value, size: int | None = None) -> Value:
        """Remember a value, which is returned. Its size in bytes is estimated where it is not said."""
        self.bytes += ENTRY_BYTES + size_of(key) + (size_of(value) if size is None else size)
        self[key] = value
        return value


def size_of(value: object) -> int:
    """The bytes of a text, a number, an array or a tuple of them. Equal items of a tuple all count."""
    if isinstance(value, np.ndarray):
        return 112 + value.nbytes
    return getsizeof(value) + (sum(map(size_of, value)) if isinstance(value, tuple) else 0)
