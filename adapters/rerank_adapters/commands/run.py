"""`rerank run`: runs the whole job of a config file."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.commands.closing import Closing
from rerank_adapters.commands.options import JobFlags, jobs_option, seed_option, trust_pairs_option
from rerank_adapters.runtime.progress import counted


@click.command("run")
@click.argument("config", type=Path)
@click.option("--work", type=Path, metavar="FOLDER",
              help="Write files to this folder. Default: the config's `work`, or work/NAME.")  # fmt: skip
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

    The report ends with a table of what each feature contributes and a table of scores. A [[system]] of the config
    leaves features out, or has another tuner or decision, for comparison. Feature tables, weights.toml, 1-bests,
    reranked lists and reports (JSON, HTML) are written to the work folder.

    The same command continues a job that was interrupted, and repeats only what has changed: a step is done again if
    its part of the config, its data, models, plugins or this program have another content than when it was done, or if
    its files have. A line says what is not made again, and --dry-run says beforehand what would be: a line on stdout
    for each step, "do" or "skip", and its files. Nothing is written then.

    \b
    rerank run configs/mt.toml --work work/mt
    """  # noqa: D301
    from rerank_adapters.chain.run import plan, run
    from rerank_adapters.chain.run_files import RERANKED, work_folder
    from rerank_adapters.chain.training.model_tables import check_trained
    from rerank_adapters.report.held_out_gain import held_out_table
    from rerank_adapters.report.output import report_console
    from rerank_adapters.report.tables import contribution_table
    from rerank_adapters.report.terminal import print_evaluation

    closing = Closing()
    job = JobFlags(config, seed=seed, jobs=jobs, trust_pairs=trust_pairs).job
    check_trained(job.config, config)
    folder = work or work_folder(job, config)
    if dry_run:
        steps = plan(job, folder, force=force, name=config.stem)
        for step, unchanged in steps:
            files = ", ".join(file.name for file in step.files)
            click.echo(f"{'skip' if unchanged else 'do':5}{step.key} ({files})")
        left = sum(not unchanged for _, unchanged in steps)
        closing.report(f"planned {counted(len(steps), 'step')}, {left} of which would be done, for the folder {folder}")
        return
    outcome = run(job, folder, lambda line: click.echo(line, err=True), force=force, name=config.stem)
    contributions = outcome.contributions
    metric = job.measures[0].name
    tables = [] if contributions is None else [contribution_table(contributions, metric)]
    tables += [held_out_table(outcome.held_out, metric)] if outcome.held_out else []
    for evaluation in outcome.evaluations.values():
        print_evaluation(
            evaluation, report_console(), changes=job.config.evaluation.changes, changed=[RERANKED], tables=tables
        )
    for page in outcome.pages:
        click.echo(f"the report with every segment, for a browser: {page}", err=True)
    if outcome.written:
        closing.wrote(", ".join(path.name for path in outcome.written), folder)
    else:
        closing.report(f"found all files in {folder} up to date")
