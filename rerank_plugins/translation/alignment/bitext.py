"""Numbers the words of sentence pairs for training."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rerank_plugins.core.arrays import IntArray, LongArray
from rerank_plugins.core.brackets_and_quotes import normal_text
from rerank_plugins.core.errors import ModelError
from rerank_plugins.kit.vocabulary.word_numbers import Numbering


@dataclass(frozen=True, eq=False)
class Side:
    """One side of the sentence pairs.

    `words` by falling frequency, those of equal frequency in alphabetical order; the tokens of sentence s are the
    numbers `tokens[offsets[s] : offsets[s + 1]]`, at least one.
    """

    words: tuple[str, ...]
    tokens: IntArray
    offsets: LongArray

    @property
    def lengths(self) -> LongArray:
        """(sentences) the number of tokens of each sentence."""
        return np.diff(self.offsets)

    def sentence_counts(self) -> LongArray:
        """(words) the number of sentences that contain each word."""
        sentences = np.repeat(np.arange(len(self.offsets) - 1), self.lengths)
        distinct = np.unique(sentences * len(self.words) + self.tokens)
        return np.bincount(distinct % len(self.words), minlength=len(self.words)).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Bitext:
    """Sentence pairs; `empty` of the lines had an empty side, and `too_long` a side with too many words."""

    source: Side
    target: Side
    empty: int
    too_long: int

    def __len__(self) -> int:
        return len(self.source.offsets) - 1


def split_words(text: str, lowercase: bool) -> list[str]:
    """The words of a tokenised text, with brackets in normal form, and in lower case if `lowercase`."""
    text = normal_text(text)
    return text.lower().split() if lowercase else text.split()


def read_bitext(pairs: Iterable[tuple[str, str]], *, lowercase: bool, longest: int) -> Bitext:
    """Number the words of the pairs (source line, target line). Raises ModelError if no pair is left."""
    sides = _SideReader(), _SideReader()
    empty = too_long = 0
    for lines in pairs:
        sentences = [split_words(line, lowercase) for line in lines]
        if not all(sentences):
            empty += 1
        elif max(map(len, sentences)) > longest:
            too_long += 1
        else:
            for side, words in zip(sides, sentences, strict=True):
                side.add(words)
    if not sides[0].lengths:
        left_out = f"{empty:,} have an empty side, {too_long:,} more than {longest} words"
        raise ModelError(f"there is no sentence pair to train on: of {empty + too_long:,} lines, {left_out}")
    return Bitext(sides[0].finish(), sides[1].finish(), empty, too_long)


class _SideReader:
    """Collects the sentences of one side."""

    def __init__(self) -> None:
        self._numbers = Numbering()
        self._pieces: list[IntArray] = []
        self._words: list[str] = []
        self.lengths: list[int] = []

    def add(self, words: list[str]) -> None:
        self.lengths.append(len(words))
        self._words += words
        if len(self._words) >= 1 << 18:
            self._number()

    def _number(self) -> None:
        self._pieces.append(self._numbers.numbers_of(self._words, len(self._words)))
        self._words = []

    def finish(self) -> Side:
        self._number()
        tokens = np.concatenate(self._pieces)
        names = list(self._numbers)
        counts = np.bincount(tokens, minlength=len(names)).tolist()
        order = sorted(range(len(names)), key=lambda number: (-counts[number], names[number]))
        new = np.empty(len(names), np.int32)
        new[order] = np.arange(len(names), dtype=np.int32)
        offsets = np.concatenate([[0], np.cumsum(self.lengths)]).astype(np.int64)
        return Side(tuple(names[number] for number in order), new[tokens], offsets)
