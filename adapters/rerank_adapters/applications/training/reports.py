"""Prints the reports of `rerank train` on held-out data to stderr."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerank_adapters.commands.closing import counted

if TYPE_CHECKING:
    from rerank_plugins import LanguageModel
    from rerank_plugins.kit.trees.parseval import Parseval


def say(line: str) -> None:
    """Write a line to stderr."""
    click.echo(line, err=True)


def echo_parseval(path: Path, scores: Parseval) -> None:
    """Print how well the trees of a held-out treebank were parsed."""
    percent = scores.percent()
    say(
        f"{path}: {counted(scores.sentences, 'sentence')}, F1 {percent['F1']:.1f} (precision {percent['LP']:.1f}, "
        f"recall {percent['LR']:.1f}), {percent['exact']:.1f} % exact, {percent['tags']:.1f} % of the tags right"
    )


def echo_perplexity(model: LanguageModel, text: str) -> None:
    """Print how well a language model predicts a held-out text. Raises FormatError for a text that cannot be read."""
    from rerank_adapters.chain.scoring import perplexity
    from rerank_plugins.kit.files.text import display_name

    with _lines_with_bar(text) as lines:
        totals = perplexity(model, lines)
    say(f"{display_name(text)}: {totals.summary()}")


@contextmanager
def _lines_with_bar(text: str) -> Iterator[Iterator[str]]:
    from rerank_adapters.runtime.progress import CountingBar
    from rerank_plugins.kit.files.text import open_text

    with open_text(text) as lines, CountingBar("held-out sentences") as bar:
        yield bar.over(lines)
