"""`rerank table pairs`: writes hypotheses and references to be scored elsewhere."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.commands.closing import Closing, counted
from rerank_adapters.commands.options import format_option, output_option, reference_form_option, source_option
from rerank_adapters.formats.references import ReferenceForm
from rerank_plugins import ConfigError
from rerank_plugins.core.registry import Registry


@click.command("pairs")
@click.argument("nbest", nargs=-1, required=True, metavar="NBEST...")
@click.option("-r", "--reference", "references", multiple=True, type=Path, metavar="FILE",
              help="A file of references of the lists. Repeatable.")  # fmt: skip
@reference_form_option
@click.option("--mbr", is_flag=True, help="Add the pairs of hypotheses of each list, for MBR decisions.")
@click.option("--text", metavar="STEPS", help="Apply these text steps, joined by `+`, as the metric's `text` does.")
@output_option("Write the pairs to this file.")
@source_option
@format_option
@click.pass_obj
def command(
    registry: Registry, nbest: tuple[str, ...], references: tuple[Path, ...], reference_form: ReferenceForm, mbr: bool,
    text: str | None, output: Path, source: Path | None, format_: str | None,
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
    from rerank_adapters.applications.tables.pairs import pair_lines
    from rerank_adapters.chain.job import Job
    from rerank_adapters.commands.options import JobFlags
    from rerank_adapters.formats.reading import read_nbest
    from rerank_adapters.formats.references import read_references
    from rerank_adapters.runtime.progress import StatusLine
    from rerank_plugins.kit.files.text import open_atomic

    closing = Closing()
    if not references and not mbr:
        raise ConfigError("there is nothing to pair the hypotheses with: give -r, or --mbr for pairs of hypotheses")
    job = Job.create(JobFlags(format_=format_).settings, registry)
    pipeline = job.pipeline(text, "--text")
    with StatusLine("reading the lists"):
        nbests = read_nbest([Path(path) for path in nbest], job.format, source)
    of_segments: list[tuple[str, ...]] = [() for _ in nbests]
    if references:
        of_segments = read_references(references, reference_form).for_segments([one.segment_id for one in nbests])
    number = 0
    with open_atomic(output) as out:
        for line in pair_lines(nbests, of_segments, pipeline, mbr=mbr):
            out.write(line)
            number += 1
    closing.wrote(counted(number, "pair"), output)
