"""Holm's correction of the p-values of several tests that are reported together.

Holm (1979), "A simple sequentially rejective multiple test procedure". Whichever of the null hypotheses are true, the
probability that any of these is rejected at the level α is at most α, however the tests depend on each other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rerank_plugins.core.arrays import FloatArray


def holm(p_values: Sequence[float] | FloatArray) -> FloatArray:
    """(n) adjusted p-values, in the order of the (n) p-values: a test is significant at α if its value is at most α.

    The smallest p-value is multiplied by n, the next by n - 1, and so on; no adjusted value is below that of a smaller
    p-value, and none above 1. Raises ValueError for a p-value outside [0, 1].

    >>> holm([0.01, 0.04, 0.03, 0.005]).tolist()
    [0.03, 0.06, 0.06, 0.02]
    """
    p = np.asarray(p_values, np.float64)
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"a p-value is {p[~((p >= 0) & (p <= 1))][0]}, wanted 0 to 1")
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return adjusted
