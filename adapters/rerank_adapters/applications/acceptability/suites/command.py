"""`rerank acceptability suites`: test suites of targeted syntactic evaluation."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.commands.options import (
    JobFlags,
    job_flags,
    models_option,
    output_file,
    output_option,
    style_option,
    text_option,
    text_steps,
)
from rerank_plugins import ConfigError
from rerank_plugins.core.registry import Registry


@click.command("suites")
@click.argument("suites", nargs=-1, required=True, type=Path, metavar="SUITE...")
@models_option
@click.option(
    "--surprisals", type=output_file, metavar="FILE", help="Also write the surprisal of each region to this file (TSV)."
)
@text_option
@style_option
@output_option("Write the result to this file.")
@job_flags("config")
@click.pass_obj
def command(
    registry: Registry, flags: JobFlags, suites: tuple[Path, ...], models: tuple[str, ...], surprisals: Path | None,
    steps: tuple[str, ...], style: str, output: Path,
) -> None:  # fmt: skip
    """Count the predictions of test suites that language models meet.

    A SUITE is a JSON file in the form of SyntaxGym. Its formulas compare the surprisals (in bits) of regions of a
    sentence in several conditions. The text steps are applied to each region on its own.

    \b
    rerank acceptability suites suites/*.json --lm lm.ngram --lm unigram --surprisals bits.tsv
    """  # noqa: D301
    from rerank_adapters.applications.acceptability.sentence_features import named_model
    from rerank_adapters.applications.acceptability.suites.regions import judge_suites
    from rerank_adapters.applications.acceptability.suites.report import suite_records, suite_table, surprisal_records
    from rerank_adapters.applications.acceptability.suites.suite_file import read_suite
    from rerank_adapters.chain.job import Job
    from rerank_adapters.commands.closing import Closing, counted
    from rerank_adapters.report.output import records_tsv, write_records
    from rerank_adapters.runtime.progress import StatusLine
    from rerank_adapters.text import TextPipeline
    from rerank_plugins.kit.files.text import open_atomic

    closing = Closing()
    if not models:
        raise ConfigError("nothing to judge with: give a language model with --lm")
    job = Job.create(flags.settings, registry)
    tables = dict(named_model(job, spec) for spec in models)
    if len(tables) < len(models):
        raise ConfigError("--lm: two language models have the same name; give them others in a config")
    job = job.with_config({"language_model": {**job.config.language_model, **tables}})
    named = {name: job.word_model(name) for name in tables}
    suite_list = [read_suite(path) for path in suites]
    with StatusLine("scoring the sentences of the suites"):
        results = judge_suites(named, suite_list, TextPipeline(text_steps(steps)))
    write_records(suite_records(results), [suite_table(results)], style, output)
    if str(output) != "-":
        closing.wrote(f"{counted(len(named), 'system')} on {counted(len(suite_list), 'suite')}", output)
    if surprisals is not None:
        with open_atomic(surprisals) as out:
            out.write(records_tsv(surprisal_records(results)))
        closing.wrote("the surprisals of all regions", surprisals)
