"""`rerank run`: runs the whole job of a config file."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerank_adapters.cli.options import FILE, SummaryLine, job_options
from rerank_adapters.runtime.progress import counted
from rerank_plugins.kit.files.standard_streams import data_stream

if TYPE_CHECKING:
    from rerank_adapters.job.job import Job


@click.command("run")
@click.argument("config", type=FILE)
@click.option("--work", type=FILE, metavar="FOLDER",
              help="Write files to this folder.",
              show_default="the config's `work`, or work/NAME")  # fmt: skip
@click.option("--force", is_flag=True, help="Repeat all steps, even those whose inputs have not changed.")
@click.option("--dry-run", is_flag=True,
              help="Print which steps would be done and which files written, without doing anything.")  # fmt: skip
@job_options("jobs", "seed", "trust_pairs")
def command(job: Job, config: Path, work: Path | None, force: bool, dry_run: bool) -> None:
    """Extract, tune, rerank and evaluate by a CONFIG.

    The report ends with the contribution of each feature and a table of scores. A [[system]] of the config leaves
    features out, or has another tuner or decision, for comparison. Feature tables, weights.toml, 1-bests, reranked
    lists and reports (JSON, HTML) are written to the work folder.

    The same command continues an interrupted job. It repeats a step only if the step's part of the config, its data,
    models, plugins or files, or this program have changed. With --dry-run it lists each step as "do" or "skip", with
    its files, and writes nothing.

    \b
    rerank run configs/mt.toml --work work/mt
    """  # noqa: D301
    from rerank_adapters.job.job import RERANKED
    from rerank_adapters.report.held_out import contribution_table, held_out_table
    from rerank_adapters.report.output import report_console
    from rerank_adapters.report.terminal import print_evaluation
    from rerank_adapters.run.run import Results, run, work_folder
    from rerank_adapters.run.workdir import Workdir

    summary_line = SummaryLine()
    if job.config.model:
        from rerank_adapters.applications.training.model_tables import check_trained

        check_trained(job.config, config)
    folder = Workdir(work or work_folder(job, config), partial(click.echo, err=True), force, dry_run)
    run(job, folder, config.stem)
    left = [stage for stage in folder.stages if not stage.unchanged]
    if dry_run:
        for stage in folder.stages:
            files = ", ".join(file.name for file in stage.outputs)
            click.echo(f"{'skip' if stage.unchanged else 'do':5}{stage.name} ({files})", data_stream())
        planned = counted(len(folder.stages), "step")
        summary_line.report(f"planned {planned}, {len(left)} of which would be done, for the folder {folder.folder}")
        return
    results, metric = Results.read(job, folder.folder), job.measures[0].name
    tables = [] if results.contributions is None else [contribution_table(results.contributions, metric)]
    tables += [held_out_table(results.held_out, metric)] if results.held_out else []
    for evaluation in results.evaluations.values():
        print_evaluation(
            evaluation, report_console(), changes=job.config.evaluation.changes, changed=[RERANKED], tables=tables
        )
    for page in (file for stage in folder.stages for file in stage.outputs if file.suffix == ".html"):
        click.echo(f"the report with every segment, for a browser: {page}", err=True)
    if left:
        written = [*(file for stage in left for file in stage.outputs), folder.record_file]
        summary_line.wrote(", ".join(file.name for file in written), folder.folder)
    else:
        summary_line.report(f"nothing to do: found all files in {folder.folder} up to date")
