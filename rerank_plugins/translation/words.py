"""The words of tokenised sentences: their spelling in a model, their numbers, those frequent enough to be known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np

from rerank_plugins import IntArray, LongArray
from rerank_plugins.core.brackets_and_quotes import normal_text
from rerank_plugins.core.words import model_words
from rerank_plugins.kit.files.model_schema import Array, Offsets, WordList

UNKNOWN_WORD = -1  # the number of a word that the sentences do not have


@dataclass(frozen=True, eq=False)
class Sentences:
    """The sentences of one language: sentence i has the words `tokens[offsets[i] : offsets[i + 1]]`, by number."""

    words: Annotated[tuple[str, ...], WordList("V")]
    tokens: Annotated[IntArray, Array("N", below="V")]
    offsets: Annotated[LongArray, Offsets("D", "N")]

    @classmethod
    def numbered(cls, words: Iterable[str], sentences: Sequence[IntArray]) -> Sentences:
        """The sentences of these numbers of words, one or more."""
        return cls(tuple(words), np.concatenate(sentences), np.cumsum([0, *map(len, sentences)], dtype=np.int64))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def number(self) -> dict[str, int]:
        """The number of each word."""
        return {word: i for i, word in enumerate(self.words)}

    @cached_property
    def lengths(self) -> LongArray:
        """(sentences) the number of words of each sentence."""
        return np.diff(self.offsets)

    def of(self, sentence: int) -> IntArray:
        """The numbers of the words of a sentence."""
        return self.tokens[self.offsets[sentence] : self.offsets[sentence + 1]]

    def text(self, sentence: int) -> str:
        """The words of a sentence, with spaces between them."""
        return " ".join(self.words[word] for word in self.of(sentence))

    def encoded(self, texts: Iterable[str], *, lowercase: bool) -> tuple[IntArray, LongArray]:
        """The (tokens) numbers of the words of the texts, UNKNOWN_WORD for others, and the (texts + 1) offsets."""
        sentences = [split_words(text, lowercase) for text in texts]
        offsets = np.cumsum([0, *map(len, sentences)], dtype=np.int64)
        number = self.number
        numbers = (number.get(word, UNKNOWN_WORD) for words in sentences for word in words)
        return np.fromiter(numbers, np.int32, int(offsets[-1])), offsets

    def sentence_counts(self) -> LongArray:
        """(words) the number of sentences that contain each word."""
        sentences = np.repeat(np.arange(len(self)), self.lengths)
        distinct = np.unique(sentences * len(self.words) + self.tokens)
        return np.bincount(distinct % len(self.words), minlength=len(self.words)).astype(np.int64)


def split_words(text: str, lowercase: bool) -> list[str]:
    """The words of a tokenised text, with brackets in normal form, and in lower case if `lowercase`."""
    text = normal_text(text)
    return model_words(text.lower() if lowercase else text)


def frequent_words(sentences: Iterable[Iterable[str]], least: int) -> tuple[str, ...]:
    """The words that occur at least `least` times, the most frequent first, those of equal frequency in order.

    Where the sentences are sets, occurrences are numbers of sentences.
    """
    counts = Counter(word for words in sentences for word in words)
    return tuple(sorted((word for word, n in counts.items() if n >= least), key=lambda word: (-counts[word], word)))
