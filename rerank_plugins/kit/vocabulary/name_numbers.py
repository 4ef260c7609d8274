"""Numbers names in the order of their first occurrence, while a training corpus is read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

import numpy as np

from rerank_plugins.core.arrays import IntArray


class Numbering:
    """A growing table of names: a name that is new gets the next number. The names `first` have the first numbers.

    >>> numbering = Numbering(["<unk>"])
    >>> [numbering.number_of(name) for name in ("a", "b", "a")]
    [1, 2, 1]
    """

    def __init__(self, first: Iterable[str] = ()) -> None:
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__
        for name in first:
            self.number_of(name)

    def number_of(self, name: str) -> int:
        """The number of a name, which is added if it is new."""
        return self._numbers[name]

    def numbers_of(self, names: Iterable[str], size: int = -1) -> IntArray:
        """(n) the numbers of names, of which new ones are added; `size` is n where that is known."""
        return np.fromiter(map(self._numbers.__getitem__, names), np.int32, size)

    def as_dict(self) -> dict[str, int]:
        """The number of each name so far, in the order of the numbers."""
        return dict(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)
