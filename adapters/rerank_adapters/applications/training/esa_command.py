"""`rerank train esa`: what words are about, from a collection of documents."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.commands.options import model_output
from rerank_plugins import ConfigError


@click.command("esa")
@click.argument("texts", nargs=-1, required=True, metavar="TEXT...")
@model_output()
@click.option("--documents", "form", default="lines", show_default=True, metavar="FORM",
              help="A document is a line (title<TAB>text, or text), the lines up to an empty one (blocks; `# title` "
                   "may come first), or N lines of running text.")  # fmt: skip
@click.option("--most", type=click.IntRange(1), default=500, show_default=True, help="Documents kept of a word.")
@click.option("--shortest", type=click.IntRange(1), default=100, show_default=True,
              help="Words of a document; shorter ones are left out.")  # fmt: skip
@click.option("--min-count", type=click.IntRange(1), default=3, show_default=True, help="Rarer words are unknown.")
@click.option("--words", type=click.IntRange(1), metavar="N", help="Only the N most frequent words are known.")
@click.option("--keep-case", is_flag=True, help="Do not put the text into lower case.")
def command(
    texts: tuple[str, ...], output: Path, form: str, most: int, shortest: int, min_count: int, words: int | None,
    keep_case: bool,
) -> None:  # fmt: skip
    """Index a collection of tokenised documents for explicit semantic analysis (Gabrilovich and Markovitch 2009).

    Each word gets the documents it is typical of, with tf idf weights: what two sentences have in common in that space
    is a measure of `rerank similarity` (family esa). The best collection is an encyclopaedia.

    \b
    rerank train esa encyclopaedia.tsv.xz -o wiki.esa
    rerank similarity evaluate pairs.tsv --measure esa.cosine --esa wiki.esa
    """  # noqa: D301
    from rerank_adapters.applications.training.esa import train_esa
    from rerank_plugins.models.esa.training import Settings

    if form not in ("lines", "blocks") and not (form.isdecimal() and int(form)):
        raise ConfigError(f"--documents is {form!r}: wanted lines, blocks or a number of lines")
    settings = Settings(most, shortest, min_count, words, not keep_case)
    train_esa(texts, output, form, settings, lambda line: click.echo(line, err=True))
