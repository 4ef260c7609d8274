"""Rounds numbers of half precision to few bits, so that the zeros behind them compress to nothing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MANTISSA_BITS = 10  # bits of the mantissa in half precision, without the leading one
KEPT_BITS = 4  # bits of it that weights keep: a relative error of at most 1/32


def coarse(values: NDArray[np.floating]) -> NDArray[np.float16]:
    """The values in half precision with KEPT_BITS bits of mantissa, rounded to the nearest, halves to even.

    >>> coarse(np.array([1.03, -1.04, 0.0]))
    array([ 1.    , -1.0625,  0.    ], dtype=float16)
    """
    dropped = MANTISSA_BITS - KEPT_BITS
    bits = values.astype(np.float16).view(np.uint16).astype(np.uint32)
    odd = bits >> dropped & 1
    rounded = bits + (1 << dropped - 1) - 1 + odd >> dropped << dropped
    return rounded.astype(np.uint16).view(np.float16)
