"""The facts of a run beside its evaluation: its tuning, what families of features contribute, and segments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rerank_adapters.evaluation.significance import Interval


@dataclass(frozen=True)
class Contribution:
    """The contribution of one family of features, or of several that are left out together.

    `columns`   the number of their features
    `spread`    the standard deviation within lists of their weighted sum, divided by that of the whole score; families
                that agree or cancel each other make these ratios sum to less or more than 1
    `held_out`  the corpus score of choices on held-out folds, where all other families were tuned on the other folds
    `loss`      by how much that is worse than with all families; negative where the choices are better without it
    `error`     the standard error of the loss over segments
    """

    family: str
    columns: int
    spread: float
    held_out: float
    loss: float
    error: float

    @property
    def half_width(self) -> float:
        """Half the width of the 95 % interval of the loss, in normal approximation."""
        return 1.96 * self.error

    @property
    def certain(self) -> bool:
        """Whether the interval excludes zero."""
        return abs(self.loss) > self.half_width


@dataclass(frozen=True)
class Contributions:
    """The contributions of all families, and the held-out score with all of them, over so many folds of segments."""

    rows: tuple[Contribution, ...]
    held_out: float
    folds: int
    segments: int


@dataclass(frozen=True)
class HeldOut:
    """The gain of reranking over the 1-bests on tuning lists that were held out, by the first metric.

    `folds`, `segments`  the lists were divided into so many folds; those of each were chosen from by weights (and a
                         margin) tuned on the other folds
    `first`              the corpus score of the decoder's 1-bests
    `score`              the corpus score of the held-out choices
    `gain`, `interval`   by how much that is better, and the 95 % interval of the paired bootstrap over segments; above
                         0 is better, for error rates too
    `changed`            the proportion of the 1-bests that the choices replace
    `margin`             the margin in use, in units of `unit_of_leads`; 0 for none
    `left`               the proportion of the 1-bests that held-out choices with this very margin leave
    `without_margin`     the corpus score of the held-out choices without it
    """

    folds: int
    segments: int
    first: float
    score: float
    gain: float
    interval: Interval
    changed: float
    margin: float = 0.0
    left: float = 0.0
    without_margin: float | None = None

    @property
    def certain(self) -> bool:
        """Whether the interval is above zero."""
        return self.interval.low > 0


@dataclass(frozen=True)
class TunedWeight:
    """The weight of a dense feature, and its `part`: the weight times the deviation of the feature within lists,
    divided by the deviation of the whole score.

    `interval` (95 %), that of the part over resampled tuning sets, and `same_sign`, the proportion of these sets that
    give the weight the same sign, are None without resamples.
    """

    feature: str
    weight: float
    part: float
    interval: Interval | None = None
    same_sign: float | None = None


@dataclass(frozen=True)
class ListLengths:
    """Scores by the first metric where each list is cut to its first n hypotheses, for the `lengths` n.

    `oracle` are the best scores that a choice from the cut lists has (a search may miss the best for metrics that do
    not add up over segments), `reranked` those of the choices by the tuned weights; the latter are empty for decisions
    by expected utility, which depend on the whole list.
    """

    lengths: tuple[int, ...]
    oracle: tuple[float, ...]
    reranked: tuple[float, ...]


@dataclass(frozen=True)
class RunFacts:
    """Facts about a run, each of which may be missing.

    `job`           the name of the job, as of its config file
    `system`        the name of the system with all features in the evaluation
    `tuner`, `tuning_score`, `tuned_at`  how, to which score of the first metric, and when the weights were tuned
    `curve`         the score on the tuning set after each iteration, by restart
    `held_out`      the gain of the system over the 1-bests on held-out tuning lists
    `explanations`  by segment, a record of why the new 1-best beats the decoder's (report/explanation.py)
    """

    job: str = ""
    system: str = ""
    tuner: str = ""
    tuning_score: float | None = None
    tuned_at: str = ""
    contributions: Contributions | None = None
    weights: tuple[TunedWeight, ...] = ()
    samples: int = 0
    curve: tuple[tuple[float, ...], ...] = ()
    lists: ListLengths | None = None
    held_out: HeldOut | None = None
    explanations: Mapping[str, Any] = field(default_factory=dict)
