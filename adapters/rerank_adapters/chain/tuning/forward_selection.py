"""Forward selection of feature families by their cross-validated scores on the tuning set.

From the families that are there from the start, the one whose addition gives the best held-out score is added, then the
next, until all are in. Each step chooses the best of several noisy scores, so the scores along the way are optimistic,
the more the fewer segments there are: what the families chosen are worth shows on other lists. Of F families it takes
F (F + 1) / 2 cross-validations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rerank_adapters.chain.tuning.family_trials import FamilyTrials
from rerank_plugins.core.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Addition:
    """A family that was added, and the held-out score with it and all families before it.

    `statistics` (segments, S) are those of the held-out choices, for comparisons.
    """

    family: str
    score: float
    statistics: FloatArray


@dataclass(frozen=True, eq=False)
class Growth:
    """The steps of a forward selection, in order; `base` are the families that were there before the first.

    `base_score` and `base_statistics` are the score and the statistics of the held-out choices before the first step.
    """

    base: tuple[str, ...]
    base_score: float
    base_statistics: FloatArray
    steps: tuple[Addition, ...]
    higher_is_better: bool

    @property
    def best(self) -> int:
        """The number of steps after which the score is best; the smallest of equals, 0 if no step improves it."""
        sign = 1.0 if self.higher_is_better else -1.0
        scores = [sign * score for score in (self.base_score, *(step.score for step in self.steps))]
        return scores.index(max(scores))

    @property
    def chosen(self) -> tuple[str, ...]:
        """The families with which the score is best: the base, and those of the first `best` steps."""
        return (*self.base, *(step.family for step in self.steps[: self.best]))


def forward_selection(
    trials: FamilyTrials,
    base: Sequence[str] = (),
    *,
    patience: int | None = None,
    report: Callable[[Addition], None] = lambda step: None,
) -> Growth:
    """Add one family after another to those of `base`, the best first; of equal scores the earlier family wins.

    It ends when all families are in, or after `patience` steps in a row without a better score than any before.
    `report` is called with each step.
    """
    sign = 1.0 if trials.data.metric.higher_is_better else -1.0
    used = list(base)
    (base_statistics,) = trials.statistics([used])
    base_score = trials.score(base_statistics)
    best, since = sign * base_score, 0
    steps: list[Addition] = []
    while remaining := [family for family in trials.families if family not in used]:
        statistics = trials.statistics([*used, family] for family in remaining)
        scores = [trials.score(held_out) for held_out in statistics]
        first = max(range(len(remaining)), key=lambda i: sign * scores[i])
        steps.append(Addition(remaining[first], scores[first], statistics[first]))
        used.append(remaining[first])
        report(steps[-1])
        since = 0 if sign * scores[first] > best else since + 1
        best = max(best, sign * scores[first])
        if patience is not None and since >= patience:
            break
    return Growth(tuple(base), base_score, base_statistics, tuple(steps), trials.data.metric.higher_is_better)
