"""MBR decoding as a tuner (Kumar & Byrne 2004; Ehling et al. 2007): only the posterior's scale is tuned for it.

A posterior needs weights that mean something: by default those that batch MIRA finds, or the start weights as they are
(`weights = "start"`, for the decoder's own). The scale is then the one free parameter.

For every scale of a logarithmic grid, each list's hypothesis of highest expected utility is chosen (mbr_decision.py)
and the corpus metric of the choices computed. Utilities do not depend on the scale, so one pass over the lists serves
the whole grid, which is therefore fine from the start, and no utilities are kept. Of the scales that score best, the
middle of the longest run of neighbours is taken.

The grid is in units of 1 / (standard deviation of the weighted sums within lists): from `lowest`, where all voters are
nearly equal, to `highest`, nearly the 1-best. Cost: n * min(n, evidence) utilities per list of n hypotheses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from rerank_adapters.tuners.gains import spread
from rerank_adapters.tuners.mbr_decision import evidence_of, expected_utilities, utilities
from rerank_adapters.tuners.mira import Mira
from rerank_plugins.arrays import FloatArray, LongArray
from rerank_plugins.errors import ConfigError
from rerank_plugins.interfaces import Tuner, TuningData, TuningResult, TuningStep, option


@dataclass
class Mbr(Tuner):
    """Minimum Bayes risk reranking (Kumar & Byrne 2004): the scale of the posterior tuned, weights by MIRA or given."""

    weights: Literal["mira", "start"] = option("mira", doc="weights of the posterior: tuned by MIRA, or the start's")
    evidence: int = option(100, doc="hypotheses of each list, best first, that vote; bounds the cost")
    lowest: float = option(0.03, doc="smallest scale tried, in units of 1 / standard deviation of the weighted sums")
    highest: float = option(30.0, doc="largest scale tried, likewise")
    scales: int = option(61, doc="how many scales to try, evenly spaced in the logarithm")

    def __post_init__(self) -> None:
        """Check the options."""
        if self.evidence < 1 or self.scales < 1:
            raise ValueError("evidence and scales must be 1 or more")
        if not 0 < self.lowest <= self.highest:
            raise ValueError(f"scales from {self.lowest} to {self.highest}; wanted 0 < lowest <= highest")

    def tune(
        self,
        data: TuningData,
        start: FloatArray,
        rng: np.random.Generator,
        report: Callable[[TuningStep], None] = lambda step: None,
    ) -> TuningResult:
        """The weights and the scale whose choices score best. Raises ConfigError without hypotheses' texts."""
        offsets = data.table.offsets
        if len(data.hypotheses) != len(offsets) - 1:
            raise ConfigError("MBR compares hypotheses with each other: it needs their texts, and has none")
        weights = (
            Mira().tune(data, start, rng, report).weights if self.weights == "mira" else np.array(start, np.float64)
        )
        scores = data.table.scores(weights)
        unit = spread(scores, offsets)
        grid = np.geomspace(self.lowest, self.highest, self.scales) / unit
        totals = np.zeros((self.scales, data.statistics.shape[1]))
        for texts, (begin, end) in zip(data.hypotheses, pairwise(offsets), strict=True):
            totals += data.statistics[begin + self._choices(scores[begin:end], texts, data, grid)]
        sign = 1.0 if data.metric.higher_is_better else -1.0
        metric = data.metric.score(totals)
        steps = [TuningStep(0, i, float(score)) for i, score in enumerate(metric, 1)]
        for step in steps:
            report(step)
        best = middle_of_longest_run(sign * metric)
        note = f"scale {grid[best]:.6g}, from {self.scales} between {grid[0]:.3g} and {grid[-1]:.3g}"
        return TuningResult(
            weights,
            float(metric[best]),
            "mbr",
            float(grid[best]),
            self.evidence,
            trace=tuple(steps),
            notes=(note,),
        )

    def _choices(self, scores: FloatArray, texts: Sequence[str], data: TuningData, grid: FloatArray) -> LongArray:
        """(scales): position of the choice in a list, the earlier among equals."""
        voters = evidence_of(scores, self.evidence)
        expected = expected_utilities(scores[voters], utilities(texts, data.metric, voters), grid)
        choices: LongArray = np.argmax(expected, axis=0)
        return choices


def middle_of_longest_run(values: FloatArray) -> int:
    """Position in the middle of the longest run of the highest value; of equally long runs the first."""
    best = np.concatenate([[False], values == values.max(), [False]]).astype(np.int8)
    begins, ends = np.flatnonzero(np.diff(best) == 1), np.flatnonzero(np.diff(best) == -1)
    longest = int(np.argmax(ends - begins))
    return int(begins[longest] + ends[longest] - 1) // 2
