"""`rerank tune`: tunes weights on n-best lists, their features and references."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerank_adapters.cli import options
from rerank_adapters.cli.options import SummaryLine
from rerank_adapters.runtime.progress import counted

if TYPE_CHECKING:
    from rerank_adapters.data.dataset import Files
    from rerank_adapters.job.job import Job


@click.command("tune")
@click.argument("nbest", nargs=-1, required=True, type=click.Path(), metavar="NBEST...")
@options.files_options()
@click.option("-o", "--output", type=options.output_file, required=True, metavar="FILE",
              help="Write the weights to this file (.toml).")  # fmt: skip
@options.table_option
@click.option("--start", metavar="START",
              help="Start from uniform or decoder weights, or a weights file.",
              show_default="uniform; decoder for the tuner grid")  # fmt: skip
@click.option("--fix", "fixed", multiple=True, metavar="NAME",
              help="Keep the weight of this feature fixed. Repeatable.")  # fmt: skip
@click.option("--select", is_flag=True,
              help="Keep only those features that improve the score of held-out folds of the lists.")  # fmt: skip
@options.job_options("tuner", "metrics", "features", "config", "format_", "jobs", "seed", "trust_pairs")
def command(
    job: Job, files: Files, output: Path, table: Path | None, start: str | None, fixed: tuple[str, ...], select: bool
) -> None:
    """Tune weights for the first metric (BLEU by default).

    Lists of the same segments in several files are merged. The weights file records the features, the tuner, the
    metric and the seed, so that `rerank apply` needs nothing else. Values of features that a command has extracted
    before come from a cache (`rerank tools cache`).

    With --select, features are added to the decoder's one -f (or one [[feature]]) at a time, by their gain on held-out
    folds of these lists; the smallest set within one standard error of the best is kept. The weights file has the
    table of all steps and needs only the features kept.

    The tuner grid prints the scores of all points: how the metric depends on single weights.

    \b
    rerank tune tune.nbest.gz -r tune.en -t mert,restarts=20 \\
        -m bleu,tokenize=none -o weights.toml
    rerank tune dev.nbest -r dev.txt -m wer -f length \\
        -t grid,axes=[lm=0:2:11,length=-2:2:9] -o weights.toml
    """  # noqa: D301
    from rich.console import Console

    from rerank_adapters.report.grid import grid_table
    from rerank_adapters.report.held_out import selection_table
    from rerank_adapters.report.terminal import print_table
    from rerank_adapters.run.learn import features_of, learn, read_tuning_set
    from rerank_adapters.tuners.grid import Grid
    from rerank_adapters.weights import write_weights

    summary_line = SummaryLine()
    if start not in (None, "uniform", "decoder"):
        start = str(Path(start).resolve())  # a weights file, which is not relative to the config
    job = job.changed(tuning={"start": start, "fixed": list(fixed) or None, "select": select or None})
    job, data, values = read_tuning_set(job, files, table)
    values = features_of(job, data, values, table, folder=output.parent)
    learnt = learn(job, data, values, output.parent)
    write_weights(learnt.weights, output)
    measure = job.measures[0]
    if learnt.selection is not None:
        print_table(selection_table(learnt.selection, measure.name), Console(stderr=True))
    if isinstance(job.tuner, Grid):
        print_table(grid_table(job.tuner, learnt.result, measure.name, measure.metric), Console(stderr=True))
    for line in learnt.summary:
        click.echo(line, err=True)
    summary_line.wrote(counted(len(learnt.weights.dense) + len(learnt.weights.sparse), "weight"), output)
