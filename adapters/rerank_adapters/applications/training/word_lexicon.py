"""`rerank train word-lexicon`: trains a discriminative word lexicon on sentence pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerank_adapters.applications.training.reports import say
from rerank_adapters.commands.closing import Closing, counted, size_text
from rerank_adapters.commands.options import model_output

if TYPE_CHECKING:
    from rerank_plugins.translation.lexicon.model import WordLexicon
    from rerank_plugins.translation.lexicon.training import Settings


@click.command("word-lexicon")
@click.argument("texts", nargs=-1, required=True, metavar="SOURCE [TARGET]")
@model_output()
@click.option("--epochs", type=click.IntRange(1), default=10, show_default=True,
              help="Passes over the sentence pairs.")  # fmt: skip
@click.option("--rate", type=click.FloatRange(0, min_open=True), default=0.15, show_default=True,
              help="Size of a step along the gradient in the first pass.")  # fmt: skip
@click.option("--decay", type=click.FloatRange(0, 1, min_open=True), default=0.75, show_default=True,
              help="What each pass multiplies the size of a step by.")  # fmt: skip
@click.option("--source-count", type=click.IntRange(1), default=2, show_default=True,
              help="Leave out source words of fewer sentences than this.")  # fmt: skip
@click.option("--target-count", type=click.IntRange(1), default=5, show_default=True,
              help="Leave out target words of fewer sentences than this.")  # fmt: skip
@click.option("--keep-case", is_flag=True, help="Do not convert the source to lower case.")
@click.option("-j", "--jobs", type=click.IntRange(1), help="Number of threads. Default: all cores.")
def command(
    texts: tuple[str, ...], output: Path, epochs: int, rate: float, decay: float, source_count: int, target_count: int,
    keep_case: bool, jobs: int | None,
) -> None:  # fmt: skip
    """Train a discriminative word lexicon (Mauser et al. 2009) on tokenised sentence pairs.

    SOURCE and TARGET have a sentence on each line, and the same number of lines; or SOURCE alone has lines `source |||
    target`. For each target word, a logistic regression on all words of the source predicts whether the word is in the
    translation. The feature `word-lexicon` reads the model. Training needs 4 bytes of memory for each pair of a source
    and a target word that are frequent enough.

    \b
    rerank train word-lexicon train.de-en.xz -o de-en.lexicon
    """  # noqa: D301
    from rerank_plugins.core.threads import cores
    from rerank_plugins.translation.lexicon.training import Settings

    closing = Closing()
    settings = Settings(epochs, rate, decay, source_count, target_count, not keep_case)
    lexicon, size = train_word_lexicon(texts, output, settings, jobs=jobs or cores())
    say(
        f"{counted(lexicon.settings['pairs'], 'sentence pair')}, {len(lexicon.source_words):,} source and "
        f"{len(lexicon.target_words):,} target words, {len(lexicon.weights):,} weights"
    )
    closing.wrote(f"the model ({size_text(size)})", output)


def train_word_lexicon(
    texts: Sequence[str], output: Path, settings: Settings, *, jobs: int = 1
) -> tuple[WordLexicon, int]:
    """Train a lexicon on files and write it; return it with the size of its file in bytes.

    Raises FormatError for files that cannot be read or do not fit together, ModelError where no words are left.
    """
    from rerank_adapters.formats.sentence_pairs import read_pairs
    from rerank_adapters.runtime.progress import StatusLine
    from rerank_plugins.kit.files.text import display_name
    from rerank_plugins.translation.lexicon.model_file import write_model
    from rerank_plugins.translation.lexicon.training import train

    def report(epoch: int, likelihood: float) -> None:
        say(f"epoch {epoch}: ln p {likelihood:.4f} per sentence pair")

    with StatusLine("training"):
        lexicon = train(read_pairs(texts), settings, jobs=jobs, report=report)
        lexicon = replace(lexicon, settings={**lexicon.settings, "texts": [display_name(text) for text in texts]})
        return lexicon, write_model(lexicon, output)
