"""`rerank acceptability suites`: which predictions of test suites language models meet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerank_adapters.applications.acceptability.features import model_part
from rerank_adapters.applications.acceptability.judged_suites import JudgedSuites, judge_suites
from rerank_adapters.applications.acceptability.suite_file import read_suite
from rerank_adapters.cli import options
from rerank_adapters.cli.options import SummaryLine
from rerank_adapters.report.tables import Table
from rerank_adapters.runtime.progress import StatusLine
from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError
from rerank_plugins.kit.files.text import open_atomic
from rerank_plugins.kit.language_models import with_words

if TYPE_CHECKING:
    from rerank_adapters.job.job import Job


def suite_table(judged: JudgedSuites) -> Table:
    """A row for each suite, a column for each system; the last row is the mean over suites."""
    systems = list(dict.fromkeys(result.system for result in judged.results))
    suites = {id(result.suite): result.suite for result in judged.results}
    fractions = {(id(result.suite), result.system): result.fraction for result in judged.results}
    rows = [
        (
            suite.name,
            str(len(suite.items)),
            str(len(suite.predictions)),
            *(f"{100 * fractions[key, s]:.1f} %" for s in systems),
        )
        for key, suite in suites.items()
    ]
    rows.append((f"mean of {len(suites)}", "", "", *(f"{100 * mean:.1f} %" for mean in judged.means["mean"])))
    header = ("suite", "items", "predictions", *systems)
    return Table(
        "Test suites", header, tuple(rows), ("The proportion of predictions that are met, over the items of a suite.",)
    )


@click.command("suites")
@click.argument("suites", nargs=-1, required=True, type=options.FILE, metavar="SUITE...")
@options.language_model_option(multiple=True)
@click.option("--surprisals", type=options.output_file, metavar="FILE",
              help="Also write the surprisal of each region to this file (TSV).")  # fmt: skip
@options.text_option
@options.style_option
@options.job_options("config")
def command(
    job: Job, suites: tuple[Path, ...], models: tuple[str | Path, ...], surprisals: Path | None, steps: tuple[str, ...],
    style: str,
) -> None:  # fmt: skip
    """Count the predictions of test suites that language models meet.

    A SUITE is a JSON file in the form of SyntaxGym: sentences in several conditions, divided into regions, and formulas
    that compare the surprisals (in bits) of these regions. The command prints, for each suite and each language model
    (-M), the proportion of the predictions that hold. The text steps are applied to each region on its own.

    \b
    rerank acceptability suites suites/*.json -M lm.ngram -M unigram \\
        --surprisals bits.tsv
    """  # noqa: D301
    from rerank_adapters.report.output import write_records
    from rerank_adapters.report.text import records_tsv

    summary_line = SummaryLine()
    if not models:
        raise ConfigError("nothing to judge with: give a language model with -M")
    parts = [model_part(spec, job.names) for spec in models]
    named = {part.label: with_words(part.spec.make(), f"language model {part.label}") for part in parts}
    if len(named) < len(models):
        raise ConfigError("-M: two language models have the same name; give them others in a config")
    suite_list = [read_suite(path) for path in suites]
    with StatusLine("scoring the sentences of the suites"):
        judged = JudgedSuites(judge_suites(named, suite_list, TextPipeline(options.text_steps(steps))))
    write_records(list(judged), [suite_table(judged)], style)
    if surprisals is not None:
        with open_atomic(surprisals) as out:
            out.write(records_tsv(list(judged.surprisals)))
        summary_line.wrote("the surprisals of all regions", surprisals)
