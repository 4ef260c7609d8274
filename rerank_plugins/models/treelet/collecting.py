"""The trees of a training corpus as numbers, and the labels and words that the numbers stand for.

Labels are numbered by falling frequency, ties in alphabetical order, so that a model does not depend on the order of
the trees (except where words become signatures at random). The memory is about 12 bytes per node, and the sentences.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

import numpy as np

from rerank_plugins.arrays import IntArray, LongArray
from rerank_plugins.models.treelet.forest import SPECIAL, Symbols, TreeArrays, lay_out, sentences_of
from rerank_plugins.models.vocabulary.closed import ClosedVocabulary, close_vocabulary
from rerank_plugins.models.vocabulary.numbering import Numbering
from rerank_plugins.models.vocabulary.signatures import UnknownWords
from rerank_plugins.trees.constituency import Tree
from rerank_plugins.trees.penn import normal_form

BLOCK = 4096  # trees that are numbered at a time


class Corpus(NamedTuple):
    """Symbols, vocabulary, and the trees as arrays of their numbers."""

    symbols: Symbols
    vocabulary: ClosedVocabulary
    forest: TreeArrays


class TreeletCollector:
    """Collects trees in the form that the model uses; `finish` determines the symbols and the vocabulary."""

    def __init__(self) -> None:
        self._phrases, self._tags = Numbering(), Numbering()
        self._blocks: list[tuple[IntArray, IntArray, IntArray, LongArray]] = []
        self._sentences: list[tuple[str, ...]] = []
        self._spelling: dict[str, str] = {}  # one string object for each distinct word

    def add(self, trees: Iterable[Tree]) -> None:
        """Add trees to the corpus."""
        trees = iter(trees)
        spelling = self._spelling
        while block := list(islice(trees, BLOCK)):
            symbol, parent, words, offsets = lay_out(block, self._phrases.number_of, self._tags.number_of)
            is_tag = np.array([word is not None for word in words])
            self._blocks.append((symbol, parent, is_tag.astype(np.int32), offsets))
            for sentence in sentences_of(words, offsets):
                normal = map(normal_form, sentence)
                self._sentences.append(tuple(spelling.setdefault(word, word) for word in normal))

    @property
    def trees(self) -> int:
        """The number of trees so far."""
        return len(self._sentences)

    def finish(self, unknown: UnknownWords, min_count: int) -> Corpus:
        """The corpus, with signatures in place of some words. The collector is emptied."""
        symbol, parent, is_tag, offsets = self._joined()
        vocabulary, tokens = close_vocabulary(self._sentences, unknown, min_count)
        phrases, new_phrases = _settled(self._phrases, symbol[is_tag == 0], len(SPECIAL))
        tags, new_tags = _settled(self._tags, symbol[is_tag == 1], len(SPECIAL) + len(phrases))
        renumbered = np.empty_like(symbol)
        renumbered[is_tag == 0] = new_phrases[symbol[is_tag == 0]]
        renumbered[is_tag == 1] = new_tags[symbol[is_tag == 1]]
        word = np.full(len(symbol), -1, np.int32)
        word[is_tag == 1] = tokens
        self._sentences.clear()
        return Corpus(Symbols(phrases, tags), vocabulary, TreeArrays(renumbered, parent, word, offsets))

    def _joined(self) -> tuple[IntArray, IntArray, IntArray, LongArray]:
        starts = np.cumsum([0, *(len(block[0]) for block in self._blocks)])
        symbol, is_tag = (np.concatenate([block[k] for block in self._blocks]) for k in (0, 2))
        parents = [
            np.where(block[1] >= 0, block[1] + start, -1) for block, start in zip(self._blocks, starts, strict=False)
        ]
        offsets = [block[3][:-1] + start for block, start in zip(self._blocks, starts, strict=False)]
        self._blocks.clear()
        return symbol, np.concatenate(parents).astype(np.int32), is_tag, np.concatenate([*offsets, starts[-1:]])


def _settled(names: Numbering, used: IntArray, first: int) -> tuple[tuple[str, ...], IntArray]:
    """The names by falling frequency, and the new number of each old one, from `first` on."""
    counts = np.bincount(used, minlength=len(names)).tolist()
    old = names.as_dict()
    order = sorted(names, key=lambda name: (-counts[old[name]], name))
    new = np.zeros(len(names), np.int32)
    new[[old[name] for name in order]] = np.arange(first, first + len(order))
    return tuple(order), new
