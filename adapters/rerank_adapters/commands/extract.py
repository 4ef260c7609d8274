"""`rerank extract`: n-best lists to a feature table."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.commands.options import (
    config_option,
    feature_option,
    format_option,
    job_config,
    jobs_option,
    output_file,
    source_option,
)
from rerank_plugins import ConfigError
from rerank_plugins.plugins import Registry


@click.command("extract")
@click.argument("nbest", nargs=-1, required=True, metavar="NBEST...")
@click.option("-o", "--output", type=output_file, required=True, metavar="TABLE", help="Feature table to write (.npz).")
@feature_option
@source_option
@config_option
@format_option
@jobs_option
@click.pass_obj
def command(
    registry: Registry,
    nbest: tuple[str, ...],
    output: Path,
    features: tuple[str, ...],
    source: Path | None,
    config: Path | None,
    format_: str | None,
    jobs: int | None,
) -> None:
    """Extract features: the decoder's own, and those that -f or the config name.

    Each distinct text is extracted once, on several processes. An interrupted extraction continues where it stopped
    when the same command is given again.

    \b
    rerank extract tune.nbest.gz --source tune.de -f length -f ngram-lm,model=lm.arpa -o tune.npz
    """  # noqa: D301
    from rerank_adapters.formats.reading import read_nbest
    from rerank_adapters.tasks.extracting import feature_table
    from rerank_adapters.tasks.job import Job

    if str(output) == "-":
        raise ConfigError("a feature table goes to a file, not to stdout: give -o TABLE.npz")
    job = Job.create(job_config(config, features=features, format_=format_, jobs=jobs), registry)
    table = feature_table(job, read_nbest([Path(path) for path in nbest], job.format, source), output)
    sparse = f", {len(table.sparse.names)} sparse" if table.sparse.names else ""
    click.echo(
        f"{output}: {table.segments} segments, {len(table.values)} hypotheses, {len(table.names)} features{sparse}",
        err=True,
    )
