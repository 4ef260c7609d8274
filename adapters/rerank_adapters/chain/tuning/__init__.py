"""Tuning: prepares data and start weights, runs a tuner and records the run, and compares tuners."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from rerank_adapters.chain.tuning.cross_validation import CrossValidation, chosen_rows, cross_validate, held_out_score
from rerank_adapters.chain.tuning.data import prepare, start_vector, take_features, take_segments
from rerank_plugins import ConfigError, FloatArray, PluginError, Tuner, TuningData, TuningResult, __version__
from rerank_plugins.core.metrics_and_tuners import TuningReport


def tune(
    data: TuningData, tuner: Tuner, start: FloatArray, seed: int = 0, *, report: TuningReport = lambda step: None
) -> TuningResult:
    """Run the tuner from the weights `start` (raw, one per name of `data.table.all_names`); a seed fixes the result.

    Raises ConfigError where start weights are of the wrong number or not finite and where a fixed one is outside its
    bounds; PluginError where the tuner returns such weights or changes a fixed one.
    """
    names = data.table.all_names
    _check(start, names, ConfigError, "start weights")
    outside = data.fixed & ((start < data.lower) | (start > data.upper))
    if outside.any():
        raise ConfigError(f"weight of {names[int(np.argmax(outside))]} is fixed outside its bounds")
    result = tuner.tune(data, start, np.random.default_rng(seed), report)
    who = f"tuner {type(tuner).__name__}: weights"
    _check(result.weights, names, PluginError, who)
    changed = data.fixed & (result.weights != start)
    if changed.any():
        raise PluginError(f"{who}: that of {names[int(np.argmax(changed))]} is fixed, but was changed")
    return result


def record(data: TuningData, tuner: Tuner, start: FloatArray, seed: int, result: TuningResult) -> dict[str, Any]:
    """Everything needed to repeat a run, and its outcome, in values that TOML and JSON can hold."""
    start_weights = zip(data.table.all_names, start, strict=True)
    return {
        "version": __version__,
        "numpy": np.__version__,
        "tuner": f"{type(tuner).__module__}.{type(tuner).__qualname__}",
        "options": dataclasses.asdict(tuner) if dataclasses.is_dataclass(tuner) else {},
        "seed": seed,
        "metric": data.metric.signature(),
        "segments": data.table.segments,
        "hypotheses": len(data.table.values),
        "start": {name: float(weight) for name, weight in start_weights if weight},
        "fixed": [name for name, is_fixed in zip(data.table.all_names, data.fixed, strict=True) if is_fixed],
        "lower": _named(data, data.lower),
        "upper": _named(data, data.upper),
        "score": result.score,
        "restart_scores": list(result.restart_scores),
        "iterations": len(result.trace),
        "trace": [round(step.score, 4) for step in result.trace],
        "trace_restarts": [step.restart for step in result.trace],
        "notes": list(result.notes),
    }


def _named(data: TuningData, bounds: FloatArray) -> dict[str, float]:
    """The finite bounds by feature name."""
    named_bounds = zip(data.table.all_names, bounds, strict=True)
    return {name: float(bound) for name, bound in named_bounds if np.isfinite(bound)}


def _check(weights: FloatArray, names: tuple[str, ...], error: type[Exception], what: str) -> None:
    if np.shape(weights) != (len(names),):
        raise error(f"{what}: {np.size(weights)} values for {len(names)} features")
    if not np.isfinite(weights).all():
        raise error(f"{what}: that of {names[int(np.argmin(np.isfinite(weights)))]} is not finite")


__all__ = [
    "CrossValidation",
    "chosen_rows",
    "cross_validate",
    "held_out_score",
    "prepare",
    "record",
    "start_vector",
    "take_features",
    "take_segments",
    "tune",
]
