"""`rerank merge`: merges n-best lists of the same segments, and converts them to other formats."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.commands.closing import Closing
from rerank_adapters.commands.options import JobFlags, format_option, output_option
from rerank_plugins.core.registry import Registry


@click.command("merge")
@click.argument("nbest", nargs=-1, required=True, metavar="NBEST...")
@output_option("Write the merged lists to this file.")
@format_option
@click.option(
    "--to", metavar="FORMAT",
    help="Write the lists in this format: NAME or NAME,option=value,… Default: that of the files, each byte as it was.",
)  # fmt: skip
@click.pass_obj
def command(registry: Registry, nbest: tuple[str, ...], output: Path, format_: str | None, to: str | None) -> None:
    """Merge n-best lists of the same segments.

    The lists may be those of several tuning rounds, or of several systems with the same features. Of hypotheses with
    the same text and the same features, only the first is kept. Files whose ids ascend are merged in bounded memory;
    files in any other order are sorted in memory. --to writes the lists in another format, with texts, features and
    totals: the n-best lists of lattices, for instance, as Moses's.

    \b
    rerank merge round1.nbest.gz round2.nbest.gz -o merged.nbest.gz
    rerank merge test.lat --format kaldi-lattice,n=50 --to moses -o test.nbest
    """  # noqa: D301
    from rerank_adapters.chain.job import Job, lists_size
    from rerank_adapters.config import plugin_table
    from rerank_adapters.formats.merging import without_lines
    from rerank_adapters.formats.reading import merge_files
    from rerank_adapters.runtime.progress import StatusLine
    from rerank_plugins.kit.files.text import open_atomic

    closing = Closing()
    job = Job.create(JobFlags(format_=format_).settings, registry)
    written = job.builder.build("format", plugin_table(to), "--to") if to else job.format
    segments = hypotheses = 0
    with open_atomic(output) as out, StatusLine("merging"):
        for merged in merge_files(nbest, job.format):
            out.writelines(written.write(without_lines(merged) if to else merged))
            segments, hypotheses = segments + 1, hypotheses + len(merged)
    closing.wrote(lists_size(segments, hypotheses), output)
