"""`rerank extract`: extracts the features of n-best lists into a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerank_adapters.cli import options
from rerank_adapters.cli.options import SummaryLine
from rerank_adapters.runtime.progress import counted

if TYPE_CHECKING:
    from rerank_adapters.job.job import Job


@click.command("extract")
@click.argument("nbest", nargs=-1, required=True, type=click.Path(), metavar="NBEST...")
@options.table_output
@options.source_option
@options.set_option
@options.scheduler_option
@options.job_options("features", "config", "format_", "jobs")
def command(
    job: Job, nbest: tuple[str, ...], output: Path, source: Path | None, set_name: str | None, scheduler: str
) -> None:
    """Extract the features of n-best lists into a feature table.

    The table has the decoder's own features and those that -f or the config name. Features of a text that occurs
    several times in a list are extracted once, and the lists are shared out over several processes. Values that a
    command has extracted before come from a cache (`rerank tools cache`), so the same command continues an extraction
    that was interrupted, and extracts only features that were added.

    \b
    rerank extract tune.nbest.gz --source tune.de -f length \\
        -f ngram-lm,model=lm.arpa -o tune.npz
    """  # noqa: D301
    from rerank_adapters.data.dataset import lists_size
    from rerank_adapters.formats.reading import read_nbest
    from rerank_adapters.job.specs import SET
    from rerank_adapters.runtime.progress import StatusLine
    from rerank_adapters.texts.sources import Sources

    summary_line = SummaryLine()
    job = job.reading(nbest)
    with StatusLine("reading the lists"):
        sentence = Sources(source).of if source else None
        nbests = read_nbest([Path(path) for path in nbest], job.format, sentence, lines=False)
    extraction = job.extraction(set_name or SET, scheduler)
    extraction.log_ranks(nbests)
    table = extraction.table(nbests, folder=output.parent)
    table.save(output)
    sparse = f" and {counted(len(table.sparse.names), 'sparse one')}" if table.sparse.names else ""
    features = f"{counted(len(table.names), 'feature')}{sparse}"
    summary_line.wrote(f"{features} of {lists_size(table.segments, len(table.values))}", output)
