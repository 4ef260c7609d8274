"""The contract of tuners: finite weights, one for each feature, and a decision that the program has."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rerank_plugins.core.guests.arrays import finite, numbers, type_of
from rerank_plugins.core.guests.calls import Call
from rerank_plugins.core.guests.names import shown
from rerank_plugins.core.metrics_and_tuners import Tuner, TuningResult

DECISIONS = ("map", "mbr")
SLACK = 1e-12  # by which rounding may take a weight beyond its bounds


def tune(call: Call, value: Any) -> Any:
    """A TuningResult, whose weights keep to the constraints where the decision is "map"."""
    if not isinstance(value, TuningResult):
        raise call.wanted(type_of(value), "a TuningResult")
    data, start = call.given[:2]
    names = data.table.all_names
    _weights(call, value.weights, names, "weights")
    if value.decision not in DECISIONS:
        raise call.wanted(f"decision {shown(value.decision)}", "'map' or 'mbr'")
    _number(call, value.score, "score")
    if _number(call, value.scale, "scale") <= 0:
        raise call.wanted(f"scale {value.scale:g}", "a number above 0")
    if not isinstance(value.evidence, int) or value.evidence < 0:
        raise call.wanted(f"evidence {shown(value.evidence)}", "a whole number of 0 or more")
    margin = value.margin
    if not isinstance(margin, int | float) or isinstance(margin, bool) or not margin >= 0:
        raise call.wanted(f"margin {shown(margin)}", "a number of 0 or more")
    if not isinstance(value.notes, tuple) or not all(isinstance(note, str) for note in value.notes):
        raise call.wanted(f"notes {shown(value.notes)}", "a tuple of texts")
    _record(call, value, len(names))
    if value.decision == "map":
        _constraints(call, value.weights, np.asarray(start), data, names)
    return value


def _weights(call: Call, weights: Any, names: tuple[str, ...], where: str) -> None:
    found = numbers(call, weights, (len(names),), "(features)", where)
    finite(call, found, lambda at: f"feature {names[at[0]]!r}", where)


def _number(call: Call, value: Any, name: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise call.wanted(f"{name} {shown(value)}", "a finite number")
    return float(value)


def _record(call: Call, result: Any, features: int) -> None:
    """Check the trace, and the weights and scores of restarts."""
    for number, step in enumerate(result.trace):
        if not isinstance(step, tuple) or len(step) != 3:
            raise call.wanted(type_of(step), "a TuningStep", f"trace, step {number}")
    restarts, scores = result.restarts, result.restart_scores
    wanted = f"({len(scores)}, {features}), a row for each of `restart_scores`"
    if not isinstance(restarts, np.ndarray) or restarts.ndim != 2 or len(restarts) != len(scores):
        raise call.wanted(type_of(restarts), wanted, "restarts")
    if len(restarts) and restarts.shape[1] != features:
        raise call.wanted(type_of(restarts), wanted, "restarts")


def _constraints(call: Call, weights: Any, start: Any, data: Any, names: tuple[str, ...]) -> None:
    moved = data.fixed & (weights != start)
    if moved.any():
        at = int(np.argmax(moved))
        raise call.wanted(f"{weights[at]:g} for the fixed feature {names[at]!r}", f"its start value {start[at]:g}")
    outside = ~data.fixed & ((weights < data.lower - SLACK) | (weights > data.upper + SLACK))
    if outside.any():
        at = int(np.argmax(outside))
        bounds = f"a number in [{data.lower[at]:g}, {data.upper[at]:g}]"
        raise call.wanted(f"{weights[at]:g} for the feature {names[at]!r}", bounds)


def quick(call: Call, value: Any) -> Any:
    """A tuner, or None."""
    if value is not None and not isinstance(value, Tuner):
        raise call.wanted(type_of(value), "a Tuner, or None")
    return value
