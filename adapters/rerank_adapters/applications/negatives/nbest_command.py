"""`rerank negatives nbest`: pairs references with the 1-best output of a decoder."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.commands.options import JobFlags, job_flags, output_option
from rerank_plugins.core.registry import Registry


@click.command("nbest")
@click.argument("nbest", nargs=-1, required=True, metavar="NBEST...")
@click.option("-r", "--reference", type=Path, required=True, metavar="FILE", help="References, one line per segment.")
@output_option("Write the pairs to this file.")
@job_flags("config", "format_")
@click.pass_obj
def command(registry: Registry, flags: JobFlags, nbest: tuple[str, ...], reference: Path, output: Path) -> None:
    """Put beside each reference the 1-best of its n-best list, where they differ.

    The columns of the output are the reference, the 1-best and the id of the segment.

    \b
    rerank negatives nbest test.nbest.gz -r test.ref > made.tsv
    """  # noqa: D301
    from rerank_adapters.applications.negatives.pairs import decoder_pairs
    from rerank_adapters.chain.job import Job
    from rerank_adapters.commands.closing import Closing, counted
    from rerank_adapters.formats.pairs import pair_lines
    from rerank_adapters.formats.reading import read_nbest
    from rerank_adapters.formats.references import read_references
    from rerank_plugins.kit.files.text import open_atomic

    closing = Closing()
    job = Job.create(flags.settings, registry)
    lists = read_nbest([Path(path) for path in nbest], job.format)
    references = [text for (text,) in read_references([reference]).for_segments(list_.segment_id for list_ in lists)]
    pairs = list(decoder_pairs(lists, references))
    with open_atomic(output) as out:
        out.writelines(pair_lines(pairs, ("segment",)))
    closing.wrote(counted(len(pairs), "pair"), output)
