"""`rerank words remove`: removes an inner word from each sentence of a text, and keeps the answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TextIO

import click
import numpy as np

from rerank_adapters.applications.missing_words.incomplete import Incomplete, incomplete_lines
from rerank_adapters.cli.options import SummaryLine, output_file, output_option, seed_option
from rerank_adapters.runtime.progress import CountingBar, counted
from rerank_plugins.kit.files.text import open_atomic, open_text


def without_a_word(
    lines: Iterable[str], rng: np.random.Generator, complete: TextIO | None = None
) -> Iterator[Incomplete]:
    """Yield the sentences of three words or more, each without an inner word, and write them as they were."""
    from rerank_plugins.missing_words.tuning import remove_inner_word

    number = 0
    for line in lines:
        removed = remove_inner_word(line.split(), rng)
        if removed is not None:
            sentence = Incomplete(str(number), removed.words, number + 1, removed.gap, removed.word)
            if complete is not None:
                complete.write(f"{sentence.complete}\n")
            yield sentence
            number += 1


@click.command("remove")
@click.argument("text", default="-", type=click.Path())
@click.option("--as", "form", type=click.Choice(["tsv", "text"]), default="tsv", show_default=True,
              help="Write the incomplete sentences with the positions and the words that are missing (tsv), or the "
                   "sentences alone (text).")  # fmt: skip
@click.option("--complete", type=output_file, metavar="FILE", help="Also write the complete sentences, one per line.")
@output_option("Write the incomplete sentences to this file.")
@seed_option
def command(text: str, form: str, complete: Path | None, output: Path, seed: int | None) -> None:
    """Remove an inner word from each sentence of a TEXT.

    TEXT has one tokenised sentence per line. The word is chosen at random, but is neither the first nor the last;
    sentences of fewer than three words are left out. `rerank words locate`, `rerank words fill` and `rerank words
    restore` read the output and, in the form tsv, report how often they are right.

    \b
    rerank words remove novel.txt -o novel.incomplete --complete novel.ref
    rerank words restore novel.incomplete -M news.mw --accuracy
    """  # noqa: D301
    summary_line = SummaryLine()
    with ExitStack() as files:
        lines = files.enter_context(open_text(text))
        out = files.enter_context(open_atomic(output))
        whole = files.enter_context(open_atomic(complete)) if complete is not None else None
        read, written = files.enter_context(CountingBar("sentences")), CountingBar("incomplete sentences")
        rng = np.random.default_rng(1 if seed is None else seed)
        sentences = written.over(without_a_word(read.over(lines), rng, whole))
        if form == "tsv":
            out.writelines(incomplete_lines(sentences))
        else:
            out.writelines(" ".join(sentence.words) + "\n" for sentence in sentences)
    left_out = read.done - written.done
    rest = f" ({counted(left_out, 'sentence')} left out)" if left_out else ""
    if complete is not None:
        summary_line.wrote(counted(written.done, "complete sentence"), complete)
    summary_line.wrote(f"{counted(written.done, 'incomplete sentence')}{rest}", output)
