"""The closed vocabulary of a model of trees: the numbers of its words, and signatures for the words outside it.

Number 0 is `<s>`, which stands before the first word and is never predicted; the other words follow by falling
frequency, words of equal frequency in alphabetical order. `UNK`, the signature without features, is always in the
vocabulary. Brackets are in their normal form (core/brackets_and_quotes.py), however a text spells them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Annotated

import numpy as np

from rerank_plugins import FloatArray, IntArray, LongArray, PickledFields, known_spelling
from rerank_plugins.kit.files.model_schema import Array, Setting, WordList
from rerank_plugins.kit.remembered import MEGABYTE, Remembered
from rerank_plugins.kit.vocabulary.signatures import UNKNOWN_SIGNATURE, is_signature, known_form
from rerank_plugins.kit.vocabulary.unknown_types import ln_types

SENTENCE_START = "<s>"
Sentence = Sequence[str]
REMEMBERED = 16 * MEGABYTE  # of words and their numbers


@dataclass(frozen=True, eq=False)
class ClosedVocabulary(PickledFields):
    """The words by number, and (V) how often each occurs in the training corpus; for `<s>`, the number of sentences.

    `unknown_types` is the number of types that each signature stands for, among which its probability is divided
    (kit/vocabulary/unknown_types.py).
    """

    words: Annotated[tuple[str, ...], WordList("V", name="vocabulary")]
    counts: Annotated[LongArray, Array("V", values="not negative")]
    unknown_types: Annotated[Mapping[str, int], Setting()] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise ValueError for words without the signature that all unknown words have."""
        if UNKNOWN_SIGNATURE not in self.words:
            raise ValueError(f"the vocabulary lacks {UNKNOWN_SIGNATURE}")

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and word != SENTENCE_START and known_spelling(word, self.number) is not None

    @cached_property
    def number(self) -> dict[str, int]:
        """The number of each word."""
        return {word: i for i, word in enumerate(self.words)}

    @cached_property
    def _initial_numbers(self) -> _Numbers:
        return _Numbers(self.number, 0)

    @cached_property
    def _inner_numbers(self) -> _Numbers:
        return _Numbers(self.number, 1)

    def encode(self, sentences: Iterable[Sentence]) -> IntArray:
        """(n) the numbers of all words of the sentences; an unknown word has that of its most specific signature."""
        first, inner = self._initial_numbers, self._inner_numbers
        ids = ((first[sentence[0]], *map(inner.__getitem__, sentence[1:])) for sentence in sentences if sentence)
        return np.fromiter(chain.from_iterable(ids), np.int32)

    @cached_property
    def ln_types(self) -> FloatArray:
        """(V) ln of the number of types that a signature stands for; 0 for words."""
        return ln_types(self.words, self.unknown_types)

    def stated(self, types: int | None) -> ClosedVocabulary:
        """The vocabulary in which every signature stands for so many types; the same one for None."""
        if types is None:
            return self
        return replace(self, unknown_types={word: types for word in self.words if is_signature(word)})

    @cached_property
    def ln_unigram(self) -> FloatArray:
        """(V) ln p of each word by its count, at number 0 that of the end of a sentence; unseen words count as 1.

        At a signature it is ln p of one of the types that it stands for.
        """
        counts = np.maximum(self.counts, 1)
        return np.asarray(np.log(counts / counts.sum()) - self.ln_types, np.float64)

    def unigram_scores(self, sentences: Sequence[Sentence]) -> list[FloatArray]:
        """Ln p of each word and of the end of the sentence by unigrams: len(sentence) + 1 values per sentence."""
        ln_p, starts = self.ln_unigram[self.encode(sentences)], np.cumsum([len(sentence) for sentence in sentences])
        return [np.append(words, self.ln_unigram[0]) for words in np.split(ln_p, starts[:-1])] if len(starts) else []


class _Numbers(Remembered[str, int]):
    """A cache that maps each word to its number in the vocabulary; `position` 0 is for first words of sentences."""

    def __init__(self, number: dict[str, int], position: int) -> None:
        super().__init__(REMEMBERED)
        self._number, self._position = number, position

    def __missing__(self, word: str) -> int:
        form = word if word != SENTENCE_START else UNKNOWN_SIGNATURE  # `<s>` in a text is an unknown word
        self.make_room()
        return self.keep(word, self._number[known_form(form, self._position, self._number)])
