"""`rerank train word-classes`: makes classes of words, for n-gram models that generalise over open-class words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerank_adapters.applications.training.reports import say
from rerank_adapters.commands.closing import Closing
from rerank_adapters.commands.options import output_option
from rerank_plugins import FormatError

if TYPE_CHECKING:
    from rerank_adapters.runtime.progress import CountingBar
    from rerank_plugins.ngram.word_classes import Tagged, WordClasses

CONLLU, WORD, TAG = ".conllu", 1, 4  # columns of CoNLL-U, from 0: form and XPOS


@click.command("word-classes")
@click.argument("treebanks", nargs=-1, required=True, type=Path, metavar="TREEBANK...")
@click.option("--text", "texts", multiple=True, metavar="FILE",
              help="Keep the most frequent words of this tokenised text as they are. Repeatable.")  # fmt: skip
@click.option("--words", type=click.IntRange(1), default=200, show_default=True,
              help="How many of the most frequent words to keep.")  # fmt: skip
@output_option("Where to write the classes.")
def command(treebanks: tuple[Path, ...], texts: tuple[str, ...], words: int, output: Path) -> None:
    """Assign each word to the class of its most frequent tag in TREEBANKs.

    A TREEBANK is a file of CoNLL-U with XPOS tags or of bracketed trees. English closed-class words (Penn Treebank tags
    DT, IN, PRP …) remain as they are; a word that does not occur in the treebanks is replaced by a signature of its
    form (UNK-LC-ing). The text step `classes:FILE` replaces words by their classes.

    \b
    rerank train word-classes train.conllu.xz -o classes.tsv
    rerank text classes:classes.tsv < news.txt > news.classes
    rerank train ngram news.classes -o classes.ngram
    """  # noqa: D301
    from rerank_adapters.runtime.progress import CountingBar
    from rerank_plugins.kit.files.text import open_atomic

    closing = Closing()
    with CountingBar("sentences read") as bar:
        classes = train_classes(treebanks, texts, words, bar)
    with open_atomic(output) as out:
        out.writelines(classes.lines())
    say(f"{len(classes.classes):,} words in {len(set(classes.classes.values())):,} classes")
    closing.wrote("the classes", output)


def train_classes(treebanks: Sequence[Path], texts: Sequence[str], words: int, bar: CountingBar) -> WordClasses:
    """Classes by the tags of treebanks; the `words` most frequent words of the texts are kept as they are.

    Raises FormatError.
    """
    from rerank_plugins.ngram.word_classes import WordClasses

    frequent = frequent_words(texts, words, bar)

    def tagged() -> Iterator[Tagged]:
        for path in treebanks:
            for sentence in tagged_sentences(path):
                bar.add(1)
                yield sentence

    return WordClasses.of_treebank(tagged(), frequent)


def frequent_words(texts: Sequence[str], number: int, bar: CountingBar) -> list[str]:
    """The most frequent words of tokenised texts, in lower case; ties are in alphabetical order."""
    from rerank_plugins.kit.files.text import open_text

    counts: Counter[str] = Counter()
    for path in texts:
        with open_text(path) as lines:
            for line in lines:
                counts.update(line.lower().split())
                bar.add(1)
    return sorted(counts, key=lambda word: (-counts[word], word))[:number]


def tagged_sentences(path: Path) -> Iterator[Tagged]:
    """Words with tags: the XPOS of CoNLL-U, where the name of the file ends so, else the preterminals of trees.

    Raises FormatError, with path and line.
    """
    from rerank_plugins.core.constituency_tree import read_trees
    from rerank_plugins.kit.files.text import display_name, open_text

    with open_text(path) as lines:
        if CONLLU in path.suffixes:
            for number, line in enumerate(lines, 1):
                columns = line.split("\t")
                if line.strip() and not line.startswith("#") and columns[0].isdecimal():
                    if len(columns) <= TAG:
                        message = f"{len(columns)} columns, wanted 10 of CoNLL-U"
                        raise FormatError(message, path=display_name(path), line=number)
                    yield [(columns[WORD], columns[TAG])]
        else:
            for tree in read_trees(lines, display_name(path)):
                yield list(zip(tree.words(), tree.tags(), strict=True))
