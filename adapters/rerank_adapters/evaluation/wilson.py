"""The confidence interval of a share: Wilson's score interval (1927), which keeps its level also near 0 and 1.

All shares that a normal test at this level does not reject: |s - p| <= z sqrt(p (1 - p) / n).
"""

from __future__ import annotations

from math import sqrt

from rerank_adapters.evaluation.significance import Interval

Z = 1.959963984540054  # 97.5th percentile of the standard normal distribution


def wilson_interval(successes: float, trials: int) -> Interval:
    """The 95 % interval of successes / trials, between 0 and 1; all of it for no trials.

    >>> low, high = wilson_interval(5, 10)
    >>> f"{low:.4f} {high:.4f}"
    '0.2366 0.7634'
    """
    if trials == 0:
        return Interval(0.0, 1.0)
    share, spread = successes / trials, Z * Z / trials
    centre = (share + spread / 2) / (1 + spread)
    half = Z * sqrt(share * (1 - share) / trials + spread / (4 * trials)) / (1 + spread)
    return Interval(max(0.0, centre - half), min(1.0, centre + half))
