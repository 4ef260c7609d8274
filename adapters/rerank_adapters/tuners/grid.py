"""Exhaustive search over a grid of weights, as for a recogniser's language-model weight and insertion penalty.

All points are scored at once on the additive statistics: a block of points is one product of the features on the axes
(rows, axes) with the points (axes, block), a maximum within each list, and a sum of the statistics of the chosen rows.
Cost: O(points · rows · axes), in blocks of bounded memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np

from rerank_adapters.tuners.within_lists import one_best
from rerank_plugins import ConfigError, FloatArray, Tuner, TuningData, TuningResult, TuningStep, option
from rerank_plugins.core.arrays import BoolArray, LongArray
from rerank_plugins.core.errors import suggestion
from rerank_plugins.core.metrics_and_tuners import TuningReport

CELLS = 1 << 21  # scores of a block of points: 16 MB of float64
AXES = 3


@dataclass(frozen=True)
class Axis:
    """The values that the weight of a feature takes, in ascending order."""

    name: str
    values: tuple[float, ...]

    @classmethod
    def read(cls, text: str) -> Axis:
        """Read NAME=FROM:TO:COUNT or NAME=VALUE,VALUE,…. Raises ConfigError for another form.

        >>> Axis.read("LM=0:2:5").values
        (0.0, 0.5, 1.0, 1.5, 2.0)
        >>> Axis.read("words=-1,0").values
        (-1.0, 0.0)
        """
        wanted = f"axis {text!r}; wanted NAME=FROM:TO:COUNT or NAME=VALUE,VALUE,…"
        name, _, numbers = text.rpartition("=")
        try:
            if ":" in numbers:
                first, last, count = numbers.split(":")
                values = [float(first), float(last)]
                count_of_values = int(count)
            else:
                values, count_of_values = [float(number) for number in numbers.split(",")], 0
        except ValueError:
            raise ConfigError(wanted) from None
        if not name or not np.isfinite(values).all() or (":" in numbers and count_of_values < 1):
            raise ConfigError(wanted)
        if count_of_values:
            values = np.linspace(values[0], values[1], count_of_values).round(12).tolist()
        return cls(name, tuple(sorted(set(values))))


def grid_scores(data: TuningData, weights: FloatArray, axes: Sequence[Axis]) -> FloatArray:
    """(length of the first axis, …, of the last): the corpus score of the 1-bests at each point of the grid.

    `weights` are those of all features (in the order of `data.table.all_names`); the points replace those on the axes.
    Raises ConfigError for an axis whose name no feature has, or two axes of one name.
    """
    names = data.table.all_names
    columns = []
    for axis in axes:
        if axis.name not in names:
            raise ConfigError(f"axis: no feature named {axis.name!r}{suggestion(axis.name, names)}")
        columns.append(names.index(axis.name))
    if len(set(columns)) < len(columns):
        raise ConfigError("axis: two axes have the same feature; give each feature one axis")
    others = weights.copy()
    others[columns] = 0.0
    base = data.table.scores(others)
    features = np.stack([_column(data, len(names), column) for column in columns], axis=1)
    points = np.array(list(product(*(axis.values for axis in axes))))
    scores = np.empty(len(points))
    block = max(1, CELLS // max(1, len(base)))
    for begin in range(0, len(points), block):
        totals = base + points[begin : begin + block] @ features.T
        for point, row in enumerate(totals, begin):
            chosen = one_best(row, data.table.offsets)
            scores[point] = data.metric.score(data.statistics[chosen].sum(axis=0))
    return scores.reshape([len(axis.values) for axis in axes])


def best_point(scores: FloatArray, higher_is_better: bool) -> tuple[int, ...]:
    """The indices of the best score; of equal ones, the middle of the largest plateau.

    The points of a plateau are connected by steps along the axes, and its middle is its point nearest to their mean:
    it holds better on other lists than a point at the edge. If several plateaus or points are equal in this, the best
    neighbours decide, then the order; neighbours beyond the end of an axis count as the worst.
    """
    gains = scores if higher_is_better else -scores
    around = np.zeros_like(gains)
    padded = np.pad(gains, 1, constant_values=gains.min())
    inner = tuple(slice(1, -1) for _ in gains.shape)
    for axis in range(gains.ndim):
        for shift in (slice(None, -2), slice(2, None)):
            around += padded[(*inner[:axis], shift, *inner[axis + 1 :])]
    plateaus = _plateaus(gains >= gains.max() - 1e-12)
    plateau = max(plateaus, key=lambda points: (len(points), around[tuple(points.T)].max()))
    distances = np.square(plateau - plateau.mean(axis=0)).sum(axis=1).round(9)
    middle = np.lexsort((-around[tuple(plateau.T)], distances))[0]
    return tuple(plateau[middle].tolist())


def _plateaus(ties: BoolArray) -> list[LongArray]:
    """(points, axes) the indices of the true points of each connected part, in order."""
    left, plateaus = {tuple(point) for point in np.argwhere(ties).tolist()}, []
    steps = [*np.eye(ties.ndim, dtype=np.int64), *-np.eye(ties.ndim, dtype=np.int64)]
    while left:
        reached = [min(left)]
        left.remove(reached[0])
        for point in reached:  # which grows
            new = left.intersection(tuple((np.array(point) + step).tolist()) for step in steps)
            left -= new
            reached.extend(new)
        plateaus.append(np.array(sorted(reached), np.int64))
    return plateaus


def _column(data: TuningData, width: int, column: int) -> FloatArray:
    """(rows): the values of one feature, dense or sparse."""
    if column < len(data.table.names):
        values: FloatArray = data.table.values[:, column]
        return values
    return data.table.scores(np.eye(1, width, column)[0])


@dataclass
class Grid(Tuner):
    """Grid search: every combination of the weights on the axes is tried; the other weights stay the decoder's."""

    axes: tuple[str, ...] = option(doc="features and their weights: NAME=FROM:TO:COUNT or NAME=VALUE,VALUE,…")

    def __post_init__(self) -> None:
        """Check the axes. Raises ValueError for none, and for more than three."""
        if not 1 <= len(self.axes) <= AXES:
            raise ValueError(f"axes has {len(self.axes)} axes; wanted 1 to {AXES}")

    @property
    def usual_start(self) -> Literal["uniform", "decoder"]:
        """The decoder's weights, since a grid leaves most weights as they are."""
        return "decoder"

    def tune(
        self, data: TuningData, start: FloatArray, _: np.random.Generator, report: TuningReport = lambda step: None
    ) -> TuningResult:
        """The weights of the best point; the trace has all points, the last axis fastest.

        Raises ConfigError for axes as `grid_scores` does, and for an axis of a fixed weight.
        """
        axes = [Axis.read(text) for text in self.axes]
        scores = grid_scores(data, start, axes)
        best = best_point(scores, data.metric.higher_is_better)
        weights = start.copy()
        for axis, position in zip(axes, best, strict=True):
            column = data.table.all_names.index(axis.name)
            if data.fixed[column]:
                raise ConfigError(f"axis: the weight of {axis.name} is fixed")
            weights[column] = axis.values[position]
        trace = tuple(TuningStep(0, point, score) for point, score in enumerate(scores.ravel().tolist(), 1))
        report(TuningStep(0, len(trace), float(scores[best])))
        return TuningResult(weights, float(scores[best]), trace=trace, notes=edge_notes(axes, best))


def edge_notes(axes: Sequence[Axis], best: Sequence[int]) -> tuple[str, ...]:
    """A line for each axis on whose end the best point lies: a better one may lie beyond."""
    return tuple(
        f"the best weight of {axis.name}, {axis.values[position]:g}, is at an end of its axis: widen it"
        for axis, position in zip(axes, best, strict=True)
        if len(axis.values) > 1 and position in (0, len(axis.values) - 1)
    )
