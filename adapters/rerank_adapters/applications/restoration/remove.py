"""`rerank remove-word`: makes incomplete sentences for training and tests of restoration."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click
import numpy as np

from rerank_adapters.applications.restoration.incomplete import (
    HEADER_LINE,
    Incomplete,
    incomplete_lines,
    row_line,
    row_lines,
)
from rerank_adapters.commands.closing import Closing, counted
from rerank_adapters.commands.options import output_file, output_option, seed_option
from rerank_adapters.runtime.progress import CountingBar
from rerank_plugins.kit.files.text import open_atomic, open_text

if TYPE_CHECKING:
    from rerank_adapters.applications.restoration.incomplete import Incomplete


@click.command("remove-word")
@click.argument("text", default="-")
@click.option("--layout", type=click.Choice(["tsv", "text", "imputation"]), default="tsv", show_default=True,
              help="Write the incomplete sentences with the positions and the words that are missing (tsv), the "
                   "sentences alone (text), or the CSV of the billion-word imputation task.")  # fmt: skip
@click.option("--complete", type=output_file, metavar="FILE",
              help="Also write the complete sentences, a sentence a line, or as CSV for imputation.")  # fmt: skip
@output_option("Write the incomplete sentences to this file.")
@seed_option
def command(text: str, layout: str, complete: Path | None, output: Path, seed: int | None) -> None:
    """Remove an inner word from each sentence of a TEXT.

    TEXT has one tokenised sentence per line. The word is chosen at random, but is neither the first nor the last;
    sentences of fewer than three words are left out. `rerank locate`, `rerank fill` and `rerank restore` read the
    output and, in the layout tsv, report how often they are right.

    \b
    rerank remove-word novel.txt --seed 7 -o novel.incomplete --complete novel.ref
    rerank restore novel.incomplete -m news.mw --accuracy
    """  # noqa: D301
    from rerank_plugins.missing_words.tuning import remove_inner_word

    closing = Closing()
    rng = np.random.default_rng(1 if seed is None else seed)
    written = 0

    def removed(lines: Iterator[str]) -> Iterator[Incomplete]:
        nonlocal written
        for line in lines:
            without = remove_inner_word(line.split(), rng)
            if without is not None:
                yield Incomplete(str(written), without.words, written + 1, without.gap, without.word)
                written += 1

    with ExitStack() as files:
        lines = files.enter_context(open_text(text))
        out = files.enter_context(open_atomic(output))
        whole = files.enter_context(open_atomic(complete)) if complete else None
        bar = files.enter_context(CountingBar("sentences"))
        sentences = removed(bar.over(lines))
        if whole is not None:
            sentences = _also_written(sentences, whole, layout)
        if layout == "tsv":
            out.writelines(incomplete_lines(sentences))
        elif layout == "text":
            out.writelines(" ".join(sentence.words) + "\n" for sentence in sentences)
        else:
            out.writelines(row_lines((_number(sentence), " ".join(sentence.words)) for sentence in sentences))
    left_out = bar.done - written
    rest = f" ({counted(left_out, 'sentence')} left out)" if left_out else ""
    if complete is not None:
        closing.wrote(counted(written, "complete sentence"), complete)
    closing.wrote(f"{counted(written, 'incomplete sentence')}{rest}", output)


def _number(sentence: Incomplete) -> str:
    return str(int(sentence.id) + 1)  # the ids of the imputation task begin with 1


def _also_written(sentences: Iterator[Incomplete], out: TextIO, layout: str) -> Iterator[Incomplete]:
    """Yield the sentences, each after its complete form was written."""
    if layout == "imputation":
        out.write(HEADER_LINE)
    for sentence in sentences:
        complete = sentence.complete or ""
        out.write(row_line(_number(sentence), complete) if layout == "imputation" else f"{complete}\n")
        yield sentence
