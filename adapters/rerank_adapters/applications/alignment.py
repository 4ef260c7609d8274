"""`rerank words align`: the links between the words of sentence pairs, and their error rates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerank_adapters.commands.options import output_option
from rerank_adapters.commands.summary_line import SummaryLine
from rerank_adapters.formats.pairs import read_sentence_pairs
from rerank_adapters.runtime.progress import CountingBar, counted
from rerank_plugins import FormatError
from rerank_plugins.kit.files.text import open_atomic
from rerank_plugins.translation.alignment.links import GoldLinks, Method, alignment_errors, links_text, read_gold

if TYPE_CHECKING:
    from rerank_plugins.translation.alignment.model import WordAlignmentModel


Pairs = Iterable[tuple[str, str]]
METHODS = ("forward", "backward", "intersection", "union", "grow-diag-final-and")


def aligned_lines(model: WordAlignmentModel, pairs: Pairs, method: Method) -> Iterator[str]:
    """Yield the line of links of each pair of lines (source, target)."""
    for source, target in pairs:
        yield links_text(model.links(model.words_of(source), model.words_of(target), method)) + "\n"


def error_lines(model: WordAlignmentModel, pairs: Pairs, gold: Sequence[GoldLinks], path: str) -> Iterator[str]:
    """Yield the table of the errors of all kinds of links against those of the file `path`.

    Raises FormatError for a different number of pairs.
    """
    sentences = [(model.words_of(source), model.words_of(target)) for source, target in pairs]
    if len(sentences) != len(gold):
        raise FormatError(f"the links of {len(gold):,} sentence pairs, expected those of {len(sentences):,}", path=path)
    yield "links\tAER\tprecision\trecall\n"
    for method, errors in alignment_errors(model, sentences, gold).items():
        yield f"{method}\t{errors.error_rate:.4f}\t{errors.precision:.4f}\t{errors.recall:.4f}\n"


@click.command("align")
@click.argument("model", type=Path)
@click.argument("texts", nargs=-1, required=True, metavar="SOURCE [TARGET]")
@click.option("--links", "method", type=click.Choice(METHODS), default="grow-diag-final-and", show_default=True,
              help="The links of one direction, those of both or of either, or a selection of the latter.")  # fmt: skip
@click.option("--gold", metavar="FILE",
              help="Print the error rate of each kind of links instead, against these: 0-0 (sure), 1?2 "
                   "(possible).")  # fmt: skip
@output_option("Where to write the links.")
def command(model: Path, texts: tuple[str, ...], method: Method, gold: str | None, output: Path) -> None:
    """Align the words of sentence pairs.

    Print the links of each pair on a line, `0-0 1-2`: source word, then target word, counted from 0. SOURCE and TARGET
    have one sentence per line (tokenised); or only SOURCE is given, with lines `source ||| target`. A pair with an
    empty side has an empty line. MODEL is a file of `rerank train word-alignment`.

    \b
    rerank words align de-en.align test.de test.en > test.links
    rerank words align de-en.align test.de-en --links intersection
    rerank words align de-en.align test.de test.en --gold test.gold
    """  # noqa: D301
    from rerank_plugins.translation.alignment.model import read_model

    summary_line = SummaryLine()
    alignment = read_model(model)
    right = None if gold is None else read_gold(gold)
    with open_atomic(output) as out, CountingBar("sentence pairs aligned") as bar:
        pairs = bar.over(read_sentence_pairs(texts))
        if right is None:
            out.writelines(aligned_lines(alignment, pairs, method))
        else:
            out.writelines(error_lines(alignment, pairs, right, str(gold)))
    summary_line.wrote(f"the {'links' if right is None else 'errors'} of {counted(bar.done, 'sentence pair')}", output)
