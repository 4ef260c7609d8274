"""The scores of a grid search as a table: how the metric depends on single weights."""

from __future__ import annotations

import numpy as np

from rerank_adapters.report import numbers
from rerank_adapters.report.tables import Table
from rerank_adapters.tuners.grid import Axis, Grid, best_point
from rerank_plugins import Metric, TuningResult


def grid_table(grid: Grid, result: TuningResult, name: str, metric: Metric) -> Table:
    """The scores by the first axis (rows) and the second (columns), at the best value of a third; * marks the best.

    `result` is the grid's result by the metric, which is called `name`.
    """
    axes = [Axis.read(text) for text in grid.axes]
    scores = np.array([step.score for step in result.trace]).reshape([len(axis.values) for axis in axes])
    best = best_point(scores, metric.higher_is_better)
    plane = scores[..., best[2]] if len(axes) > 2 else scores
    rows = [
        [numbers.score(score) + " *" * ((i, j)[: plane.ndim] == best[:2]) for j, score in enumerate(row.ravel())]
        for i, row in enumerate(plane)
    ]
    first, *others = axes
    title, heads, note = f"{name}: {first.name}", [name], "* marks the best point."
    if others:
        title, heads = f"{title} by {others[0].name}", [f"{value:g}" for value in others[0].values]
    if len(others) > 1:
        note += f" {others[1].name} is {others[1].values[best[2]]:g}."
    cells = tuple((f"{value:g}", *row) for value, row in zip(first.values, rows, strict=True))
    return Table(title, (f"{first.name} ↓", *heads), cells, (note,))
