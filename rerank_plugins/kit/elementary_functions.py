"""Elementary functions of arrays that are the same to the bit with AVX2 and with AVX-512, for the training of models.

NumPy computes those of double precision by other instructions on each kind of processor, with other last bits. These
call the C library for each number, as compiled kernels do, and take as long as NumPy without AVX-512. In single
precision NumPy's own `exp`, `log` and `tanh` are the same with both.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, wraps
from threading import Lock
from typing import Any

import numpy as np

from rerank_plugins.core.arrays import FloatArray

LN10 = math.log(10.0)  # natural logarithms divided by this are logarithms of base 10
_compiling = Lock()  # numba warns where two threads compile the same function


def _compiled(function: Callable[..., Any]) -> Callable[..., FloatArray]:
    """A universal function of NumPy that is compiled on its first call, and kept on disk."""

    @cache
    def compiled() -> Any:
        from rerank_plugins.kit.kernels import universal  # numba is slow to import

        return universal(function)

    @wraps(function)
    def call(*arrays: FloatArray) -> FloatArray:
        universal = compiled()
        if not universal.types:
            with _compiling:
                return universal(*arrays)  # type: ignore[no-any-return]
        return universal(*arrays)  # type: ignore[no-any-return]

    return call


@_compiled
def exp(x: Any) -> Any:
    """E to the power of x."""
    return np.exp(x)


@_compiled
def expm1(x: Any) -> Any:
    """E to the power of x, less 1."""
    return np.expm1(x)


@_compiled
def log(x: Any) -> Any:
    """The natural logarithm of x."""
    return np.log(x)


@_compiled
def log1p(x: Any) -> Any:
    """The natural logarithm of 1 + x."""
    return np.log1p(x)


@_compiled
def log10(x: Any) -> Any:
    """The logarithm of x to the base 10."""
    return np.log10(x)


@_compiled
def power(x: Any, exponent: Any) -> Any:
    """X to the power of the exponent."""
    return x**exponent
