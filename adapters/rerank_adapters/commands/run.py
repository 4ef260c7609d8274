"""`rerank run`: runs the whole job of a config file."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.cli.options import FILE, JobFlags, SummaryLine, jobs_option, seed_option, trust_pairs_option
from rerank_adapters.runtime.progress import counted
from rerank_plugins.kit.files.standard_streams import data_stream


@click.command("run")
@click.argument("config", type=FILE)
@click.option("--work", type=FILE, metavar="FOLDER",
              help="Write files to this folder.",
              show_default="the config's `work`, or work/NAME")  # fmt: skip
@click.option("--force", is_flag=True, help="Repeat all steps, even those whose inputs have not changed.")
@click.option("--dry-run", is_flag=True,
              help="Print which steps would be done and which files written, without doing anything.")  # fmt: skip
@jobs_option
@seed_option
@trust_pairs_option
def command(
    config: Path, work: Path | None, force: bool, dry_run: bool, jobs: int | None, seed: int | None, trust_pairs: bool
) -> None:
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
    from rerank_adapters.analysis.run_steps import analyses, results_of
    from rerank_adapters.chain.run import RERANKED, work_folder
    from rerank_adapters.chain.running import all_steps, do, run_of
    from rerank_adapters.chain.steps import Record
    from rerank_adapters.report.held_out import held_out_table
    from rerank_adapters.report.output import report_console
    from rerank_adapters.report.tables import contribution_table
    from rerank_adapters.report.terminal import print_evaluation

    summary_line = SummaryLine()
    job = JobFlags(config, seed=seed, jobs=jobs, trust_pairs=trust_pairs).job
    if job.config.model:
        from rerank_adapters.applications.training.model_tables import check_trained

        check_trained(job.config, config)
    record = Record(work or work_folder(job, config), force)
    running = run_of(job, record, config.stem, analyses)
    if dry_run:
        steps = list(record.plan(all_steps(running, analyses)))
        for step, unchanged in steps:
            files = ", ".join(file.name for file in step.files)
            click.echo(f"{'skip' if unchanged else 'do':5}{step.key} ({files})", data_stream())
        left, planned = sum(not unchanged for _, unchanged in steps), counted(len(steps), "step")
        summary_line.report(f"planned {planned}, {left} of which would be done, for the folder {record.folder}")
        return
    made = do(running, record, analyses, lambda line: click.echo(line, err=True))
    results = results_of(running)
    metric = job.measures[0].name
    tables = [] if results.contributions is None else [contribution_table(results.contributions, metric)]
    tables += [held_out_table(results.held_out, metric)] if results.held_out else []
    for evaluation in results.evaluations.values():
        print_evaluation(
            evaluation, report_console(), changes=job.config.evaluation.changes, changed=[RERANKED], tables=tables
        )
    for page in (file for file in made.all if file.suffix == ".html"):
        click.echo(f"the report with every segment, for a browser: {page}", err=True)
    if made.written:
        summary_line.wrote(", ".join(path.name for path in made.written), record.folder)
    else:
        summary_line.report(f"found all files in {record.folder} up to date")
