"""Prints the reports of `rerank train` on held-out data to stderr."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rerank_plugins import LanguageModel


def say(line: str) -> None:
    """Write a line to stderr."""
    click.echo(line, err=True)


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
