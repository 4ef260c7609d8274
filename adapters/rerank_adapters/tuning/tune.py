"""Tunes weights, after a selection of features where there is one, and measures what they gain on held-out lists."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rerank_adapters.features.processes import HERE, Processes
from rerank_adapters.runtime.progress import CountingBar, StatusLine
from rerank_adapters.tuners.margin import Margin
from rerank_adapters.tuning.held_out import HeldOutGain, gain_over, held_out, raw_margin, usual_folds
from rerank_adapters.tuning.problem import run_tuner, take_features
from rerank_adapters.tuning.selection import Selecting, Selection
from rerank_plugins import ConfigError, FloatArray, Tuner, TuningData, TuningResult, TuningStep, __version__


@dataclass(frozen=True, eq=False)
class Tuned:
    """The result of a tuner on a problem from start weights, after a selection of features, if there was one.

    `problem` and `start` have the features that were kept; `held_out` is the gain over the 1-bests on held-out lists,
    None where it was not measured.
    """

    problem: TuningData
    start: FloatArray
    result: TuningResult
    selection: Selection | None = None
    held_out: HeldOutGain | None = None


def tune(
    problem: TuningData,
    tuner: Tuner,
    start: FloatArray,
    seed: int,
    *,
    baselines: Mapping[str, FloatArray],
    margin: Margin = 0.0,
    folds: int | None = None,
    groups: Sequence[str] | None = None,
    metric: str = "",
    processes: Processes = HERE,
) -> Tuned:
    """Tune the weights and the margin; what families a tuner that is `Selecting` leaves out is left out first.

    The held-out gain is over the `baselines`, as `gain_over` has them, on so many `folds`: None for the usual number, 0
    for no gain. With `groups` (segments), its interval is over whole groups. `metric` is the name of the metric. Raises
    ConfigError for a margin that is to be tuned where there are fewer than two folds, for a wrong number of folds, and
    as `run_tuner` does.
    """
    whole, selection, own_tuner, own_start = problem, None, tuner, start
    if isinstance(tuner, Selecting):
        with CountingBar("tuned folds") as bar:
            selection = tuner.select(problem, start, seed, bar.add)
        gone = [name for family in selection.left_out for name in tuner.families[family]]
        kept = np.array([name not in gone for name in problem.table.all_names], bool)
        problem, own_tuner, own_start = take_features(problem, kept), tuner.tuner, start[kept]
    with StatusLine("tuning") as line:

        def show(step: TuningStep) -> None:
            line(f"tuning: restart {step.restart}, iteration {step.iteration}, {metric} {step.score:.2f}")

        result = run_tuner(problem, own_tuner, own_start, seed, report=show)
    folds, gain = usual_folds(whole, tuner) if folds is None else folds, None
    if not folds and margin == "tuned":
        raise ConfigError("a margin is tuned on held-out lists, expected at least two lists and two held_out_folds")
    if folds:
        with StatusLine("measuring what the weights gain on held-out lists"):
            held = held_out(whole, tuner, start, folds, seed, processes)
        gain = gain_over(baselines, held, whole.metric, margin, seed, groups, name=metric)
        result = replace(result, margin=raw_margin(problem, result, gain.margin))
    return Tuned(problem, own_start, result, selection, gain)


def provenance_of(
    problem: TuningData, tuner: Tuner, start: FloatArray, seed: int, result: TuningResult
) -> dict[str, Any]:
    """Everything needed to repeat a run, and its outcome, in values that TOML and JSON can hold."""

    def by_name(weights: FloatArray) -> dict[str, float]:
        return {n: float(w) for n, w in zip(problem.table.all_names, weights, strict=True) if np.isfinite(w)}

    return {
        "version": __version__,
        "numpy": np.__version__,
        "tuner": f"{type(tuner).__module__}.{type(tuner).__qualname__}",
        "options": dataclasses.asdict(tuner) if dataclasses.is_dataclass(tuner) else {},
        "seed": seed,
        "metric": problem.metric.signature(),
        "segments": problem.table.segments,
        "hypotheses": len(problem.table.values),
        "start": {name: weight for name, weight in by_name(start).items() if weight},
        "fixed": [name for name, is_fixed in zip(problem.table.all_names, problem.fixed, strict=True) if is_fixed],
        "lower": by_name(problem.lower),
        "upper": by_name(problem.upper),
        "score": result.score,
        "restart_scores": list(result.restart_scores),
        "iterations": len(result.trace),
        "trace": [round(step.score, 4) for step in result.trace],
        "trace_restarts": [step.restart for step in result.trace],
        "notes": list(result.notes),
    }
