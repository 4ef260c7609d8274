"""`rerank merge`: several n-best files of the same segments as one."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.commands.options import format_option, job_config
from rerank_plugins.plugins import Registry


@click.command("merge")
@click.argument("nbest", nargs=-1, required=True, metavar="NBEST...")
@click.option("-o", "--output", default="-", metavar="FILE", help="Where to write. Default: stdout.")
@click.option("--sorted", "is_sorted", is_flag=True, help="Ids ascend in every file: merge in bounded memory.")
@format_option
@click.pass_obj
def command(registry: Registry, nbest: tuple[str, ...], output: str, is_sorted: bool, format_: str | None) -> None:
    """Merge n-best lists of the same segments: tuning rounds, or several systems with the same features.

    A hypothesis with the same text and features as one before it is kept once. Without --sorted any order of ids
    will do, and lists come out by id.
    """
    from rerank_adapters.formats.compressed import open_atomic
    from rerank_adapters.formats.merging import merge_sorted
    from rerank_adapters.formats.reading import read_nbest, stream_file
    from rerank_adapters.tasks.job import Job

    job = Job.create(job_config(None, format_=format_), registry)
    if is_sorted:
        lists = merge_sorted([stream_file(path, job.format) for path in nbest], nbest)
    else:
        lists = iter(read_nbest([Path(path) for path in nbest], job.format))
    segments = hypotheses = 0
    with open_atomic(output) as out:
        for merged in lists:
            out.writelines(job.format.write(merged))
            segments, hypotheses = segments + 1, hypotheses + len(merged)
    click.echo(f"{segments} segments, {hypotheses} hypotheses", err=True)
