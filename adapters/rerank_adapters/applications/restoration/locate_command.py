"""`rerank locate`: prints the most probable positions of a missing word."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerank_adapters.applications.restoration.options import (
    accuracy_option,
    method_option,
    model_option,
    processes_option,
)
from rerank_adapters.commands.options import output_option, style_option

if TYPE_CHECKING:
    from rerank_plugins.missing_words.model import Method


@click.command("locate")
@click.argument("text", default="-")
@model_option
@method_option
@click.option("-k", "most", type=click.IntRange(1), default=1, show_default=True, metavar="K",
              help="Print the K most probable positions in each sentence.")  # fmt: skip
@click.option("--layout", type=click.Choice(["tsv", "json"]), default="tsv", show_default=True,
              help="Print a line for each position, or a JSON object for each sentence.")  # fmt: skip
@accuracy_option
@style_option
@output_option("Write the positions, or the accuracies, to this file.")
@processes_option
def command(
    text: str, model: Path, method: Method, most: int, layout: str, accuracy: bool, style: str, output: Path, jobs: int
) -> None:
    """Locate the missing word of each sentence of a TEXT.

    Each sentence lacks one of its inner words. TEXT has a sentence a line (tokenised), or is a file of `rerank
    remove-word`, or the CSV of the billion-word imputation task. A position, from 1, is that of the missing word in the
    complete sentence; ln_p is its probability given that one word is missing. With --accuracy, all methods are
    compared with each other and with chance.

    \b
    echo 'he went the house' | rerank locate -m news.mw -k 3
    rerank locate novel.incomplete -m news.mw --accuracy
    """  # noqa: D301
    from rerank_adapters.applications.restoration.incomplete import parse_incomplete
    from rerank_adapters.applications.restoration.locating import Locating, as_json, as_table
    from rerank_adapters.applications.restoration.sharing import in_batches
    from rerank_adapters.commands.closing import Closing, counted
    from rerank_adapters.runtime.progress import CountingBar
    from rerank_plugins.kit.files.text import display_name, open_atomic, open_text

    closing = Closing()
    with open_text(text) as lines:
        sentences = parse_incomplete(lines, display_name(text))
        if accuracy:
            from rerank_adapters.applications.restoration.locating_accuracy import report_accuracies

            number = report_accuracies(sentences, model, display_name(text), jobs, style, output)
            if str(output) != "-":
                closing.wrote(f"the accuracies on {counted(number, 'sentence')}", output)
            return
        with open_atomic(output) as out, CountingBar("sentences located") as bar:
            located = bar.over(in_batches(Locating(model, method, most), sentences, jobs, "the model"))
            out.writelines(as_json(located) if layout == "json" else as_table(located))
    closing.wrote(f"the positions of {counted(bar.done, 'sentence')}", output)
