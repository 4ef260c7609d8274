"""Columns of other libraries as lists of Python's own values: arrays of NumPy and Arrow, and series of data frames."""

from __future__ import annotations

from typing import Any

TO_LISTS = ("to_pylist", "tolist", "to_list")  # of Arrow, of NumPy and pandas, of polars
SHOWN = 60  # characters of a wrong argument


def plain(values: Any) -> Any:
    """Convert a column to a list and a NumPy scalar to a number; return anything else unchanged.

    Raises TypeError for a set, whose order differs from one process to the next.

    >>> import numpy as np
    >>> plain(np.array(["so", "it"])), plain(np.int64(3)), plain(("a", "b"))
    (['so', 'it'], 3, ('a', 'b'))
    """
    if isinstance(values, set | frozenset):
        raise TypeError(f"wanted values in their order, found a set, which has none: {one_line(values)}")
    for name in TO_LISTS:
        if callable(method := getattr(values, name, None)):
            return method()
    return values


def one_line(value: object) -> str:
    """The beginning of a value in one line, as a message shows what was found.

    >>> one_line(["a b", "c"])
    "['a b', 'c']"
    """
    text = " ".join(repr(value).split())
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
