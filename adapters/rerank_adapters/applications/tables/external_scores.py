"""`rerank table from-text` and `pairs`: scores computed elsewhere as a table, and texts to be scored elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

from rerank_adapters.chain.extraction.known_values import of_lists
from rerank_adapters.commands import options
from rerank_adapters.commands.summary_line import SummaryLine
from rerank_adapters.formats.nist.markup import is_marked, shown
from rerank_adapters.formats.pairing import PairedLists, Unpaired, pair_lists, warn
from rerank_adapters.formats.pairs import plain_text
from rerank_adapters.formats.reading import read_nbest
from rerank_adapters.formats.references import ReferenceForm, read_references
from rerank_adapters.formats.sources import Sources
from rerank_adapters.runtime.progress import StatusLine, counted
from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError, FeatureTable, NBestList, SparseBlock, __version__
from rerank_plugins.kit.files.text import open_atomic
from rerank_plugins.lists.column import ColumnFeature

if TYPE_CHECKING:
    from rerank_adapters.chain.job import Job


def score_table(nbests: Sequence[NBestList], path: Path, names: Sequence[str]) -> FeatureTable:
    """A table of these lists with a column for each name, from the lines of the file at `path`.

    The columns count as the decoder's own: nothing extracts them anew. Raises ConfigError for equal or empty names, and
    FormatError as ColumnFeature does.
    """
    if len(set(names)) < len(names) or not all(name.strip() for name in names):
        raise ConfigError(f"each column needs a name of its own, found {', '.join(map(repr, names))}")
    feature = ColumnFeature(path, tuple(names))
    feature.check_lists(nbests)
    offsets = np.cumsum([0, *map(len, nbests)], dtype=np.int64)
    values = np.concatenate([np.empty((0, len(names))), *map(feature.extract, nbests)])
    ids = tuple(nbest.segment_id for nbest in nbests)
    record = {"version": __version__, "lists": of_lists(nbests, around=False)}
    return FeatureTable(tuple(names), values, offsets, ids, SparseBlock.empty(len(values)), record)


@click.command("from-text")
@click.argument("scores", type=Path)
@click.option("--nbest", "nbest", multiple=True, required=True, metavar="NBEST",
              help="The n-best lists that were scored. Repeat the option for lists in several files.")  # fmt: skip
@click.option("--name", "names", multiple=True, metavar="NAME",
              help="The name of a column, repeated for each of several.",
              show_default="the name of the file")  # fmt: skip
@options.table_output
@options.job_options("format_")
def command(job: Job, scores: Path, nbest: tuple[str, ...], names: tuple[str, ...], output: Path) -> None:
    """Make a feature table of SCORES computed elsewhere.

    SCORES has a line for each hypothesis, in the order of the lines of the lists: a number for each NAME, between white
    space. They may come from a neural model, a quality estimate, an LLM or people. `rerank table join` puts
    them beside other features. In a config, the feature `column` does the same.

    \b
    rerank table from-text tune.nmt.gz --nbest tune.nbest \\
        --name forward --name backward -o nmt.npz
    """  # noqa: D301
    from rerank_adapters.chain.data import lists_size

    summary_line = SummaryLine()
    if not names and str(scores) == "-":
        raise ConfigError("the scores come from stdin: name their columns by --name")
    with StatusLine("reading the lists"):
        nbests = read_nbest([Path(path) for path in nbest], job.format)
    table = score_table(nbests, scores, names or (scores.name.partition(".")[0],))
    table.save(output)
    size = lists_size(table.segments, len(table.values))
    summary_line.wrote(f"{counted(len(table.names), 'feature')} of {size}", output)


def pair_lines(
    nbests: Sequence[NBestList], references: Sequence[Sequence[str]], text: TextPipeline, *, mbr: bool = False
) -> Iterator[str]:
    """The lines `hypothesis TAB reference`, or `hypothesis TAB reference TAB source` for lists with a source.

    Texts go through the pipeline, sources do not. With `mbr`, each hypothesis of a list is also paired with each as its
    reference. No line comes twice.
    """
    from rerank_adapters.chain.measures import through

    seen: set[str] = set()
    hypotheses, right = through(text, [nbest.texts for nbest in nbests]), through(text, references)
    for nbest, texts, of_segment in zip(nbests, hypotheses, right, strict=True):
        distinct = list(dict.fromkeys(map(plain_text, texts)))
        source = "" if nbest.source is None else f"\t{plain_text(nbest.source)}"
        for other in dict.fromkeys([*map(plain_text, of_segment), *(distinct if mbr else ())]):
            for one in distinct:
                line = f"{one}\t{other}{source}\n"
                if line not in seen:
                    seen.add(line)
                    yield line


@click.command("pairs")
@click.argument("nbest", nargs=-1, required=True, metavar="NBEST...")
@click.option("-r", "--reference", "references", multiple=True, type=Path, metavar="FILE",
              help="A file of references of the lists. Repeatable.")  # fmt: skip
@options.pairing_options
@click.option("--mbr", is_flag=True, help="Add the pairs of hypotheses of each list, for MBR decisions.")
@click.option("--text", "steps", multiple=True, metavar="STEP",
              help="Apply this text step, or several joined by `+`, as a metric does. Repeatable.")  # fmt: skip
@options.output_option("Write the pairs to this file.")
@options.source_option
@options.job_options("format_", "trust_pairs")
def pairs(
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
    from rerank_adapters.chain.content import PairedTexts
    from rerank_adapters.chain.text_pipelines import text_pipeline

    summary_line = SummaryLine()
    if not references and not mbr:
        raise ConfigError("there is nothing to pair the hypotheses with: give -r, or --mbr for pairs of hypotheses")
    pipeline = text_pipeline(job.config, steps, "--text")
    with StatusLine("reading the lists"):
        sources = Sources.read(source, reference_form) if source else None
        nbests = read_nbest([Path(path) for path in nbest], job.format, sources)
    paired = PairedLists.without_references(nbests)
    if references:
        paired = pair_lists(nbests, read_references(references, reference_form), unpaired, "tuning")
        PairedTexts.of_lists(paired.nbests, paired.references, references).check(job, styles=False)
    warn(paired.findings)
    if marked := next((text for texts in paired.references for text in texts if is_marked(text)), None):
        raise ConfigError(f"found alternatives or optional words, as in `{shown(marked)}`: expected plain texts")
    number = 0
    with open_atomic(output) as out:
        for line in pair_lines(paired.nbests, paired.references, pipeline, mbr=mbr):
            out.write(line)
            number += 1
    summary_line.wrote(counted(number, "pair"), output)
