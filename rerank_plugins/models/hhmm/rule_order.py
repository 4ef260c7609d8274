"""The rules of a left child as the search takes them: by parent, or from those that are worth most on."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

EXPONENTS, HIGHEST = 128, 4  # kinds of binary exponent that rules are sorted by; the highest of a value


@njit(cache=True, nogil=True)
def sorted_rules(
    first: int, after: int, p: Any, right: Any, ahead: Any, opens: Any, opened: Any, order: Any, worth: Any
) -> None:
    """Rules of a left child, from `first` on, into their places in `order` and `worth`: those worth most first.

    A rule q -> p c is worth its probability times that of c, awaited in a new element q/c, to fit in the store and to
    begin with the word. They come by binary exponent (a counting sort), so that values fall from one to
    the next, or rise to less than twice.
    """
    counts = np.zeros(EXPONENTS + 1, np.int32)
    exponents, values = np.empty(after - first, np.int32), np.empty(after - first)
    for r in range(first, after):
        value = p[r] * (ahead[right[r]] if opens[r] < 0 else opened[opens[r]])
        values[r - first] = value
        exponent = EXPONENTS - 1
        if value > 0.0:
            exponent = min(EXPONENTS - 2, max(0, HIGHEST - math.frexp(value)[1]))
        exponents[r - first] = exponent
        counts[exponent + 1] += 1
    counts = np.cumsum(counts)
    for r in range(first, after):
        place = first + counts[exponents[r - first]]
        counts[exponents[r - first]] += 1
        order[place] = r
        worth[place] = values[r - first]


@njit(cache=True, nogil=True, inline="always")
def rules_of(rules: Any, q: int, p: int) -> tuple[int, int]:
    """The rules q -> p c: the first, and the one after the last."""
    low, high = rules.starts[p], rules.starts[p + 1]
    end = high
    while low < high:
        middle = (low + high) >> 1
        if rules.parent[middle] < q:
            low = middle + 1
        else:
            high = middle
    high = low
    while high < end and rules.parent[high] == q:
        high += 1
    return low, high
