"""`rerank train word-classes`: classes of words, for n-gram models that see grammar rather than names."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.commands.options import output_option


@click.command("word-classes")
@click.argument("treebanks", nargs=-1, required=True, type=Path, metavar="TREEBANK...")
@click.option("--text", "texts", multiple=True, metavar="FILE",
              help="Tokenised text whose most frequent words stay too. Repeatable.")  # fmt: skip
@click.option("--words", type=click.IntRange(1), default=200, show_default=True, help="How many of them stay.")
@output_option("Where to write the classes.")
def command(treebanks: tuple[Path, ...], texts: tuple[str, ...], words: int, output: Path) -> None:
    """Put words into classes by the tags that they mostly have in TREEBANKs (CoNLL-U with XPOS, or bracketed trees).

    English closed-class words (tags of the Penn Treebank: DT, IN, PRP …) stay as they
    are; a word that the treebanks do not have becomes a signature of its form (UNK-LC-ing). The text step
    `classes:FILE` replaces words by their classes.

    \b
    rerank train word-classes train.conllu.xz -o classes.tsv
    rerank text classes:classes.tsv < news.txt > news.classes
    rerank train ngram news.classes -o classes.ngram
    """  # noqa: D301
    from rerank_adapters.applications.training.word_classes import train_classes
    from rerank_adapters.formats.compressed import open_atomic

    classes = train_classes(treebanks, texts, words)
    with open_atomic(output) as out:
        out.writelines(classes.lines())
    click.echo(f"{len(classes.classes)} words in {len(set(classes.classes.values()))} classes", err=True)
