"""`rerank table pairs`: pairs of a hypothesis and a reference, to be scored elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerank_adapters.cli import options
from rerank_adapters.cli.options import SummaryLine
from rerank_adapters.evaluation.measure import through
from rerank_adapters.metrics.column import plain_text
from rerank_adapters.runtime.progress import counted, warn
from rerank_adapters.text import TextPipeline
from rerank_adapters.texts import ReferenceForm
from rerank_adapters.texts.pairing import Unpaired
from rerank_adapters.texts.transcript import Transcript
from rerank_plugins import ConfigError, NBestList
from rerank_plugins.kit.files.text import open_atomic

if TYPE_CHECKING:
    from rerank_adapters.job.job import Job


def pair_lines(
    nbests: Sequence[NBestList], references: Sequence[Sequence[str]], text: TextPipeline, *, mbr: bool = False
) -> Iterator[str]:
    """The lines `hypothesis TAB reference`, or `hypothesis TAB reference TAB source` for lists with a source.

    Texts go through the pipeline, sources do not. With `mbr`, each hypothesis of a list is also paired with each as its
    reference. No line comes twice.
    """
    seen: set[str] = set()
    hypotheses, right = through(text, [nbest.texts for nbest in nbests]), through(text, references)
    for nbest, texts, of_segment in zip(nbests, hypotheses, right, strict=True):
        distinct = list(dict.fromkeys(map(plain_text, texts)))
        source = "" if nbest.source is None else f"\t{plain_text(nbest.source)}"
        for other in [*map(plain_text, of_segment), *(distinct if mbr else ())]:
            for one in distinct:
                line = f"{one}\t{other}{source}\n"
                if line not in seen:
                    seen.add(line)
                    yield line


@click.command("pairs")
@click.argument("nbest", nargs=-1, required=True, type=click.Path(), metavar="NBEST...")
@options.references_option(required=False)
@click.option("--mbr", is_flag=True, help="Add the pairs of hypotheses of each list, for MBR decisions.")
@click.option("--text", "steps", multiple=True, metavar="STEP",
              help="Apply this text step, or several joined by `+`, as a metric does. Repeatable.")  # fmt: skip
@options.output_option("Write the pairs to this file.")
@options.source_option
@options.job_options("format_", "trust_pairs")
def command(
    job: Job, nbest: tuple[str, ...], references: tuple[Path, ...], reference_form: ReferenceForm, unpaired: Unpaired,
    mbr: bool, steps: tuple[str, ...], output: Path, source: Path | None,
) -> None:  # fmt: skip
    """Write pairs of texts to be scored elsewhere.

    A line is `hypothesis TAB reference`, with `TAB source` if --source is given; each is written once. Append a score
    to each line, and the metric `column` reads the file.

    \b
    rerank table pairs tune.nbest -r tune.en --source tune.de -o pairs.tsv
    cut -f 1 pairs.tsv > hypotheses
    cut -f 2 pairs.tsv > references
    (a program that writes a score for each line to `scores`)
    paste pairs.tsv scores > comet.tsv
    rerank tune tune.nbest -r tune.en -m column,file=comet.tsv
    """  # noqa: D301
    from rerank_adapters.data.dataset import Dataset, Files

    summary_line = SummaryLine()
    if not references and not mbr:
        raise ConfigError("there is nothing to pair the hypotheses with: give -r, or --mbr for pairs of hypotheses")
    pipeline = job.names.pipeline(steps, "--text")
    files = Files(nbest, references, source, None, reference_form, unpaired)
    data = Dataset.read("lists", files, job.reading(files.lists).format, "tuning", job.content_check(styles=False))
    warn([*data.findings, *data.doubts])
    if marked := next((text for texts in data.references for text in texts if isinstance(text, Transcript)), None):
        raise ConfigError(f"found alternatives or optional words, as in `{marked}`: expected plain texts")
    number = 0
    with open_atomic(output) as out:
        for line in pair_lines(data.lists, data.references, pipeline, mbr=mbr):
            out.write(line)
            number += 1
    summary_line.wrote(counted(number, "pair"), output)
