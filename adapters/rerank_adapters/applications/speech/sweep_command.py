"""`rerank sweep`: tries one to three weights, such as that of the language model, at every point of a grid."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerank_adapters.commands.closing import Closing, counted
from rerank_adapters.commands.options import (
    TABLE_HELP,
    JobFlags,
    job_flags,
    output_file,
    references_option,
    source_option,
    style_option,
)
from rerank_plugins.core.registry import Registry

if TYPE_CHECKING:
    from rerank_adapters.formats.references import ReferenceForm


@click.command("sweep")
@click.argument("nbest", nargs=-1, required=True, metavar="NBEST...")
@references_option
@click.option("-x", "--axis", "axes", multiple=True, required=True, metavar="AXIS",
              help="Weights of a feature: NAME=FROM:TO:COUNT or NAME=VALUE,VALUE,…. One to three axes.")  # fmt: skip
@click.option("-w", "--weight", "fixed", multiple=True, metavar="NAME=VALUE",
              help="The weight of a feature that is on no axis. Repeatable. Default: 1.")  # fmt: skip
@click.option("--start", metavar="FILE", help="Take the weights that are on no axis from this weights file.")
@click.option("-o", "--output", type=output_file, metavar="FILE", help="Write the best weights to this file (.toml).")
@click.option("--points", type=output_file, default="-", metavar="FILE",
              help="Write the table of points to this file. Default: stdout.")  # fmt: skip
@click.option("--plot", type=output_file, metavar="FILE",
              help="Plot the scores over the grid (.png, .pdf or .svg); needs the extra `plot`.")  # fmt: skip
@click.option("--table", type=Path, metavar="TABLE", help=TABLE_HELP)
@style_option
@source_option
@job_flags("metrics", "features", "config", "format_", "jobs")
@click.pass_obj
def command(
    registry: Registry,
    flags: JobFlags,
    nbest: tuple[str, ...],
    references: tuple[Path, ...],
    reference_form: ReferenceForm,
    axes: tuple[str, ...],
    fixed: tuple[str, ...],
    start: str | None,
    output: Path | None,
    points: Path,
    plot: Path | None,
    table: Path | None,
    style: str,
    source: Path | None,
) -> None:
    """Sweep weights over a grid: LM weight, word penalty.

    Features are extracted once, and the metric (word error rate by default) is computed at every point from its
    statistics. Weights on no axis are 1 for each feature, unless -w or --start set them. The best point goes to a
    weights file, which `rerank apply` takes.

    \b
    rerank sweep dev.nbest -r dev.txt -f length -f ngram-lm,model=lm.arpa,label=lm \\
        -x lm.total=0:2:21 -x length=-2:2:21 -w lm.per_word=0 -o weights.toml
    """  # noqa: D301
    from rerank_adapters.applications.speech.sweeping import Sweep, plot_sweep, sweep_records, sweep_table
    from rerank_adapters.chain.job import Job
    from rerank_adapters.chain.lists import features_of, read_tuning_set
    from rerank_adapters.chain.provenance import job_of_table
    from rerank_adapters.report.output import write_records
    from rerank_adapters.weights import write_weights
    from rerank_plugins import FeatureTable

    closing = Closing()
    settings = flags.settings
    if not (flags.metrics or flags.config):
        settings = settings.model_copy(update={"metric": [{"use": "wer"}]})
    job = Job.create(settings.model_copy(update={"tuner": {"use": "grid", "axes": list(axes)}}), registry)
    values = FeatureTable.load(table) if table else None
    if table and values:
        job = job_of_table(job, values, table)
    job.tuner, job.measures  # noqa: B018  errors in their options come before any work
    job, data = read_tuning_set(job, nbest, references, reference_form, source, values)
    values = features_of(job, data, values, table)
    sweep = Sweep.run(job, data, values, start, fixed, output.parent if output else Path())
    metric = job.measures[0].name
    write_records(sweep_records(sweep, metric), [sweep_table(sweep, metric)], style, points)
    if plot is not None:
        plot_sweep(sweep, metric, plot)
        closing.wrote("a plot", plot)
    if output is not None:
        write_weights(sweep.learnt.weights, output)
    for line in sweep.learnt.summary:
        click.echo(line, err=True)
    if output is not None:
        closing.wrote(counted(len(sweep.learnt.weights.dense), "weight"), output)
    closing.say(f"tried {counted(sweep.scores.size, 'point')}")
