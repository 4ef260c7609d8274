"""Numbers rounded to few bits of their mantissa."""

from __future__ import annotations

import math

import numpy as np

from rerank_plugins.kit.files.coarse_floats import KEPT_BITS, coarse


def test_the_nearest_number_with_few_bits_is_taken() -> None:
    """By Python's own arithmetic: the mantissa times 2^(KEPT_BITS + 1) is rounded to the nearest integer, halves to even."""
    rng = np.random.default_rng(3)
    values = np.concatenate(
        [rng.normal(size=500) * 10.0 ** rng.integers(-2, 4, 500), [0.0, 1.03125, 1.09375, -65000.0]]
    )
    values = values.astype(np.float16)
    values = values[(values == 0) | (np.abs(values) >= np.finfo(np.float16).smallest_normal)]
    for value, found in zip(values.tolist(), coarse(values).tolist(), strict=True):
        mantissa, exponent = math.frexp(value)  # 0.5 <= |mantissa| < 1
        assert found == round(mantissa * 2 ** (KEPT_BITS + 1)) * 2.0 ** (exponent - KEPT_BITS - 1) or math.isinf(found)
    assert np.array_equal(coarse(coarse(values)), coarse(values))


def test_coarse_numbers_compress_better() -> None:
    """What the rounding is for: the low bytes repeat."""
    import zlib

    values = np.random.default_rng(1).normal(size=20_000)
    assert len(zlib.compress(coarse(values).tobytes(), 9)) < 0.7 * len(
        zlib.compress(values.astype(np.float16).tobytes(), 9)
    )
