"""Packs numbers of any width up to 57 bits one after the other into an array of 64-bit integers.

The lowest bits of an integer come first. The array needs one integer more than its bits fill, since a number is read
from two neighbours.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rerank_plugins.kit.backoff.prefetch import prefetch
from rerank_plugins.kit.kernels import filling_kernel, part


def integers_for(bits: int) -> int:
    """How many 64-bit integers hold so many bits."""
    return -(-bits // 64) + 1


@part
def read_bits(bits: Any, at: int, width: int) -> Any:
    """The number of `width` bits that begins at bit `at`."""
    place = at >> 6
    shift = at & 63
    number = bits[place] >> np.uint64(shift)
    if shift + width > 64:
        number |= bits[place + 1] << np.uint64(64 - shift)
    # As int64: numba makes floating-point numbers of sums of signed and unsigned ones.
    return np.int64(number & ((np.uint64(1) << np.uint64(width)) - np.uint64(1)))


@part
def prefetch_bits(bits: Any, at: int) -> None:
    """Start loading the numbers at bit `at`."""
    prefetch(bits, at >> 6)


@filling_kernel
def write_bits(bits: Any, at: int, stride: int, width: int, numbers: Any) -> None:
    """Write a column of numbers, whose bits must be 0 so far: `width` bits each, the first at bit `at`.

    The numbers, uint32 or less, are `stride` bits apart.
    """
    for i in range(len(numbers)):
        place = at >> 6
        shift = at & 63
        number = np.uint64(numbers[i])
        bits[place] |= number << np.uint64(shift)
        if shift + width > 64:
            bits[place + 1] |= number >> np.uint64(64 - shift)
        at += stride


@filling_kernel
def copy_bits(bits: Any, at: int, stride: int, width: int, numbers: Any) -> None:
    """Read a column that `write_bits` has written into `numbers`."""
    for i in range(len(numbers)):
        numbers[i] = read_bits(bits, at, width)
        at += stride
