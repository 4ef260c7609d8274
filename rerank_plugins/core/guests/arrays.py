"""Checks of arrays that guests return: float64, of one shape, finite, and in a range."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.guests.calls import Call
from rerank_plugins.core.guests.names import shown

ROUNDING = 1e-6  # how far above 0 a logarithm may be for each word


def type_of(value: object) -> str:
    """What a value is, for messages: its type or, of an array, the type of its elements and its shape."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of shape {value.shape}"
    return "None" if value is None else f"the {type(value).__name__} {shown(value)}"


def several(value: object) -> str:
    """What a value in the place of a list is, and how long it is."""
    return f"a {type(value).__name__} of {len(value)}" if isinstance(value, list | tuple) else type_of(value)


def numbers(call: Call, value: Any, shape: tuple[int | None, ...], of: str, where: str = "") -> FloatArray:
    """The value if it is a float64 array of this shape (None: any length). Raises GuestError, which says what it is of.

    A number is an array without axes.
    """
    if isinstance(value, np.float64 | float) and not shape:
        return np.asarray(value, np.float64)
    is_array = isinstance(value, np.ndarray) and value.dtype == np.float64 and value.ndim == len(shape)
    if not is_array or any(there not in (here, None) for here, there in zip(value.shape, shape, strict=True)):
        sizes = ", ".join("any" if length is None else str(length) for length in shape)
        raise call.wanted(type_of(value), f"a float64 array of shape {of} = ({sizes})", where)
    found: FloatArray = value
    return found


def finite(call: Call, values: FloatArray, place: Callable[[tuple[int, ...]], str], where: str = "") -> None:
    """Raise GuestError for the first number that is not finite; `place` says where its index is."""
    if not np.isfinite(values).all():
        at = tuple(map(int, np.argwhere(~np.isfinite(values))[0]))
        raise call.wanted(str(values[at]), "finite numbers", ", ".join(filter(None, (where, place(at)))))


def logarithms(call: Call, value: Any, length: int, of: str, where: str) -> None:
    """Check the natural logs of probabilities: (length), finite, at most 0 but for rounding."""
    values = numbers(call, value, (length,), of, where)
    finite(call, values, lambda at: f"value {at[0] + 1} of {length}", where)
    if (values > ROUNDING).any():
        at = int(np.argmax(values))
        raise call.wanted(f"ln p = {values[at]:g}", "0 or less", f"{where}, value {at + 1} of {length}")
