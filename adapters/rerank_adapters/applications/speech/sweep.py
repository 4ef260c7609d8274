"""`rerank lists sweep`: scores weights on a grid, such as LM weight by word penalty, and chooses the best point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from rerank_adapters.commands import options
from rerank_adapters.commands.summary_line import SummaryLine
from rerank_adapters.report import numbers
from rerank_adapters.report.plots import new_figure, save_figure
from rerank_adapters.report.tables import Table
from rerank_adapters.runtime.progress import counted
from rerank_adapters.tuners.grid import Axis, best_point
from rerank_adapters.weights import read_weights, write_weights
from rerank_plugins import ConfigError, FeatureTable, FloatArray
from rerank_plugins.core.registry import suggestion

if TYPE_CHECKING:
    from rerank_adapters.chain.data import Data
    from rerank_adapters.chain.job import Job
    from rerank_adapters.chain.tune import TuningOutcome
    from rerank_adapters.formats.pairing import Unpaired
    from rerank_adapters.formats.references import ReferenceForm


@dataclass(frozen=True)
class Sweep:
    """The scores (length of each axis) at all points, the indices of the best one, and the weights there."""

    axes: tuple[Axis, ...]
    scores: FloatArray
    best: tuple[int, ...]
    learnt: TuningOutcome

    @classmethod
    def run(
        cls, job: Job, data: Data, table: FeatureTable, start: str | None, fixed: Sequence[str], folder: Path
    ) -> Sweep:
        """Sweep the axes of the job's tuner, which is `grid`. `start` is a weights file, `fixed` holds NAME=VALUE.

        The provenance of the weights names files relative to `folder`. Raises ConfigError for an unknown feature.
        """
        from rerank_adapters.chain.tune import learn

        axes = tuple(Axis.read(text) for text in job.config.tuner["axes"])
        weights = {**_start(table, start), **dict(_weight(text, table) for text in fixed)}
        started = job.changed(tuning={"start": weights})
        learnt = learn(started, data, table, folder)
        points = np.array([step.score for step in learnt.result.trace])  # one for each, the last axis fastest
        scores = points.reshape([len(axis.values) for axis in axes])
        return cls(axes, scores, best_point(scores, started.measures[0].metric.higher_is_better), learnt)

    def plane(self) -> FloatArray:
        """The scores by the first two axes, at the best value of a third."""
        plane: FloatArray = self.scores[(..., self.best[2])] if len(self.axes) > 2 else self.scores
        return plane


def sweep_table(sweep: Sweep, metric: str) -> Table:
    """The scores by the first axis (rows) and the second (columns), at the best value of a third; * marks the best."""
    rows, columns = sweep.axes[0], sweep.axes[1] if len(sweep.axes) > 1 else None
    plane = sweep.plane()
    cells = []
    for i, value in enumerate(rows.values):
        scores = plane[i].ravel()
        marks = [" *" if (i, j)[: plane.ndim] == sweep.best[:2] else "" for j in range(len(scores))]
        cells.append((f"{value:g}", *(numbers.score(s) + mark for s, mark in zip(scores, marks, strict=True))))
    header = (f"{rows.name} ↓", *([metric] if columns is None else [f"{value:g}" for value in columns.values]))
    over = f": {rows.name}" + (f" by {columns.name}" if columns else "")
    third = f" {sweep.axes[2].name} is {sweep.axes[2].values[sweep.best[2]]:g}." if len(sweep.axes) > 2 else ""
    return Table(f"{metric}{over}", header, tuple(cells), (f"* marks the best point.{third}",))


def sweep_records(sweep: Sweep, metric: str) -> list[dict[str, Any]]:
    """A record for each point: the weights on the axes, the score, and whether it is the best."""
    return [
        {
            **{axis.name: axis.values[i] for axis, i in zip(sweep.axes, point, strict=True)},
            metric: float(sweep.scores[point]),
            "best": int(point == sweep.best),
        }
        for point in product(*(range(len(axis.values)) for axis in sweep.axes))
    ]


def plot_sweep(sweep: Sweep, metric: str, path: Path) -> None:
    """Draw a line (one axis) or a map of the scores (two; at the best value of a third), with the best point."""
    figure, drawing = new_figure()
    first = sweep.axes[0]
    plane = sweep.plane()
    if len(sweep.axes) == 1:
        drawing.plot(first.values, plane, marker=".")
        drawing.plot(first.values[sweep.best[0]], plane[sweep.best], "k*")
        drawing.set_ylabel(metric)
    else:
        second = sweep.axes[1]
        drawn = drawing.pcolormesh(second.values, first.values, plane, shading="nearest", cmap="viridis")
        drawing.plot(second.values[sweep.best[1]], first.values[sweep.best[0]], "r*")
        figure.colorbar(drawn, label=metric)
        drawing.set_ylabel(first.name)
    drawing.set_xlabel(sweep.axes[1].name if len(sweep.axes) > 1 else first.name)
    save_figure(figure, path)


def _start(table: FeatureTable, path: str | None) -> dict[str, float]:
    """The weights of a file by name, and 1 for each dense feature that it lacks."""
    uniform = dict.fromkeys(table.names, 1.0)
    if path is None:
        return uniform
    weights = read_weights(Path(path))
    known = {name: weight for name, weight in {**weights.dense, **weights.sparse}.items() if name in table.all_names}
    return {**uniform, **known}


def _weight(text: str, table: FeatureTable) -> tuple[str, float]:
    """A weight written as NAME=VALUE. Raises ConfigError for another form or an unknown name."""
    name, _, value = text.rpartition("=")
    try:
        weight = float(value)
    except ValueError:
        raise ConfigError(f"--fix {text!r}; wanted NAME=VALUE with a number") from None
    if name not in table.all_names:
        raise ConfigError(f"--fix: no feature named {name!r}{suggestion(name, table.all_names)}")
    return name, weight


@click.command("sweep")
@click.argument("nbest", nargs=-1, required=True, metavar="NBEST...")
@options.references_option
@click.option("-x", "--axis", "axes", multiple=True, required=True, metavar="AXIS",
              help="Weights of a feature: NAME=FROM:TO:COUNT or NAME=VALUE,VALUE,…. One to three axes.")  # fmt: skip
@click.option("--fix", "fixed", multiple=True, metavar="NAME=VALUE",
              help="The weight of a feature that is on no axis. Repeatable.",
              show_default="1")  # fmt: skip
@click.option("--start", metavar="FILE", help="Take the weights that are on no axis from this weights file.")
@click.option(
    "-o", "--output", type=options.output_file, metavar="FILE", help="Write the best weights to this file (.toml)."
)
@click.option("--plot", type=options.output_file, metavar="FILE",
              help="Plot the scores over the grid (.png, .pdf or .svg); needs the extra `plot`.")  # fmt: skip
@options.table_option
@options.style_option
@options.source_option
@options.job_options("metrics", "features", "config", "format_", "jobs", "trust_pairs", metrics=("wer",))
def command(
    job: Job, nbest: tuple[str, ...], references: tuple[Path, ...], reference_form: ReferenceForm, unpaired: Unpaired,
    axes: tuple[str, ...], fixed: tuple[str, ...], start: str | None, output: Path | None, plot: Path | None,
    table: Path | None, style: str, source: Path | None,
) -> None:  # fmt: skip
    """Sweep weights over a grid: LM weight, word penalty.

    Features are extracted once, and the metric (word error rate by default) is computed at every point from its
    statistics. Weights on no axis are 1 for each feature, unless --fix or --start set them. The best point goes to a
    weights file, which `rerank apply` takes.

    \b
    rerank lists sweep dev.nbest -r dev.txt -f length \\
        -f ngram-lm,model=lm.arpa,label=lm \\
        -x lm.total=0:2:21 -x length=-2:2:21 --fix lm.per_word=0 -o weights.toml
    """  # noqa: D301
    from rerank_adapters.chain.lists import features_of, read_tuning_set, with_table
    from rerank_adapters.report.output import write_records

    summary_line = SummaryLine()
    job, values = with_table(job.changed(tuner={"use": "grid", "axes": list(axes)}), table)
    job.build("tuner", "measures")
    job, data = read_tuning_set(job, nbest, references, reference_form, source, values, unpaired)
    values = features_of(job, data, values, table)
    sweep = Sweep.run(job, data, values, start, fixed, output.parent if output else Path())
    metric = job.measures[0].name
    write_records(sweep_records(sweep, metric), [sweep_table(sweep, metric)], style)
    if plot is not None:
        plot_sweep(sweep, metric, plot)
        summary_line.wrote("a plot", plot)
    if output is not None:
        write_weights(sweep.learnt.weights, output)
    for line in sweep.learnt.summary:
        click.echo(line, err=True)
    if output is not None:
        summary_line.wrote(counted(len(sweep.learnt.weights.dense), "weight"), output)
    summary_line.report(f"tried {counted(sweep.scores.size, 'point')}")
