"""`rerank train random-indexing`: word vectors from plain text."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.commands.options import model_output

SPACES = ("document", "window", "directional", "positional")


@click.command("random-indexing")
@click.argument("texts", nargs=-1, required=True, metavar="TEXT...")
@model_output()
@click.option(
    "--space", "spaces", multiple=True, type=click.Choice([*SPACES, "lsa"]), help="Repeatable. Default: all but lsa."
)
@click.option("--dimensions", type=click.IntRange(2, 10_000), default=200, show_default=True,
              help="Of the vectors; twice as many in the directional space.")  # fmt: skip
@click.option("--nonzero", type=click.IntRange(1), default=5, show_default=True, help="Non-zeros of an index vector.")
@click.option("--radius", type=click.IntRange(1), default=6, show_default=True, help="Words to each side of a window.")
@click.option("--documents", type=click.Choice(["lines", "blocks"]), default="lines", show_default=True,
              help="What a document is: a line, or lines up to an empty one.")  # fmt: skip
@click.option("--min-count", type=click.IntRange(1), default=5, show_default=True, help="Rarer words are unknown.")
@click.option("--words", type=click.IntRange(1), metavar="N", help="Only the N most frequent words are known.")
@click.option("--keep-case", is_flag=True, help="Do not put the text into lower case.")
@click.option("--context-weight", type=click.Choice(["sif", "none"]), default="sif", show_default=True,
              help="Frequent context words count less, or (as in the paper) all count 1.")  # fmt: skip
@click.option("--centre", is_flag=True, help="Take the mean vector away from all.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of the index vectors.")
@click.option("-j", "--jobs", type=click.IntRange(1), default=2, show_default=True, help="Threads: spaces at a time.")
def command(
    texts: tuple[str, ...], output: Path, spaces: tuple[str, ...], dimensions: int, nonzero: int, radius: int,
    documents: str, min_count: int, words: int | None, keep_case: bool, context_weight: str, centre: bool, seed: int,
    jobs: int,
) -> None:  # fmt: skip
    """Train word vectors by random indexing on tokenised text (compressed or not), a sentence per line.

    Four spaces, by what the context of a word is: its document, the words around it, those to the left apart from those
    to the right, or the words around it each by its position. Vectors depend on text, options and seed alone.

    \b
    rerank train random-indexing news.en.gz -o news.ri
    rerank extract lists.nbest -f random-indexing,model=news.ri -o table.npz
    """  # noqa: D301
    from rerank_adapters.applications.training.random_indexing import train_vectors
    from rerank_plugins.models.random_indexing.training import Settings

    settings = Settings(
        spaces or SPACES, dimensions, nonzero, radius, documents, min_count, words,  # type: ignore[arg-type]
        not keep_case, context_weight, centre, seed,  # type: ignore[arg-type]
    )  # fmt: skip
    train_vectors(texts, output, settings, jobs, lambda line: click.echo(line, err=True))
