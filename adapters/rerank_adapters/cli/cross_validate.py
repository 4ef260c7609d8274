"""`rerank cross-validate`: compares tuners by how well they generalise."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerank_adapters.cli import options
from rerank_adapters.cli.options import SummaryLine, plugin_names
from rerank_adapters.runtime.progress import counted

if TYPE_CHECKING:
    from rerank_adapters.data.dataset import Files
    from rerank_adapters.job.job import Job


@click.command("cross-validate")
@click.argument("nbest", nargs=-1, required=True, type=click.Path(), metavar="NBEST...")
@options.files_options()
@click.option("-t", "--tuner", "tuners", multiple=True, metavar="TUNER", shell_complete=plugin_names("tuner"),
              help=f"Compare this tuner: {options.PLUGIN_HELP}. Repeatable.",
              show_default="all that need no options")  # fmt: skip
@options.folds_option
@click.option("--seeds", type=click.IntRange(1), default=3, show_default=True,
              help="Repeat with this many seeds, each with its own folds.")  # fmt: skip
@options.table_option
@options.job_options("metrics", "features", "config", "format_", "jobs", "trust_pairs")
def command(job: Job, files: Files, tuners: tuple[str, ...], folds: int, seeds: int, table: Path | None) -> None:
    """Compare tuners by k-fold cross-validation on the tuning set.

    The hypotheses of each fold are chosen by weights tuned on the other folds, and the choices of all folds are pooled
    into one held-out corpus score. By how much `training` exceeds `held out` is overfitting. The 1-best, equal weights
    and the decoder's weights are compared too. No test set is needed. A margin (`-t mira,margin=tuned`) is tuned anew
    on the folds of each complement.

    \b
    rerank cross-validate tune.nbest.gz -r tune.en -t mert \\
        -t mira,C=0.001 -t mira,C=0.01
    """  # noqa: D301
    from rerank_adapters.report.held_out import cross_validation_table
    from rerank_adapters.report.output import report_console
    from rerank_adapters.report.terminal import print_table
    from rerank_adapters.run.learn import compare_tuners, features_of, read_tuning_set
    from rerank_adapters.runtime.progress import CountingBar
    from rerank_adapters.tuning.held_out import tuner_with_margin

    summary_line = SummaryLine()
    known = job.registry.entries["tuner"].items()
    names = tuners or tuple(name for name, entry in known if not entry.needs_options)
    built = {name: tuner_with_margin(*job.tuner_and_margin(name, f"--tuner {name}")) for name in names}
    job, data, values = read_tuning_set(job, files, table)
    values = features_of(job, data, values, table)
    with CountingBar("tuned folds", len(built) * seeds * folds) as bar:
        result = compare_tuners(job, data, values, built, folds, range(1, seeds + 1), bar.add)
    print_table(cross_validation_table(result, job.measures[0].name), report_console())
    runs = f"{counted(folds, 'fold')} and {counted(seeds, 'seed')}"
    summary_line.report(f"compared {counted(len(built), 'tuner')} on {runs}")
