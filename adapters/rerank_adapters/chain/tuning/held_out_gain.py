"""Measures what reranking gains over the decoder's 1-bests on tuning lists that were held out, and tunes the margin.

The hypotheses of each fold are chosen by weights tuned on the other folds, as in cross-validation. Their leads over the
1-bests, in a unit that all folds share, are leads on lists that the weights have not seen, from which the margin is
tuned (tuners/margin.py); on lists that weights were tuned on, leads are too large. The margin that decides in a fold is
tuned on the leads of the other folds, so that the held-out score with a margin is held out too. (The weights behind
these leads have seen the fold in question; by that way only one number, the margin, can have learnt from it.)

The interval is that of the paired bootstrap over segments. It takes the tuned weights as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isinf
from typing import Literal

import numpy as np

from rerank_adapters.chain.tuning import decision_totals
from rerank_adapters.chain.tuning.cross_validation import tuned_fold, unit_of_leads
from rerank_adapters.evaluation.significance import Interval, paired_gains
from rerank_adapters.report.facts import HeldOut
from rerank_adapters.runtime.workers import shared_out
from rerank_adapters.tuners.margin import Margin, best_margin, leads_of
from rerank_plugins import FloatArray, Metric, Tuner, TuningData, TuningResult
from rerank_plugins.core.arrays import LongArray
from rerank_plugins.core.metrics_and_tuners import TuningReport

FOLDS, FEWER_FOLDS = 5, 3  # k folds cost as much as k - 1 tunings
MANY = 200_000  # hypotheses from which on there are fewer folds
RESAMPLES = 1000


def usual_folds(data: TuningData, tuner: Tuner) -> int:
    """The number of folds where nobody names one: fewer for slow tuners and for many hypotheses.

    It is 0 for a single segment, which cannot be held out.
    """
    segments = data.table.segments
    folds = FOLDS if tuner.quick() == tuner and len(data.statistics) <= MANY else FEWER_FOLDS
    return min(folds, segments) if segments > 1 else 0


@dataclass(frozen=True, eq=False)
class HeldOutLeads:
    """For each segment the hypothesis of highest total, by weights tuned without it.

    `leading`, `first`  (segments, S) the statistics of that hypothesis and of the 1-best
    `leads`             (segments) its lead over the 1-best in units of `unit_of_leads`; 0 where it is the 1-best
    `fold`              (segments) the number of the segment's fold
    """

    leading: FloatArray
    first: FloatArray
    leads: FloatArray
    fold: LongArray

    def left(self, margins: FloatArray | float) -> np.ndarray:
        """(segments): whether the 1-best is left with these margins (segments), or one for all."""
        return self.leads > margins

    def chosen(self, margins: FloatArray | float) -> FloatArray:
        """(segments, S): the statistics of the choices with these margins (segments), or one for all."""
        return np.where(self.left(margins)[:, None], self.leading, self.first)

    def margin(self, metric: Metric, segments: np.ndarray | None = None) -> float:
        """The margin that is best on all segments, or on those where the mask `segments` is true."""
        kept = slice(None) if segments is None else segments
        return best_margin(self.leads[kept], self.first[kept], self.leading[kept], metric)


def held_out_leads(
    data: TuningData, tuner: Tuner, start: FloatArray, folds: int, seed: int, *, jobs: int = 1
) -> HeldOutLeads:
    """Tune on all folds but one, for each fold. The folds are those of `cross_validate` with the same seed.

    So many `jobs` work at once, in processes of their own; the result does not depend on it. Raises ConfigError as
    `check_folds` does.
    """

    def of_fold(number: int) -> tuple[LongArray, FloatArray, FloatArray]:
        fold = tuned_fold(data, tuner, start, folds, seed, number)
        rows, leads = leads_of(decision_totals(fold.data, fold.result), fold.data.table.offsets)
        return fold.segments, fold.data.statistics[rows], leads / fold.unit

    first = data.statistics[data.table.offsets[:-1]]
    leading, leads, fold = np.empty_like(first), np.empty(len(first)), np.empty(len(first), np.int64)
    for number, (segments, statistics, of_segments) in enumerate(shared_out(of_fold, range(folds), jobs, "the tuner")):
        leading[segments], leads[segments], fold[segments] = statistics, of_segments, number
    return HeldOutLeads(leading, first, leads, fold)


def held_out(
    held: HeldOutLeads, metric: Metric, margin: Margin, seed: int, groups: Sequence[str] | None = None
) -> HeldOut:
    """The gain of the held-out choices with a margin; with `groups` (segments), the resamples are of whole groups."""
    numbers = np.unique(held.fold)
    decided: FloatArray | float
    if margin == "tuned":
        of_folds = {number: held.margin(metric, held.fold != number) for number in numbers.tolist()}
        decided, whole = np.array([of_folds[number] for number in held.fold.tolist()]), held.margin(metric)
    else:
        decided = whole = margin
    choices, first = held.chosen(decided), held.first
    if groups is not None:
        _, group = np.unique(np.array(groups), return_inverse=True)
        units = [np.zeros((int(group.max()) + 1, first.shape[1])) for _ in range(2)]
        for unit, statistics in zip(units, (choices, first), strict=True):
            np.add.at(unit, group, statistics)
    else:
        units = [choices, first]
    (gain,) = paired_gains(units, [(0, 1)], metric, bootstrap=RESAMPLES, randomisation=0, seed=seed)
    plain = float(metric.score(held.chosen(0.0).sum(axis=0)))
    return HeldOut(
        folds=len(numbers),
        segments=len(first),
        first=float(metric.score(first.sum(axis=0))),
        score=float(metric.score(choices.sum(axis=0))),
        gain=gain.value + 0.0,  # not -0.0
        interval=gain.interval or Interval(gain.value, gain.value),
        changed=float(np.mean(held.left(decided))),
        margin=whole,
        left=float(np.mean(held.left(whole))),
        without_margin=plain if margin else None,
    )


def raw_margin(data: TuningData, result: TuningResult, margin: float) -> float:
    """The margin in the unit of the result's own totals on the lists that it was tuned on."""
    return margin if isinf(margin) else margin * unit_of_leads(data, result)


def with_margin(tuner: Tuner, margin: Margin) -> Tuner:
    """The tuner itself without a margin, or the tuner whose results have one."""
    return WithMargin(tuner, margin) if margin else tuner


@dataclass
class WithMargin(Tuner):
    """A tuner whose result has a margin, tuned on folds of its own data, so that the margin is cross-validated, too."""

    tuner: Tuner
    margin: Margin
    folds: int | None = None

    @property
    def usual_start(self) -> Literal["uniform", "decoder"]:
        """That of the tuner."""
        return self.tuner.usual_start

    def tune(
        self, data: TuningData, start: FloatArray, rng: np.random.Generator, report: TuningReport = lambda step: None
    ) -> TuningResult:
        """Tune the weights, then the margin on held-out leads; a single segment gets an infinite margin."""
        seed = int(rng.integers(2**31))
        result = self.tuner.tune(data, start, rng, report)
        margin = self.margin
        if margin == "tuned":
            folds = self.folds or usual_folds(data, self.tuner)
            known = folds >= 2
            margin = held_out_leads(data, self.tuner, start, folds, seed).margin(data.metric) if known else np.inf
        return replace(result, margin=raw_margin(data, result, margin))
