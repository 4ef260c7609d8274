"""`rerank fill`: prints the most probable words for the blank of each sentence."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.applications.restoration.options import (
    accuracy_option,
    candidates_option,
    ngram_option,
    processes_option,
)
from rerank_adapters.commands.options import output_option, style_option
from rerank_plugins import ConfigError


@click.command("fill")
@click.argument("text", default="-")
@click.option("-m", "--model", type=Path, metavar="MODEL",
              help="Model of missing words (`rerank train missing-words`).")  # fmt: skip
@ngram_option
@candidates_option
@click.option("-k", "most", type=click.IntRange(1), default=1, show_default=True, metavar="K",
              help="Print the K most probable words of each sentence.")  # fmt: skip
@click.option("--layout", type=click.Choice(["tsv", "json", "text"]), default="tsv", show_default=True,
              help="Print a line for each word, a JSON object for each sentence, or the sentences with their best "
                   "words.")  # fmt: skip
@accuracy_option
@style_option
@output_option("Write the words, or the accuracies, to this file.")
@processes_option
def command(
    text: str, model: Path | None, ngram: Path | None, candidates: int | None, most: int, layout: str, accuracy: bool,
    style: str, output: Path, jobs: int,
) -> None:  # fmt: skip
    """Fill the blank of each sentence of a TEXT.

    TEXT has a tokenised sentence a line, with a blank of three or more underscores between two words, or is a file of
    `rerank remove-word`. The words come from the five contexts of a model (-m), as relative frequencies mixed with
    tuned weights, or from the windows of an n-gram model (--ngram) around the blank; ln_p is normalised over the words
    of the model, or over the K words that are printed.

    \b
    echo 'he went ____ the house' | rerank fill -m news.mw -k 10
    rerank fill novel.incomplete --ngram lm.ngram --accuracy
    """  # noqa: D301
    from rerank_adapters.applications.restoration.filling import FillGaps, as_json, as_table, filling_source
    from rerank_adapters.applications.restoration.incomplete import parse_incomplete
    from rerank_adapters.applications.restoration.sharing import in_batches
    from rerank_adapters.commands.closing import Closing, counted
    from rerank_adapters.runtime.progress import CountingBar
    from rerank_plugins.kit.files.text import display_name, open_atomic, open_text

    closing = Closing()
    if (model is None) == (ngram is None):
        raise ConfigError("give one of -m (a model of missing words) and --ngram (an n-gram model)")
    source = filling_source(model, ngram, candidates, most)
    with open_text(text) as lines:
        sentences = parse_incomplete(lines, display_name(text), gaps=True)
        if accuracy:
            from rerank_adapters.applications.restoration.filling_accuracy import report_accuracies

            number = report_accuracies(sentences, source, display_name(text), jobs, style, output)
            if str(output) != "-":
                closing.wrote(f"the accuracies on {counted(number, 'sentence')}", output)
            return
        with open_atomic(output) as out, CountingBar("sentences filled") as bar:
            filled = bar.over(in_batches(FillGaps(source, most), sentences, jobs, "the model"))
            if layout == "text":
                out.writelines(f"{sentence.restored(sentence.gap or 0, words[0].word)}\n" for sentence, words in filled)
            else:
                out.writelines(as_json(filled, source.parts) if layout == "json" else as_table(filled))
    closing.wrote(f"the words of {counted(bar.done, 'sentence')}", output)
