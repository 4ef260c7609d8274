"""Choices on lists that were held out, and what they gain over the baseline.

The hypotheses of each fold are chosen by weights that were tuned on the other folds; a seed determines the folds. All
measurements of a tuning are views of these choices: the held-out gain is their difference to the choices of the
baseline, cross-validation compares tuners by them, and what features contribute is their difference to the choices
without these features (families.py).

Leads over the 1-bests, in a unit that all folds share, are leads on lists that the weights have not seen, from which
the margin is tuned (tuners/margin.py); on lists that weights were tuned on, leads are too large. The margin that
decides in a fold is tuned on the leads of the other folds, so that the score with a margin is held out too. (The
weights behind these leads have seen the fold in question; by that way only one number, the margin, can have learnt from
it.)

The baseline is the decoder's 1-best or, of lists that have two (evaluation/baselines.py), the stronger one. The
interval of a gain is that of the paired bootstrap over segments; it takes the tuned weights as they are. A tuned margin
that may harm is not used: unless the interval of the gain over the 1-bests is above zero, every 1-best is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from math import inf, isinf
from typing import Any, Literal

import numpy as np
from pydantic import TypeAdapter

from rerank_adapters.evaluation.baselines import FIRST
from rerank_adapters.evaluation.comparisons import Resampling, paired_gains
from rerank_adapters.evaluation.significance import Interval
from rerank_adapters.features.processes import HERE, Processes
from rerank_adapters.tuners.margin import Margin, best_margin, leads_of, with_margin
from rerank_adapters.tuners.within_lists import one_best, spread
from rerank_adapters.tuning.problem import decision_totals, take_segments
from rerank_plugins import ConfigError, FloatArray, Metric, Tuner, TuningData, TuningResult
from rerank_plugins.core.arrays import BoolArray, LongArray
from rerank_plugins.core.contracts import checked_tuning
from rerank_plugins.core.metrics_and_tuners import TuningReport

FOLDS, FOLDS_OF_SLOW_TUNERS = 5, 3  # k folds cost as much as k - 1 tunings
MAX_HYPOTHESES_OF_FOLDS = 200_000  # above which there are as few folds as for slow tuners
RESAMPLES = 1000  # of the bootstrap
HELD_OUT = "held_out"  # the key of a provenance

Progress = Callable[[int], None]  # is called with the number of folds that have just been tuned


@dataclass(frozen=True, eq=False)
class HeldOut:
    """For each segment the choice by weights that were tuned without it.

    `chosen`    (segments, S) the statistics of the choice
    `first`     (segments, S) those of the decoder's 1-best
    `leading`   (segments, S) those of the hypothesis of the highest total, which a margin may not let win
    `leads`     (segments) its lead over the 1-best, in units of `unit_of_leads`; 0 where it is the 1-best
    `positions` (segments) the position of the choice in its list
    `fold`      (segments) the number of the segment's fold
    `training`  (folds) the score of the weights of each fold on the lists that they were tuned on
    """

    chosen: FloatArray
    first: FloatArray
    leading: FloatArray
    leads: FloatArray
    positions: LongArray
    fold: LongArray
    training: FloatArray

    def changed(self, margins: FloatArray | float) -> BoolArray:
        """(segments): whether the 1-best is replaced with these margins (segments), or with one for all."""
        return np.asarray(self.leads > margins)

    def with_margins(self, margins: FloatArray | float) -> FloatArray:
        """(segments, S): the statistics of the choices with these margins (segments), or with one for all."""
        return np.where(self.changed(margins)[:, None], self.leading, self.first)

    def best_margin(self, metric: Metric, without: int | None = None) -> float:
        """The margin that is best on all folds, or on all but one."""
        kept = self.fold != (-1 if without is None else without)
        return best_margin(self.leads[kept], self.first[kept], self.leading[kept], metric)


def held_out(
    problem: TuningData,
    tuner: Tuner,
    start: FloatArray,
    folds: int,
    seed: int,
    processes: Processes = HERE,
    progress: Progress = lambda folds: None,
) -> HeldOut:
    """The choice of each segment by weights tuned on the folds without it, the same for any number of processes.

    Raises ConfigError as `check_folds` does.
    """
    segments, firsts = problem.table.segments, problem.table.offsets[:-1]
    check_folds(folds, segments)
    shuffled = np.random.default_rng(seed).permutation(segments)
    fold = np.empty(segments, np.int64)
    for number in range(folds):
        fold[shuffled[number::folds]] = number

    def tuned(number: int) -> tuple[LongArray, LongArray, FloatArray, float]:
        """By weights tuned without a fold: the positions of the choices in its lists and of the highest totals, the
        leads of these, and the score on the other lists.
        """
        rest, own = (take_segments(problem, np.flatnonzero(some)) for some in (fold != number, fold == number))
        result = checked_tuning(tuner, rest, start, np.random.default_rng([seed, number]))
        totals, offsets = decision_totals(own, result), own.table.offsets
        highest, leads = leads_of(totals, offsets)
        chosen = one_best(with_margin(totals, offsets, result.margin), offsets)
        return chosen - offsets[:-1], highest - offsets[:-1], leads / unit_of_leads(rest, result), result.score

    found = processes.shared_results(tuned, range(folds), lambda number: progress(1))
    places = np.argsort(np.argsort(fold, kind="stable"))  # of the segments, where the folds follow each other
    positions, highest, leads = (np.concatenate(of_folds)[places] for of_folds in list(zip(*found, strict=True))[:3])
    return HeldOut(
        chosen=problem.statistics[firsts + positions],
        first=problem.statistics[firsts],
        leading=problem.statistics[firsts + highest],
        leads=leads,
        positions=positions,
        fold=fold,
        training=np.array([score for *_, score in found]),
    )


def check_folds(folds: int, segments: int) -> None:
    """Raise ConfigError for fewer than two folds, and for more folds than segments."""
    if not 2 <= folds <= segments:
        raise ConfigError(f"{folds} folds of {segments} segments, expected at least 2, and at most one per segment")


def usual_folds(problem: TuningData, tuner: Tuner) -> int:
    """The number of folds where nobody names one: fewer for slow tuners and for many hypotheses.

    It is 0 for a single segment, which cannot be held out.
    """
    segments = problem.table.segments
    quick = tuner.quick() == tuner and len(problem.statistics) <= MAX_HYPOTHESES_OF_FOLDS
    return min(FOLDS if quick else FOLDS_OF_SLOW_TUNERS, segments) if segments > 1 else 0


def unit_of_leads(problem: TuningData, result: TuningResult) -> float:
    """The unit in which the leads of weights tuned on different lists can be compared.

    For weighted sums, whose scale is arbitrary, it is their standard deviation within the lists that they were tuned
    on, pooled over all lists; for expected utilities it is 1, since these are points of the metric already.
    """
    return 1.0 if result.decision == "mbr" else spread(result.scores(problem.table), problem.table.offsets)


@dataclass(frozen=True)
class HeldOutGain:
    """The gain of reranking over the baseline on tuning lists that were held out, by the first metric.

    `folds`, `segments`  the lists were divided into so many folds; those of each were chosen from by weights (and a
                         margin) tuned on the other folds
    `first`              the corpus score of the decoder's 1-bests
    `score`              the corpus score of the held-out choices
    `gain`, `interval`   by how much that is better than the baseline's, and the 95 % interval of the paired bootstrap
                         over segments; above 0 is better, for error rates too
    `changed`            the proportion of the 1-bests that the choices replace
    `margin`             the margin in use, in units of `unit_of_leads`; 0 for none
    `replaced`           the proportion of the 1-bests that held-out choices with this very margin replace
    `without_margin`     the corpus score of the held-out choices without it
    `baselines`          where the lists have two, the corpus score of each by its name, that of the stronger one first
    `metric`             the name of the metric
    """

    folds: int
    segments: int
    first: float
    score: float
    gain: float
    interval: Interval
    changed: float
    margin: float = 0.0
    replaced: float = 0.0
    without_margin: float | None = None
    baselines: Mapping[str, float] = field(default_factory=dict)
    metric: str = ""

    @property
    def baseline(self) -> str:
        """The name of the baseline that the gain is over."""
        return next(iter(self.baselines), FIRST)

    @property
    def certain(self) -> bool:
        """Whether the interval is above zero."""
        return self.interval.low > 0

    def for_provenance(self) -> dict[str, Any]:
        """The values by name, as a provenance holds them under `HELD_OUT`."""
        values = {name: value for name, value in asdict(self).items() if name != "baselines" or value}
        return {**values, "interval": list(self.interval)}

    @classmethod
    def of_provenance(cls, provenance: Mapping[str, Any]) -> HeldOutGain | None:
        """The gain that a provenance holds; None where it holds none, or one that was edited by hand."""
        with suppress(LookupError, ValueError):
            return TypeAdapter(cls).validate_python(provenance[HELD_OUT])
        return None


def gain_over(
    baselines: Mapping[str, FloatArray],
    held: HeldOut,
    metric: Metric,
    margin: Margin,
    seed: int,
    groups: Sequence[str] | None = None,
    *,
    name: str = "",
) -> HeldOutGain:
    """The gain of the held-out choices with a margin over the strongest of the baselines.

    These have the statistics (segments, S) of their choices by name; the 1-bests are the first one. With `groups`
    (segments), whole groups are resampled. A tuned margin is infinite unless the interval of the gain over the 1-bests
    that it has on the folds is above zero. `name` is that of the metric.
    """
    decided: FloatArray | float = 0.0 if margin == "tuned" else margin
    whole = held.best_margin(metric) if margin == "tuned" else margin
    if margin == "tuned":
        decided = np.array([held.best_margin(metric, number) for number in range(len(held.training))])[held.fold]
    choices = held.with_margins(decided)
    pairs, resampling = [(0, number + 1) for number in range(len(baselines))], Resampling(RESAMPLES, 0, seed)
    gains = paired_gains([choices, *baselines.values()], pairs, metric, resampling, groups)
    intervals = [gain.interval or Interval(gain.value, gain.value) for gain in gains]
    if margin == "tuned" and intervals[0].low <= 0:
        whole = inf
    least = min(range(len(gains)), key=lambda number: gains[number].value)  # over the strongest baseline
    scores = {baseline: float(metric.score(own.sum(axis=0))) for baseline, own in baselines.items()}
    strongest_first = sorted(scores, key=lambda baseline: baseline != [*scores][least])
    return HeldOutGain(
        folds=len(held.training),
        segments=len(held.first),
        first=scores[FIRST],
        score=float(metric.score(choices.sum(axis=0))),
        gain=gains[least].value + 0.0,  # not -0.0
        interval=intervals[least],
        changed=float(np.mean(held.changed(decided))),
        margin=whole,
        replaced=float(np.mean(held.changed(whole))),
        without_margin=float(metric.score(held.with_margins(0.0).sum(axis=0))) if margin else None,
        baselines={baseline: scores[baseline] for baseline in strongest_first} if len(scores) > 1 else {},
        metric=name,
    )


def raw_margin(problem: TuningData, result: TuningResult, margin: float) -> float:
    """The margin in the unit of the result's own totals on the lists that it was tuned on."""
    return margin if isinf(margin) else margin * unit_of_leads(problem, result)


def tuner_with_margin(tuner: Tuner, margin: Margin) -> Tuner:
    """The tuner itself without a margin, or the tuner whose results have one."""
    return WithMargin(tuner, margin) if margin else tuner


@dataclass
class WithMargin(Tuner):
    """A tuner whose result has a margin, tuned on folds of its own data, so that the margin is cross-validated, too."""

    tuner: Tuner
    margin: Margin

    @property
    def usual_start(self) -> Literal["uniform", "decoder"]:
        """That of the tuner."""
        return self.tuner.usual_start

    def tune(
        self, data: TuningData, start: FloatArray, rng: np.random.Generator, report: TuningReport = lambda step: None
    ) -> TuningResult:
        """Tune the weights, then the margin on held-out leads; a single segment gets an infinite margin."""
        seed = int(rng.integers(2**31))
        result = checked_tuning(self.tuner, data, start, rng, report)
        margin = self.margin
        if margin == "tuned":
            folds = usual_folds(data, self.tuner)
            held = held_out(data, self.tuner, start, folds, seed) if folds else None
            margin = inf if held is None else gain_over({FIRST: held.first}, held, data.metric, margin, seed).margin
        return replace(result, margin=raw_margin(data, result, margin))
