"""The ranges of the values of stored arrays: a file with other values is damaged, although its checksums fit.

The least and the greatest value of an array tell, in two passes that make no copy. A NaN is both of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf, nextafter
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.errors import DAMAGE, ModelError

ROUNDING = 1e-6  # by which a stored probability may be above 1, or its logarithm above 0

ValueKind = Literal["any", "finite", "not negative", "positive", "probabilities", "logarithms", "ln p", "finite ln p"]


@dataclass(frozen=True)
class Range:
    """The least and the greatest value that is allowed, and the name of such a value in messages."""

    wanted: str
    least: float = -inf
    most: float = inf


FINITE = float(np.finfo(np.float64).max)
RANGES: dict[ValueKind, Range] = {
    "finite": Range("a finite number", -FINITE, FINITE),
    "not negative": Range("a finite number, 0 or more", 0.0, FINITE),
    "positive": Range("a finite number above 0", nextafter(0.0, 1.0), FINITE),
    "probabilities": Range("a probability, from 0 to 1", 0.0, 1.0 + ROUNDING),
    "logarithms": Range("a logarithm, 700 or less", -inf, 700.0),  # of finite numbers
    "ln p": Range("a logarithm of a probability, 0 or less", -inf, ROUNDING),
    "finite ln p": Range("a finite logarithm of a probability, 0 or less", -FINITE, ROUNDING),
}


class ContentsError(ValueError):
    """The contents of a model file are wrong; the message names the field, the value found and the value wanted."""


@contextmanager
def refusing_damage(subject: str) -> Iterator[None]:
    """In the block, errors of contents and of DAMAGE are ModelErrors, which begin with `subject`.

    >>> with refusing_damage("lm.ngram: damaged model"):
    ...     raise ContentsError("counts has -1 at 0")
    Traceback (most recent call last):
    rerank_plugins.core.errors.ModelError: lm.ngram: damaged model: counts has -1 at 0
    """
    try:
        yield
    except ContentsError as error:
        raise ModelError(f"{subject}: {error}") from None
    except DAMAGE as error:
        raise ModelError(f"{subject} ({type(error).__name__}: {error})") from None


def check_values(name: str, array: NDArray[Any], kind: ValueKind) -> None:
    """Raise ContentsError for a value of the array `name` that is not of this kind."""
    if kind == "any" or not array.size or array.dtype.kind not in "iuf":
        return
    allowed = RANGES[kind]
    least, greatest = extremes(array)
    if not (allowed.least <= least and greatest <= allowed.most):
        values = array.astype(np.float64)  # since numpy would round the bounds to the precision of the array
        wrong = ~((allowed.least <= values) & (values <= allowed.most))
        raise ContentsError(f"{name} has {found(array, wrong)}, wanted {allowed.wanted}")


def check_range(name: str, array: NDArray[Any], least: int, most: int) -> None:
    """Raise ContentsError for an integer of the array `name` that is below `least` or above `most`."""
    if not array.size:
        return
    if least == 0 and array.dtype.kind == "i":  # as unsigned numbers, negative ones are the greatest: one pass
        fits = int(array.view(f"u{array.itemsize}").max()) <= most
    else:
        fits = bool(least <= array.min() and array.max() <= most)
    if not fits:
        wrong = (array < least) | (array > most)
        raise ContentsError(f"{name} has an index out of range: {found(array, wrong)}, wanted {least} to {most}")


def check_rising(name: str, array: NDArray[Any], most: int) -> None:
    """Raise ContentsError for integers that fall, or that are below 0 or above `most`."""
    check_range(name, array, 0, most)
    if (array[1:] < array[:-1]).any():
        raise ContentsError(f"{name} has an index out of range: below the one before it")


def found(array: NDArray[Any], wrong: NDArray[np.bool_]) -> str:
    """The first value that is wrong, and its place."""
    place = tuple(np.argwhere(wrong)[0].tolist())
    value = array[place].item()
    shown = f"{value:.6g}" if isinstance(value, float) else str(value)
    return f"{shown} at {', '.join(map(str, place))}"


def extremes(array: NDArray[Any]) -> tuple[float, float]:
    """The least and the greatest value; NaN where the array has one."""
    if array.dtype == np.float16:
        return _of_half(array)
    return float(array.min()), float(array.max())


def _of_half(array: NDArray[np.float16]) -> tuple[float, float]:
    """The same of numbers of half precision, for which numpy has no fast comparison.

    As integers, numbers with equal signs are in the order of their absolute values, and NaNs are beyond infinity.
    """
    bits = array.view(np.uint16)
    signed = bits.view(np.int16).max()
    low, high = bits.min(), bits.max()
    lowest, highest = (high if high >> 15 else low), (signed if signed >= 0 else low)
    values = np.array([lowest, highest], np.uint16).view(np.float16)
    return float(values[0]), float(values[1])
