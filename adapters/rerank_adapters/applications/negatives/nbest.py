"""`rerank negatives nbest`: pairs of references and the 1-bests of a decoder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerank_adapters.cli import options
from rerank_adapters.cli.options import SummaryLine
from rerank_adapters.data.dataset import Dataset, Files
from rerank_adapters.data.minimal_pairs import Pair, pair_lines
from rerank_adapters.runtime.progress import counted, warn
from rerank_adapters.texts.transcript import first_alternative
from rerank_plugins import NBestList
from rerank_plugins.kit.files.text import open_atomic

if TYPE_CHECKING:
    from rerank_adapters.job.job import Job
    from rerank_adapters.texts import ReferenceForm
    from rerank_adapters.texts.pairing import Unpaired


def decoder_pairs(nbests: Iterable[NBestList], references: Sequence[str]) -> Iterator[Pair]:
    """Pair the reference, as the acceptable sentence, with the 1-best of each list where the two differ."""
    for nbest, reference in zip(nbests, references, strict=True):
        good, one_best = (" ".join(text.split()) for text in (reference, nbest[0].text))
        if good and one_best and good != one_best:
            yield Pair(good, one_best, {"segment": nbest.segment_id}, nbest.line)


@click.command("nbest")
@click.argument("nbest", nargs=-1, required=True, type=click.Path(), metavar="NBEST...")
@click.option(
    "-r",
    "--reference",
    type=options.FILE,
    required=True,
    metavar="FILE",
    help="References, one line per segment.",
)
@options.pairing_options
@options.output_option("Write the pairs to this file.")
@options.job_options("format_", "trust_pairs")
def command(
    job: Job, nbest: tuple[str, ...], reference: Path, reference_form: ReferenceForm, unpaired: Unpaired, output: Path
) -> None:
    """Pair each reference with the 1-best of its n-best list, where they differ.

    The command reads n-best lists in any format and a file of references. It writes a line for each segment whose
    1-best is not its reference: the reference, the 1-best and the id of the segment, with tabs between them, for
    `rerank acceptability pairs`.

    \b
    rerank negatives nbest test.nbest.gz -r test.ref > made.tsv
    """  # noqa: D301
    summary_line = SummaryLine()
    files = Files(nbest, [reference], reference_form=reference_form, unpaired=unpaired)
    data = Dataset.read("lists", files, job.reading(files.lists).format, "tuning", job.content_check(styles=False))
    warn([*data.findings, *data.doubts])
    pairs = list(decoder_pairs(data.lists, [first_alternative(text) for (text,) in data.references]))
    with open_atomic(output) as out:
        out.writelines(pair_lines(pairs, ("segment",)))
    summary_line.wrote(counted(len(pairs), "pair"), output)
