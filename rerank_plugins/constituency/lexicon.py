"""The emissions of a grammar: ln p(word | preterminal) over a closed vocabulary of words and signatures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rerank_plugins.core.arrays import FloatArray, IntArray
from rerank_plugins.core.brackets_and_quotes import known_spelling
from rerank_plugins.kit.vocabulary.signatures import known_form

REMEMBERED = 1 << 18  # words whose numbers are kept


class NumberedWords:
    """A vocabulary: `words`, sorted, including signatures of unknown words and `UNK`, with their numbers."""

    words: tuple[str, ...]

    @cached_property
    def _numbers(self) -> dict[tuple[str, bool], int]:
        """The numbers of words that were looked up, as first words of sentences or as others."""
        return {}

    @cached_property
    def index(self) -> Mapping[str, int]:
        """The number of each word."""
        return {word: number for number, word in enumerate(self.words)}

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and known_spelling(word, self.index) is not None

    def number(self, word: str, position: int) -> int:
        """Return the number of a word, or of its most specific known signature; `position` counts from 0."""
        key = word, position == 0
        number = self._numbers.get(key)
        if number is None:
            number = self.index[known_form(word, position, self.index)]
            if len(self._numbers) < REMEMBERED:
                self._numbers[key] = number
        return number


@dataclass(frozen=True, eq=False)
class Lexicon(NumberedWords):
    """The closed vocabulary, and the symbols that emit each of its words.

    `words`    (W) sorted, including signatures of unknown words and `UNK`
    `starts`   (W + 1) int32: the emissions of word w are entries starts[w] to starts[w + 1] of the next two
    `symbols`  (E) int32 symbol numbers of the grammar, ascending within a word
    `logp`     (E) ln p(word | symbol); over the words of a symbol that is only a preterminal, p sums to 1
    """

    words: tuple[str, ...]
    starts: IntArray
    symbols: IntArray
    logp: FloatArray

    def ids(self, sentence: Sequence[str]) -> IntArray:
        """Return (n) int32 numbers of the words; an unknown word has that of its most specific known signature."""
        return np.array([self.number(word, i) for i, word in enumerate(sentence)], np.int32)

    def emissions(self, word: str, position: int) -> tuple[IntArray, FloatArray]:
        """Return the symbols that emit the word, and ln p(word | symbol); `position` 0 is the first of its sentence."""
        entry = self.number(word, position)
        span = slice(self.starts[entry], self.starts[entry + 1])
        return self.symbols[span], self.logp[span]

    @cached_property
    def word_of(self) -> IntArray:
        """(E) the number of each entry's word."""
        return np.repeat(np.arange(len(self.words), dtype=np.int32), np.diff(self.starts))


def lexicon_of(words: tuple[str, ...], word: IntArray, symbol: IntArray, logp: FloatArray) -> Lexicon:
    """Build the lexicon of entries in any order: numbers of word and symbol, ln p(word | symbol)."""
    order = np.lexsort((symbol, word))
    starts = np.concatenate(([0], np.cumsum(np.bincount(word, minlength=len(words))))).astype(np.int32)
    return Lexicon(words, starts, symbol[order].astype(np.int32), logp[order])
