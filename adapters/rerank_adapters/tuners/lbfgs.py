"""Limited-memory BFGS within bounds: the minimiser behind PRO's classifier and expected risk.

The two-loop recursion (Nocedal & Wright 2006, Algorithm 7.4) over the weights that are not held at a bound; steps are
bent back into the bounds and shortened until they bring enough (Armijo), as in the projected Newton method (Bertsekas
1982). Left out: the strong Wolfe conditions; a pair whose curvature is not positive is dropped instead.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from rerank_plugins.arrays import FloatArray

Objective = Callable[[FloatArray], tuple[float, FloatArray]]
Pairs = deque[tuple[FloatArray, FloatArray]]

ENOUGH = 1e-4  # part of the decrease promised by the gradient that a step must bring
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
    """Where the objective, which returns its value and gradient, is lowest near `start`, within the bounds.

    Stops after `iterations`, when no free derivative exceeds `tolerance`, or when a step brings
    less than `progress` of the value.
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
        if direction @ gradient >= 0:  # held weights have spoilt the curvature: start it anew
            pairs.clear()
            direction = -_newton_like(downhill, pairs)
        found = _step(objective, x, value, gradient, direction, lower, upper)
        if found is None:
            if not pairs:
                break
            pairs.clear()
            continue
        moved, new_value, new_gradient = found
        step, change = moved - x, new_gradient - gradient
        if step @ change > 1e-12 * float(np.linalg.norm(step) * np.linalg.norm(change)):
            pairs.append((step, change))
        small = value - new_value <= progress * max(abs(value), 1.0)
        x, value, gradient = moved, new_value, new_gradient
        if small:
            break
    return x


def _newton_like(gradient: FloatArray, pairs: Pairs) -> FloatArray:
    """The inverse Hessian that the pairs suggest, times the gradient; without pairs, of length 1 at most."""
    if not pairs:
        return gradient / max(float(np.linalg.norm(gradient)), 1.0)
    q = gradient.copy()
    parts: list[float] = []
    for step, change in reversed(pairs):
        parts.append(float(step @ q) / float(step @ change))
        q -= parts[-1] * change
    step, change = pairs[-1]
    q *= float(step @ change) / float(change @ change)
    for (step, change), part in zip(pairs, reversed(parts), strict=True):
        q += (part - float(change @ q) / float(step @ change)) * step
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
    """The first of ever shorter steps along the direction, bent into the bounds, that brings enough."""
    length = 1.0
    for _ in range(SHORTENINGS):
        moved = np.clip(x + length * direction, lower, upper)
        new_value, new_gradient = objective(moved)
        if new_value <= value + ENOUGH * float(gradient @ (moved - x)) and np.isfinite(new_value):
            return moved, new_value, new_gradient
        length /= 2
    return None
