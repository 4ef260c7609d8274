"""Computes the scale of an axis: round numbers for its marks, and their positions."""

from __future__ import annotations

import math

STEPS = (1.0, 2.0, 5.0, 10.0)


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """About `count` multiples of 1, 2 or 5 times a power of ten, from at most `low` to at least `high`.

    >>> ticks(0.0, 43.0)
    [0.0, 10.0, 20.0, 30.0, 40.0, 50.0]
    """
    if not high > low:
        low, high = low - 1.0, high + 1.0
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in STEPS if power * factor >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]


def tick_label(value: float) -> str:
    """As `0`, `−2.5` or `40`: no digits without meaning, and a true minus sign."""
    return f"{value:.6g}".replace("-", "−")
