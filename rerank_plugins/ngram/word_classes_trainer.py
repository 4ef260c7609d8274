"""The trainer of classes of words, for n-gram models that generalise over open-class words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rerank_plugins.core.constituency_tree import read_trees
from rerank_plugins.core.errors import FormatError
from rerank_plugins.core.interfaces import option
from rerank_plugins.core.trainer import Trained, Trainer, TrainingData
from rerank_plugins.kit.files.text import display_name, open_atomic, open_text

if TYPE_CHECKING:
    from rerank_plugins.ngram.word_classes import Tagged, WordClasses

CONLLU, WORD, TAG = ".conllu", 1, 4  # columns of CoNLL-U, from 0: form and XPOS


@dataclass
class WordClassesTrainer(Trainer):
    """Assign each word to the class of its most frequent tag in FILEs.

    A FILE is a treebank in CoNLL-U with XPOS tags or of bracketed trees. English closed-class words (Penn Treebank tags
    DT, IN, PRP …) remain as they are; a word that does not occur in the treebanks is replaced by a signature of its
    form (UNK-LC-ing). The text step `classes:FILE` replaces words by their classes.

    \b
    rerank train word-classes train.conllu.xz -o classes.tsv
    rerank text classes:classes.tsv < news.txt > news.classes
    rerank train ngram news.classes -o classes.ngram
    """  # noqa: D301

    reads = "files"
    to_stdout = True

    text: tuple[str, ...] = option(
        (), metavar="FILE", doc="Keep the most frequent words of this tokenised text as they are. Repeatable."
    )
    words: int = option(200, within="[1, ]", doc="How many of the most frequent words to keep.")

    def train(self, data: TrainingData) -> Trained:
        """The `WordClasses` of the tags of treebanks. Raises FormatError."""
        from rerank_plugins.ngram.word_classes import WordClasses

        frequent = frequent_words(self.text, self.words)
        tagged = (sentence for path in data.examples() for sentence in tagged_sentences(path))
        classes = WordClasses.of_treebank(tagged, frequent)
        line = f"{len(classes.classes):,} words in {len(set(classes.classes.values())):,} classes"
        return Trained(lambda path: _write(classes, path), [line], what="the classes")


def _write(classes: WordClasses, path: Path) -> None:
    with open_atomic(path) as out:
        out.writelines(classes.lines())


def frequent_words(texts: Sequence[str], number: int) -> list[str]:
    """The most frequent words of tokenised texts, in lower case; ties are in alphabetical order."""
    counts: Counter[str] = Counter()
    for path in texts:
        with open_text(path) as lines:
            for line in lines:
                counts.update(line.lower().split())
    return sorted(counts, key=lambda word: (-counts[word], word))[:number]


def tagged_sentences(path: Path) -> Iterator[Tagged]:
    """Words with tags: the XPOS of CoNLL-U, where the name of the file ends so, else the preterminals of trees.

    Raises FormatError, with path and line.
    """
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
