"""Choices on lists that were held out: the one primitive by which gains, contributions and margins are measured.

The hypotheses of each fold are chosen by weights that were tuned on the other folds; a seed determines the folds. The
held-out gain is the difference of these choices to the 1-bests (gain.py), cross-validation compares tuners by them, and
what a family of features contributes is their difference to the choices without it (families.py).

Leads over the 1-bests, in a unit that all folds share, are leads on lists that the weights have not seen, from which
the margin is tuned (tuners/margin.py); on lists that weights were tuned on, leads are too large.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial

import numpy as np

from rerank_adapters.features.processes import HERE, Processes
from rerank_adapters.tuners.margin import best_margin, leads_of, with_margin
from rerank_adapters.tuners.within_lists import one_best, spread
from rerank_adapters.tuning.problem import decision_totals, take_segments
from rerank_plugins import ConfigError, FloatArray, Metric, Tuner, TuningData, TuningResult
from rerank_plugins.core.arrays import BoolArray, LongArray
from rerank_plugins.core.contracts import checked_tuning

FOLDS, FOLDS_OF_SLOW_TUNERS = 5, 3  # k folds cost as much as k - 1 tunings
MAX_HYPOTHESES_OF_FOLDS = 200_000  # above which there are as few folds as for slow tuners

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

    def best_margin(self, metric: Metric, segments: BoolArray | None = None) -> float:
        """The margin that is best on all segments, or on those of a mask."""
        kept = slice(None) if segments is None else segments
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
    segments = problem.table.segments
    check_folds(folds, segments)
    found: dict[int, HeldOut] = {}
    for number, own in processes.shared_results(partial(_tuned_fold, problem, tuner, start, folds, seed), range(folds)):
        found[number] = own
        progress(1)
    parts = [found[number] for number in range(folds)]
    order = np.argsort(np.concatenate(_folds(segments, folds, seed)))
    together = {field.name: np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(HeldOut)}
    return HeldOut(**{name: own if name == "training" else own[order] for name, own in together.items()})


def check_folds(folds: int, segments: int) -> None:
    """Raise ConfigError for fewer than two folds, and for more folds than segments."""
    if not 2 <= folds <= segments:
        raise ConfigError(f"{folds} folds of {segments} segments, expected at least 2, and at most one per segment")


def _folds(segments: int, folds: int, seed: int) -> list[LongArray]:
    """The segments of each fold, ascending."""
    shuffled = np.random.default_rng(seed).permutation(segments)
    return [np.sort(shuffled[number::folds]) for number in range(folds)]


def _tuned_fold(
    problem: TuningData, tuner: Tuner, start: FloatArray, folds: int, seed: int, number: int
) -> tuple[int, HeldOut]:
    """The number of a fold and the choices in it, by weights tuned on all others."""
    aside = _folds(problem.table.segments, folds, seed)[number]
    rest = take_segments(problem, np.setdiff1d(np.arange(problem.table.segments), aside))
    own = take_segments(problem, aside)
    result = checked_tuning(tuner, rest, start, np.random.default_rng([seed, number]))
    totals, offsets = decision_totals(own, result), own.table.offsets
    rows, leads = leads_of(totals, offsets)
    chosen = one_best(with_margin(totals, offsets, result.margin), offsets)
    return number, HeldOut(
        chosen=own.statistics[chosen],
        first=own.statistics[offsets[:-1]],
        leading=own.statistics[rows],
        leads=leads / unit_of_leads(rest, result),
        positions=chosen - offsets[:-1],
        fold=np.full(len(aside), number, np.int64),
        training=np.array([result.score]),
    )


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
