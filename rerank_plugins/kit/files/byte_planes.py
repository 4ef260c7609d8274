"""Reorders the bytes of an array so that they compress well: column by column, and in a column byte by byte.

The records of sorted tables differ little from one to the next. Their fields are therefore taken apart; integers that
rise or stay alike are replaced by their differences; and of each column the first bytes of all values come first, then
the second bytes, and so on (the "shuffle" of Blosc and HDF5). Zstandard makes a back-off model of such bytes a third to
a half smaller than of the records themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
FAST = 1  # compression level for the choice between values and differences


def to_planes(array: NDArray[Any]) -> tuple[Bytes, list[bool]]:
    """The bytes of an array, as many as it has, and for each column whether it holds differences."""
    items = np.ascontiguousarray(array).reshape(-1)
    sections, differences = [], []
    for name, kind in _columns(items.dtype):
        column = np.ascontiguousarray(items[name]) if name else items.view(kind)
        section, differs = _planes(column), False
        if kind.kind in "iu":
            steps = _planes(np.diff(column, prepend=kind.type(0)))
            if _size(steps) < _size(section):
                section, differs = steps, True
        sections.append(section)
        differences.append(differs)
    return np.concatenate(sections), differences


def from_planes(planes: Bytes, dtype: np.dtype[Any], differences: Sequence[bool]) -> NDArray[Any]:
    """The (n) items of the array of this type whose bytes are `planes`. Raises ValueError for other columns."""
    items = np.empty(len(planes) // dtype.itemsize, dtype)
    place = 0
    for (name, kind), differs in zip(_columns(dtype), differences, strict=True):
        end = place + len(items) * kind.itemsize
        column = np.ascontiguousarray(planes[place:end].reshape(kind.itemsize, -1).T).view(kind).reshape(-1)
        if differs:
            np.cumsum(column, dtype=kind, out=column)
        if name:
            items[name] = column
        else:
            items.view(kind)[:] = column
        place = end
    return items


def _columns(dtype: np.dtype[Any]) -> list[tuple[str, np.dtype[Any]]]:
    """The names and types of the fields; one column without a name for items without fields, or with nested ones."""
    if not dtype.names:
        return [("", dtype)]
    columns = [(name, dtype[name]) for name in dtype.names]
    is_plain = all(kind.names is None and not kind.shape for _, kind in columns)
    is_packed = sum(kind.itemsize for _, kind in columns) == dtype.itemsize
    return columns if is_plain and is_packed else [("", np.dtype((np.void, dtype.itemsize)))]


def _planes(column: NDArray[Any]) -> Bytes:
    """The first bytes of all values of a column, then the second bytes, and so on."""
    return np.ascontiguousarray(column.view(np.uint8).reshape(-1, column.dtype.itemsize).T).reshape(-1)


def _size(content: Bytes) -> int:
    """The size of the compressed bytes."""
    import zstandard

    return len(zstandard.ZstdCompressor(FAST).compress(content.data))
