"""`rerank check`: checks a config and its data before any long work."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerank_adapters.cli import options
from rerank_adapters.cli.options import SummaryLine
from rerank_adapters.runtime.progress import counted
from rerank_plugins.kit.files.standard_streams import data_stream

if TYPE_CHECKING:
    from rerank_adapters.data.dataset import Files
    from rerank_adapters.job.job import Job

COLOURS = {"ok": "green", "warning": "yellow", "error": "red"}


@click.command("check")
@click.argument("config", type=options.FILE, required=False)
@click.option("--nbest", multiple=True, type=options.FILE, metavar="FILE",
              help="Check these n-best lists. Repeatable; no config is needed.")  # fmt: skip
@options.files_options(required=False)
@options.job_options("metrics", "format_", "trust_pairs")
@click.option("--estimate/--no-estimate", "costs", default=True,
              help="Estimate the time of a run from a sample of the lists, or leave that out.")  # fmt: skip
def command(job: Job, config: Path | None, files: Files, costs: bool) -> int:
    """Check a CONFIG, or only n-best lists, before any long work.

    Files, encodings, ids, line counts, features and vocabularies are checked, and every fault is reported with its
    position, not only the first. Casing and tokenisation of hypotheses and references are compared as each metric sees
    them (the metrics of -m, or else of the config). The exit code is 2 if there is an error, and 0 otherwise, even if
    there are warnings.

    Where there is no error, some lists go through each feature, with no cache, and the time that a run takes is
    estimated from them. Kernels that have not been compiled on this machine are compiled then, and kept.

    \b
    rerank check configs/mt.toml
    rerank check --nbest test.jsonl -r test.ref --format hyporadise -m wer
    """  # noqa: D301
    from rerank_adapters.job.config import DataSet
    from rerank_adapters.run.check import check
    from rerank_adapters.runtime.progress import StatusLine
    from rerank_plugins import ConfigError

    summary_line = SummaryLine()
    if config is None and not files.lists:
        raise ConfigError("there is nothing to check: name a CONFIG, or lists with --nbest")
    if files.lists:
        lists = DataSet(
            nbest=[Path(path).absolute() for path in files.lists],
            references=[Path(path).absolute() for path in files.references],
            reference_form=files.reference_form,
            unpaired=files.unpaired,
            source=files.source and files.source.absolute(),
            name="lists",
        )
        job = replace(job, config=job.config.model_copy(update={"tune": None, "test": [lists]}))
    with StatusLine("checking"):
        findings = check(job, costs=costs).findings
    for finding in findings:
        level = click.style(f"{finding.level:8}", fg=COLOURS[finding.level])
        click.echo(f"{level}{finding.where}: {finding.text}", data_stream())
    levels = [finding.level for finding in findings]
    summary_line.report(
        f"found {counted(levels.count('error'), 'error')} and {counted(levels.count('warning'), 'warning')}"
    )
    return 2 if "error" in levels else 0
