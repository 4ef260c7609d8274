"""Limited-memory BFGS within bounds: the minimiser of PRO's logistic loss and of expected risk.

The two-loop recursion (Nocedal & Wright 2006, Algorithm 7.4) runs over the weights that are not held at a bound. Steps
are projected onto the bounds and shortened until they decrease the objective sufficiently (Armijo), as in the projected
Newton method (Bertsekas 1982). The strong Wolfe conditions are not enforced; instead a pair whose curvature is not
positive is dropped.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from rerank_adapters.tuners.within_lists import dot
from rerank_plugins import FloatArray

Objective = Callable[[FloatArray], tuple[float, FloatArray]]
Pairs = deque[tuple[FloatArray, FloatArray]]

ENOUGH = 1e-4  # fraction of the decrease predicted by the gradient that a step must reach
SHORTENINGS = 40


def minimise(
    objective: Objective,
    start: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    *,
    iterations: int = 100,
    tolerance: float = 1e-6,
    progress: float = 1e-8,
    memory: int = 10,
) -> FloatArray:
    """A local minimum, within the bounds, of an objective that returns its value and its gradient.

    The search begins at `start` and stops after `iterations`, when no free derivative exceeds `tolerance`, or when a
    step decreases the value by less than `progress` of it. `memory` is the number of pairs kept.
    """
    x = np.clip(start, lower, upper)
    value, gradient = objective(x)
    pairs: Pairs = deque(maxlen=memory)
    for _ in range(iterations):
        held = ((x <= lower) & (gradient > 0)) | ((x >= upper) & (gradient < 0))
        downhill = np.where(held, 0.0, gradient)
        if np.abs(downhill).max(initial=0.0) <= tolerance:
            break
        direction = np.where(held, 0.0, -_newton_like(downhill, pairs))
        if dot(direction, gradient) >= 0:  # weights held at bounds have spoilt the curvature: restart from the gradient
            pairs.clear()
            direction = -_newton_like(downhill, pairs)
        accepted = _step(objective, x, value, gradient, direction, lower, upper)
        if accepted is None:
            if not pairs:
                break
            pairs.clear()
            continue
        moved, new_value, new_gradient = accepted
        step, change = moved - x, new_gradient - gradient
        if dot(step, change) > 1e-12 * (dot(step, step) * dot(change, change)) ** 0.5:
            pairs.append((step, change))
        small = value - new_value <= progress * max(abs(value), 1.0)
        x, value, gradient = moved, new_value, new_gradient
        if small:
            break
    return x


def _newton_like(gradient: FloatArray, pairs: Pairs) -> FloatArray:
    """The inverse Hessian approximated by the pairs, times the gradient; without pairs, a vector of length ≤ 1."""
    if not pairs:
        short: FloatArray = gradient / max(dot(gradient, gradient) ** 0.5, 1.0)
        return short
    q = gradient.copy()
    parts: list[float] = []
    for step, change in reversed(pairs):
        parts.append(dot(step, q) / dot(step, change))
        q -= parts[-1] * change
    step, change = pairs[-1]
    q *= dot(step, change) / dot(change, change)
    for (step, change), part in zip(pairs, reversed(parts), strict=True):
        q += (part - dot(change, q) / dot(step, change)) * step
    return q


def _step(
    objective: Objective,
    x: FloatArray,
    value: float,
    gradient: FloatArray,
    direction: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
) -> tuple[FloatArray, float, FloatArray] | None:
    """The first of the steps, each half as long as the last and projected onto the bounds, that suffices; else None."""
    length = 1.0
    for _ in range(SHORTENINGS):
        moved = np.clip(x + length * direction, lower, upper)
        new_value, new_gradient = objective(moved)
        if new_value <= value + ENOUGH * dot(gradient, moved - x) and np.isfinite(new_value):
            return moved, new_value, new_gradient
        length /= 2
    return None
