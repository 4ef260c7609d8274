"""Correlations of two series of numbers, and their confidence intervals.

The 95 % intervals of Pearson's r and Spearman's ρ use Fisher's transformation: tanh(atanh(r) ± z s), with s = 1 / √(n -
3) for r and s = √((1 + ρ²/2) / (n - 3)) for ρ (Bonett and Wright 2000). The correlation with constant values is
undefined: it is given as 0. The interval of three pairs or fewer is [-1, 1].
"""

from __future__ import annotations

from dataclasses import dataclass
from math import atanh, sqrt, tanh

import numpy as np

from rerank_adapters.evaluation.proportions import Z
from rerank_adapters.evaluation.significance import Interval
from rerank_plugins.core.arrays import FloatArray


@dataclass(frozen=True)
class Correlation:
    """The correlations of `pairs` pairs of numbers, with their 95 % confidence intervals."""

    pearson: float
    pearson_interval: Interval
    spearman: float
    spearman_interval: Interval
    pairs: int


def correlate(a: FloatArray, b: FloatArray) -> Correlation:
    """The correlations of (n) numbers with (n) others."""
    r, rho = pearson(a, b), pearson(ranks(a), ranks(b))
    return Correlation(r, _interval(r, len(a), 1.0), rho, _interval(rho, len(a), 1 + rho * rho / 2), len(a))


def pearson(a: FloatArray, b: FloatArray) -> float:
    """Pearson's r; 0 if either side is constant, up to rounding."""
    if len(a) < 2:
        return 0.0
    x, y = a - a.mean(), b - b.mean()
    norm = float(sqrt(float(x @ x) * float(y @ y)))
    tiny = 1e-12 * len(a) * (1 + float(np.abs(a).max())) * (1 + float(np.abs(b).max()))
    return max(-1.0, min(1.0, float(x @ y) / norm)) if norm > tiny else 0.0


def ranks(values: FloatArray) -> FloatArray:
    """Ranks from 0; equal values have the mean of their ranks."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray((ends - (counts + 1) / 2)[inverse], np.float64)


def _interval(r: float, pairs: int, variance: float) -> Interval:
    if pairs <= 3:
        return Interval(-1.0, 1.0)
    if abs(r) == 1:
        return Interval(r, r)
    half = Z * sqrt(variance / (pairs - 3))
    return Interval(tanh(atanh(r) - half), tanh(atanh(r) + half))
