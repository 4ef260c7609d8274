"""Array types, named after their elements."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]  # scores, probabilities, weights
IntArray = NDArray[np.int32]  # numbers of words, symbols, rules and nodes
PlaceArray = NDArray[np.uint32]  # places that inner loops read: of signed ones, machine code asks if they are below 0
LongArray = NDArray[np.int64]  # offsets into other arrays, counts
BoolArray = NDArray[np.bool_]

Scalar = TypeVar("Scalar", bound=np.generic)


def all_in_range(numbers: NDArray[np.integer], size: int) -> bool:
    """Whether all numbers are places in an array of this length."""
    return not numbers.size or bool(numbers.min() >= 0 and numbers.max() < size)


def is_offset_array(starts: NDArray[np.integer], end: int) -> bool:
    """Whether these are where the parts of an array begin, and its end: they rise from 0 to `end`."""
    return len(starts) > 0 and bool(starts[0] == 0 and starts[-1] == end and (starts[1:] >= starts[:-1]).all())


def read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """A view of an array that cannot be written."""
    view = array.view()
    view.flags.writeable = False
    return view
