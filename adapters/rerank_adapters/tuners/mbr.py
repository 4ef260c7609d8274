"""MBR decoding as a tuner (Kumar & Byrne 2004; Ehling et al. 2007), which tunes only the scale of the posterior.

The posterior needs meaningful weights. By default they are those that batch MIRA finds; with `weights = "start"` they
are the start weights unchanged, for instance the decoder's own. The scale is then the only free parameter.

For every scale of a logarithmic grid the hypothesis of highest expected utility is chosen in each list, and the corpus
metric of the choices is computed. Utilities do not depend on the scale, so one pass over the lists suffices for the
whole grid, which can therefore be fine, and no utilities are kept. Of the scales that score best, the one in the middle
of the longest run of neighbours is taken (mbr_decision.py has the decision itself).

The grid is in units of 1 / (standard deviation of the weighted sums within lists): at `lowest` all voters have nearly
equal weight, at `highest` the choice is nearly the 1-best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from rerank_adapters.tuners.mbr_decision import evidence_of, expected_utilities, utilities
from rerank_adapters.tuners.mira import Mira
from rerank_adapters.tuners.within_lists import spread
from rerank_plugins import ConfigError, FloatArray, Metric, Tuner, TuningData, TuningResult, TuningStep, option
from rerank_plugins.core.arrays import LongArray
from rerank_plugins.core.metrics_and_tuners import TuningReport


@dataclass
class Mbr(Tuner):
    """Minimum Bayes risk reranking (Kumar & Byrne 2004): tunes the posterior's scale; weights by MIRA or given."""

    weights: Literal["mira", "start"] = option(
        "mira", doc="weights of the posterior: tuned by MIRA, or the start weights"
    )
    bags: int = option(0, doc="bootstrap samples of the lists over which MIRA's weights are averaged (0: none)")
    prior: float = option(0.0, doc="strength of MIRA's pull towards the start weights, such as the decoder's")
    evidence: int = option(100, doc="number of best hypotheses of each list that vote; bounds the cost")
    lowest: float = option(0.03, doc="smallest scale tried, in units of 1 / standard deviation of the weighted sums")
    highest: float = option(30.0, doc="largest scale tried, in the same units")
    scales: int = option(61, doc="number of scales to try, evenly spaced in their logarithms")

    def __post_init__(self) -> None:
        """Check the options. Raises ValueError for a value out of range."""
        if self.evidence < 1 or self.scales < 1:
            raise ValueError("evidence and scales must be 1 or more")
        if not 0 < self.lowest <= self.highest:
            raise ValueError(f"scales from {self.lowest} to {self.highest}; wanted 0 < lowest <= highest")

    def tune(
        self, data: TuningData, start: FloatArray, rng: np.random.Generator, report: TuningReport = lambda step: None
    ) -> TuningResult:
        """Find the scale whose choices score best. Raises ConfigError where the hypotheses' texts are missing."""
        offsets = data.table.offsets
        if len(data.hypotheses) != len(offsets) - 1:
            raise ConfigError("MBR compares hypotheses with each other: it needs their texts, and has none")
        weights = (
            Mira(bags=self.bags, prior=self.prior).tune(data, start, rng, report).weights
            if self.weights == "mira"
            else np.array(start, np.float64)
        )
        scores = data.table.scores(weights)
        unit = spread(scores, offsets)
        grid = np.geomspace(self.lowest, self.highest, self.scales) / unit
        totals = np.zeros((self.scales, data.statistics.shape[1]))
        for segment, (texts, (begin, end)) in enumerate(zip(data.hypotheses, pairwise(offsets), strict=True)):
            own = data.metric_of(segment)
            totals += data.statistics[begin + self._choices(scores[begin:end], texts, own, grid)]
        sign = 1.0 if data.metric.higher_is_better else -1.0
        metric = data.metric.score(totals)
        steps = [TuningStep(0, i, float(score)) for i, score in enumerate(metric, 1)]
        for step in steps:
            report(step)
        best = middle_of_longest_run(sign * metric)
        note = f"scale {grid[best]:.6g}, from {self.scales} between {grid[0]:.3g} and {grid[-1]:.3g}"
        return TuningResult(
            weights, float(metric[best]), "mbr", float(grid[best]), self.evidence, trace=tuple(steps), notes=(note,)
        )

    def _choices(self, scores: FloatArray, texts: Sequence[str], metric: Metric, grid: FloatArray) -> LongArray:
        """(scales): the position of the choice in a list, the earliest among equals."""
        voters = evidence_of(scores, self.evidence)
        expected = expected_utilities(scores[voters], utilities(texts, metric, voters), grid)
        choices: LongArray = np.argmax(expected, axis=0)
        return choices


def middle_of_longest_run(values: FloatArray) -> int:
    """The position in the middle of the longest run of the highest value; of equally long runs the first counts."""
    best = np.concatenate([[False], values == values.max(), [False]]).astype(np.int8)
    begins, ends = np.flatnonzero(np.diff(best) == 1), np.flatnonzero(np.diff(best) == -1)
    longest = int(np.argmax(ends - begins))
    return int(begins[longest] + ends[longest] - 1) // 2
