"""`rerank extract`: extracts the features of n-best lists into a table."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.commands.closing import Closing, counted
from rerank_adapters.commands.options import (
    JobFlags,
    job_flags,
    output_file,
    scheduler_option,
    set_option,
    source_option,
)
from rerank_plugins import ConfigError
from rerank_plugins.core.registry import Registry


@click.command("extract")
@click.argument("nbest", nargs=-1, required=True, metavar="NBEST...")
@click.option("-o", "--output", type=output_file, required=True, metavar="TABLE",
              help="Write the feature table to this file (.npz).")  # fmt: skip
@source_option
@set_option
@scheduler_option
@job_flags("features", "config", "format_", "jobs")
@click.pass_obj
def command(
    registry: Registry, flags: JobFlags, nbest: tuple[str, ...], output: Path, source: Path | None,
    set_name: str | None,
) -> None:  # fmt: skip
    """Extract the features of n-best lists into a feature table.

    The table has the decoder's own features and those that -f or the config name. Features of a text that occurs
    several times in a list are extracted once, and the lists are shared out over several processes. Values that a
    command has extracted before come from a cache (`rerank cache`), so the same command continues an extraction that
    was interrupted, and an added feature alone is extracted.

    \b
    rerank extract tune.nbest.gz --source tune.de -f length \\
        -f ngram-lm,model=lm.arpa -o tune.npz
    """  # noqa: D301
    from rerank_adapters.chain.extract import feature_table
    from rerank_adapters.chain.job import Job, lists_size
    from rerank_adapters.chain.lists import for_lists
    from rerank_adapters.formats.reading import read_nbest
    from rerank_adapters.runtime.progress import StatusLine

    closing = Closing()
    if str(output) == "-":
        raise ConfigError("a feature table is written to a file, not to stdout: wanted -o TABLE.npz")
    job = Job.create(flags.settings, registry)
    with StatusLine("reading the lists"):
        nbests = read_nbest([Path(path) for path in nbest], job.format, source)
    job = for_lists(job, nbests)
    job = job.for_set(set_name) if set_name else job
    table = feature_table(job, nbests, output)
    sparse = f" and {counted(len(table.sparse.names), 'sparse one')}" if table.sparse.names else ""
    features = f"{counted(len(table.names), 'feature')}{sparse}"
    closing.wrote(f"{features} of {lists_size(table.segments, len(table.values))}", output)
