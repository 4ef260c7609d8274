"""Classes of words from tagged treebanks and a text's frequent words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from rerank_adapters.formats.compressed import display_name, open_text
from rerank_plugins import FormatError
from rerank_plugins.models.vocabulary.word_classes import Tagged, WordClasses
from rerank_plugins.trees.constituency import read_trees

CONLLU, WORD, TAG = ".conllu", 1, 4  # columns of CoNLL-U, from 0: form and XPOS


def frequent_words(texts: Sequence[str], number: int) -> list[str]:
    """The words that tokenised texts have most often, in lower case; equally frequent ones by the alphabet."""
    counts: Counter[str] = Counter()
    for path in texts:
        with open_text(path) as lines:
            for line in lines:
                counts.update(line.lower().split())
    return sorted(counts, key=lambda word: (-counts[word], word))[:number]


def tagged_sentences(path: Path) -> Iterator[Tagged]:
    """Words with tags: the XPOS of CoNLL-U, by the ending of the name, else the preterminals of bracketed trees.

    Raises FormatError, with path and line.
    """
    with open_text(path) as lines:
        if CONLLU in path.suffixes:
            for number, line in enumerate(lines, 1):
                columns = line.split("\t")
                if line.strip() and not line.startswith("#") and columns[0].isdecimal():
                    if len(columns) <= TAG:
                        found = f"{len(columns)} columns, wanted 10 of CoNLL-U"
                        raise FormatError(found, path=display_name(path), line=number)
                    yield [(columns[WORD], columns[TAG])]
        else:
            for tree in read_trees(lines, display_name(path)):
                yield list(zip(tree.words(), tree.tags(), strict=True))


def train_classes(treebanks: Sequence[Path], texts: Sequence[str], words: int) -> WordClasses:
    """Classes by the tags of treebanks; the `words` most frequent words of the texts stay too."""
    tagged = (sentence for path in treebanks for sentence in tagged_sentences(path))
    return WordClasses.of_treebank(tagged, frequent_words(texts, words))
