"""What reranking gains over the baseline on tuning lists that were held out, and whether that is certain.

The baseline is the decoder's 1-best or, of lists that have two (evaluation/baselines.py), the stronger one. The margin
that decides in a fold is tuned on the leads of the other folds, so that the score with a margin is held out too. (The
weights behind these leads have seen the fold in question; by that way only one number, the margin, can have learnt from
it.) The interval of a gain is that of the paired bootstrap over segments; it takes the tuned weights as they are. A
tuned margin that may harm is not used: unless the interval of the gain over the 1-bests is above zero, every 1-best is
kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from math import inf, isinf
from typing import Any, Literal

import numpy as np

from rerank_adapters.evaluation.baselines import FIRST, HIGHEST_TOTAL
from rerank_adapters.evaluation.comparisons import Resampling, paired_gains
from rerank_adapters.evaluation.significance import Interval
from rerank_adapters.tuners.margin import Margin
from rerank_adapters.tuning.held_out import HeldOut, held_out, unit_of_leads, usual_folds
from rerank_plugins import FloatArray, Metric, Tuner, TuningData, TuningResult
from rerank_plugins.core.contracts import checked_tuning
from rerank_plugins.core.metrics_and_tuners import TuningReport

RESAMPLES = 1000  # of the bootstrap
HELD_OUT = "held_out"  # the key of a provenance


@dataclass(frozen=True)
class HeldOutGain:
    """The gain of reranking over the baseline on tuning lists that were held out, by the first metric.

    `folds`, `segments`  the lists were divided into so many folds; those of each were chosen from by weights (and a
                         margin) tuned on the other folds
    `first`              the corpus score of the decoder's 1-bests
    `score`              the corpus score of the held-out choices
    `gain`, `interval`   by how much that is better, and the 95 % interval of the paired bootstrap over segments; above
                         0 is better, for error rates too
    `changed`            the proportion of the 1-bests that the choices replace
    `margin`             the margin in use, in units of `unit_of_leads`; 0 for none
    `replaced`           the proportion of the 1-bests that held-out choices with this very margin replace
    `without_margin`     the corpus score of the held-out choices without it
    `baselines`          where the lists have two, the corpus score of each by its name, that of the stronger one first
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

    @property
    def baseline(self) -> str:
        """The name of the baseline that the gain is over."""
        return next(iter(self.baselines), FIRST)

    @property
    def certain(self) -> bool:
        """Whether the interval is above zero."""
        return self.interval.low > 0

    @property
    def text(self) -> str:
        """As `a gain of +0.84 [-1.20, +2.91]`, over which of two baselines; above 0 is better, for error rates too."""
        over = f" over the {self.baseline}" if self.baselines else ""
        return f"a gain of {self.gain:+.2f} [{self.interval.low:+.2f}, {self.interval.high:+.2f}]{over}"

    @property
    def doubt(self) -> str:
        """A sentence, without its full stop, on a gain that is not certain."""
        if isinf(self.margin):
            return "No gain is shown, so the margin is infinite and keeps every 1-best"
        if not self.changed:
            return "No gain is shown: no choice differs from the decoder's on held-out lists"
        if self.interval.high < 0:
            than = "the decoder's" if self.baseline == FIRST else f"those of the {self.baseline}"
            return f"No gain is shown: on held-out lists the new 1-bests are worse than {than}"
        return "No gain is shown: the interval of the held-out gain includes zero"

    @property
    def advice(self) -> str:
        """Advice for the case that no gain is certain."""
        if isinf(self.margin):
            return "Tune on more lists or with other features"
        if self.baseline != FIRST:
            return f"Take the hypotheses of the {self.baseline}, or tune on more lists or with other features"
        if self.without_margin is not None:
            return "Keep the decoder's 1-bests, or tune on more lists or with other features"
        return (
            "Keep the decoder's 1-bests, tune on more lists or with other features, or let a margin keep the 1-bests "
            'that others hardly lead (`margin = "tuned"` in [tuner]; -t NAME,margin=tuned)'
        )

    def lines(self, metric: str) -> tuple[str, ...]:
        """A line with the gain, by the metric of this name, and one more that says so where it is not certain."""
        changed = f"{100 * self.changed:.0f} % of the 1-bests changed"
        if self.without_margin is not None:
            which = "margins of the folds" if isinf(self.margin) else f"a margin of {self.margin:.2f}"
            changed += f" with {which}; without a margin {self.without_margin:.2f}"
        scores = {FIRST: self.first, **dict(sorted(self.baselines.items()))}
        line = (
            f"held out on {self.folds} folds of the tuning lists: {metric} {self.score:.2f}, "
            f"{', '.join(f'{name} {score:.2f}' for name, score in scores.items())}, {self.text}; {changed}"
        )
        return (line,) if self.certain else (line, f"{self.doubt}. {self.advice}.")

    def for_provenance(self, metric: str) -> dict[str, Any]:
        """The values by name, as a provenance holds them under `HELD_OUT`, with the name of the metric."""
        values = {name: value for name, value in asdict(self).items() if name != "baselines" or value}
        return {"metric": metric, **values, "interval": list(self.interval)}

    @classmethod
    def of_provenance(cls, provenance: Mapping[str, Any]) -> tuple[HeldOutGain, str] | None:
        """The gain that a provenance holds, and the name of the metric.

        None where nothing is recorded, or something that was edited by hand.
        """
        with suppress(LookupError, TypeError, ValueError):
            recorded = provenance[HELD_OUT]
            values = {field.name: recorded[field.name] for field in fields(cls) if field.name in recorded}
            return cls(**{**values, "interval": Interval(*map(float, values["interval"]))}), str(recorded["metric"])
        return None


def gain_over_baselines(
    held: HeldOut,
    metric: Metric,
    margin: Margin,
    seed: int,
    groups: Sequence[str] | None = None,
    highest: FloatArray | None = None,
) -> HeldOutGain:
    """The gain of the held-out choices with a margin; with `groups` (segments), whole groups are resampled.

    `highest` (segments, S) are the statistics of the highest totals, if these are another baseline than the 1-bests. A
    tuned margin is infinite unless the interval of the gain over the 1-bests that it has on the folds is above zero.
    """
    decided: FloatArray | float = 0.0 if margin == "tuned" else margin
    whole = held.best_margin(metric) if margin == "tuned" else margin
    if margin == "tuned":
        of_folds = [held.best_margin(metric, held.fold != number) for number in range(len(held.training))]
        decided = np.array(of_folds)[held.fold]
    choices = held.with_margins(decided)
    baselines = {FIRST: held.first} if highest is None else {FIRST: held.first, HIGHEST_TOTAL: highest}
    pairs, resampling = [(0, number + 1) for number in range(len(baselines))], Resampling(RESAMPLES, 0, seed)
    gains = paired_gains([choices, *baselines.values()], pairs, metric, resampling, groups)
    intervals = [gain.interval or Interval(gain.value, gain.value) for gain in gains]
    if margin == "tuned" and intervals[0].low <= 0:
        whole = inf
    least = min(range(len(gains)), key=lambda number: gains[number].value)  # the gain over the stronger baseline
    scores = {name: float(metric.score(statistics.sum(axis=0))) for name, statistics in baselines.items()}
    names = sorted(scores, key=lambda name: name != [*scores][least])
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
        baselines={name: scores[name] for name in names} if highest is not None else {},
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
            margin = inf if held is None else gain_over_baselines(held, data.metric, margin, seed).margin
        return replace(result, margin=raw_margin(data, result, margin))
