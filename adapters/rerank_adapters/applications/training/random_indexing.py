"""`rerank train random-indexing`: trains word vectors on plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerank_adapters.applications.training.reports import say
from rerank_adapters.commands.closing import Closing, counted, size_text
from rerank_adapters.commands.options import model_output

if TYPE_CHECKING:
    from rerank_plugins.similarity.random_indexing.model import RandomIndexModel
    from rerank_plugins.similarity.random_indexing.training import Settings

SPACES = ("document", "window", "directional", "positional")


@click.command("random-indexing")
@click.argument("texts", nargs=-1, required=True, metavar="TEXT...")
@model_output()
@click.option("--space", "spaces", multiple=True, type=click.Choice([*SPACES, "lsa"]),
              help="A vector space to build. Repeatable. Default: all but lsa.")  # fmt: skip
@click.option("--dimensions", type=click.IntRange(2, 10_000), default=200, show_default=True,
              help="Dimensions of the vectors; the directional space has twice as many.")  # fmt: skip
@click.option("--nonzero", type=click.IntRange(1), default=5, show_default=True,
              help="Number of non-zero elements of an index vector.")  # fmt: skip
@click.option("--radius", type=click.IntRange(1), default=6, show_default=True,
              help="Number of context words on each side of a word.")  # fmt: skip
@click.option("--documents", type=click.Choice(["lines", "blocks"]), default="lines", show_default=True,
              help="A document is a line, or a block of lines that ends at an empty line.")  # fmt: skip
@click.option("--min-count", type=click.IntRange(1), default=5, show_default=True,
              help="Treat words that occur less often than this as unknown.")  # fmt: skip
@click.option("--words", type=click.IntRange(1), metavar="N",
              help="Keep only the N most frequent words in the vocabulary.")  # fmt: skip
@click.option("--keep-case", is_flag=True, help="Do not convert the text to lower case.")
@click.option("--context-weight", type=click.Choice(["sif", "none"]), default="sif", show_default=True,
              help="Give frequent context words less weight (sif), or all the same, as in the paper.")  # fmt: skip
@click.option("--centre", is_flag=True, help="Subtract the mean vector from all vectors.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of the index vectors.")
@click.option("-j", "--jobs", type=click.IntRange(1), default=2, show_default=True,
              help="Number of threads; each builds one space at a time.")  # fmt: skip
def command(
    texts: tuple[str, ...], output: Path, spaces: tuple[str, ...], dimensions: int, nonzero: int, radius: int,
    documents: str, min_count: int, words: int | None, keep_case: bool, context_weight: str, centre: bool, seed: int,
    jobs: int,
) -> None:  # fmt: skip
    """Train word vectors by random indexing on tokenised TEXT with one sentence per line (compressed or not).

    There are four spaces, which differ in what the context of a word is: its document; the words around it; the words
    to its left and to its right, kept apart; or the words around it, each by its position. The vectors depend on the
    text, the options and the seed alone.

    \b
    rerank train random-indexing news.en.gz -o news.ri
    rerank extract lists.nbest -f random-indexing,model=news.ri -o table.npz
    """  # noqa: D301
    from rerank_plugins.similarity.random_indexing.training import Settings

    closing = Closing()
    settings = Settings(
        spaces or SPACES, dimensions, nonzero, radius, documents, min_count, words,  # type: ignore[arg-type]
        not keep_case, context_weight, centre, seed,  # type: ignore[arg-type]
    )  # fmt: skip
    model, size = train_vectors(texts, output, settings, jobs)
    say(
        f"{', '.join(model.spaces)}: {counted(model.total_documents, 'document')}, "
        f"{counted(model.provenance['words'], 'word')}, {len(model.words):,} distinct known words"
    )
    closing.wrote(f"the model ({size_text(size)})", output)


def train_vectors(texts: Sequence[str], output: Path, settings: Settings, jobs: int) -> tuple[RandomIndexModel, int]:
    """Train a model on files and write it; return it with the size of its file in bytes.

    Raises FormatError for a file that cannot be read, ModelError where there are no words.
    """
    from rerank_adapters.runtime.progress import StatusLine
    from rerank_plugins.kit.files.text import display_name
    from rerank_plugins.similarity.random_indexing.model_file import write_model
    from rerank_plugins.similarity.random_indexing.training import train

    with StatusLine() as stages:
        model = train(_opened(texts), settings, jobs=jobs, progress=stages)
        model = replace(model, provenance={**model.provenance, "texts": [display_name(text) for text in texts]})
        stages("writing")
        return model, write_model(model, output)


def _opened(texts: Sequence[str]) -> Iterator[tuple[str, Iterator[str]]]:
    from rerank_plugins.kit.files.text import display_name, open_text

    for text in texts:
        with open_text(text) as lines:
            yield display_name(text), lines
