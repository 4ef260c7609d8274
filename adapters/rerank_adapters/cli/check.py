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
    from rerank_adapters.formats.pairing import Unpaired
    from rerank_adapters.formats.references import ReferenceForm

COLOURS = {"ok": "green", "warning": "yellow", "error": "red"}


@click.command("check")
@click.argument("config", type=options.FILE, required=False)
@click.option("--nbest", multiple=True, type=options.FILE, metavar="FILE",
              help="Check these n-best lists. Repeatable; no config is needed.")  # fmt: skip
@options.references_option(required=False)
@options.source_option
@options.metric_option
@options.format_option
@options.trust_pairs_option
@click.option("--estimate/--no-estimate", "costs", default=True,
              help="Estimate the time of a run from a sample of the lists, or leave that out.")  # fmt: skip
def command(
    config: Path | None, nbest: tuple[Path, ...], references: tuple[Path, ...], reference_form: ReferenceForm,
    unpaired: Unpaired, source: Path | None, metrics: tuple[str, ...], format_: str | None, trust_pairs: bool,
    costs: bool,
) -> int:  # fmt: skip
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
    if config is None and not nbest:
        raise ConfigError("there is nothing to check: name a CONFIG, or lists with --nbest")
    job = options.JobFlags(config, metrics=metrics, format_=format_, trust_pairs=trust_pairs).job
    if nbest:
        lists = DataSet(
            nbest=[path.absolute() for path in nbest],
            references=[path.absolute() for path in references],
            reference_form=reference_form,
            unpaired=unpaired,
            source=source.absolute() if source else None,
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
