"""The vocabulary of a model of text: words and their numbers.

0 is `<unk>`, 1 `<s>`, 2 `</s>`; the other words follow by falling frequency, those of equal frequency in alphabetical
order. Each line of a text is a sentence, even if it is empty, and white space of ASCII separates words, as for lmplz.
`<unk>` in a text is the unknown word; `<s>` and `</s>` may not occur. A bracket, a quotation mark or a word with an
apostrophe that a vocabulary lacks is read as its first other spelling that is there (core/brackets_and_quotes.py).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Annotated

import numpy as np

from rerank_plugins.core.arrays import IntArray, LongArray, all_in_range
from rerank_plugins.core.brackets_and_quotes import MARKS, has_apostrophe, known_spelling, other_apostrophes
from rerank_plugins.core.errors import FormatError
from rerank_plugins.core.words import split_words
from rerank_plugins.kit.files.array_values import ContentsError
from rerank_plugins.kit.files.model_schema import WordList
from rerank_plugins.kit.vocabulary.unknown_types import types_of_unknown

SPECIAL = ("<unk>", "<s>", "</s>")
UNK, BOS, EOS = range(3)
LINES_A_BLOCK = 1 << 14  # lines numbered at a time


def check_special(name: str, words: tuple[str, ...]) -> None:
    """Raise ContentsError unless the stored words begin with the special ones."""
    if words[: len(SPECIAL)] != SPECIAL:
        raise ContentsError(f"{name} begins with {words[: len(SPECIAL)]!r:.100}, wanted {SPECIAL}")


class Numbering:
    """A growing table of names: a name that is new gets the next number. The names `first` have the first numbers.

    >>> numbering = Numbering(["<unk>"])
    >>> [numbering.number_of(name) for name in ("a", "b", "a")]
    [1, 2, 1]
    """

    def __init__(self, first: Iterable[str] = ()) -> None:
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__
        for name in first:
            self.number_of(name)

    def number_of(self, name: str) -> int:
        """The number of a name, which is added if it is new."""
        return self._numbers[name]

    def numbers_of(self, names: Iterable[str], size: int = -1) -> IntArray:
        """(n) the numbers of names, of which new ones are added; `size` is n where that is known."""
        return np.fromiter(map(self._numbers.__getitem__, names), np.int32, size)

    def as_dict(self) -> dict[str, int]:
        """The number of each name so far, in the order of the numbers."""
        return dict(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)


@dataclass(frozen=True)
class Vocabulary:
    """The words of a model by number, the special ones first; `hashes` is their hash table, if it exists already.

    `unknown_types` is the number of types that `<unk>` stands for (unknown_types.py).
    """

    words: Annotated[tuple[str, ...], WordList("V")]
    hashes: LongArray | None = field(default=None, compare=False, repr=False)
    unknown_types: int = field(default=1, compare=False)

    def __post_init__(self) -> None:
        """Raise ValueError for hashes that are no table of so many words, in which a search would leave the arrays."""
        table = self.hashes
        if table is not None and not (
            table.dtype == np.int64
            and table.shape[1:] == (2,)
            and len(table).bit_count() == 1
            and (table[:, 0] == 0).any()
            and all_in_range(table[:, 1], len(self.words))
        ):
            raise ValueError(f"hashes are no hash table of {len(self.words)} words")

    @cached_property
    def number(self) -> dict[str, int]:
        """The number of each word."""
        return dict(zip(self.words, range(len(self.words)), strict=True))

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: str) -> bool:
        return word not in SPECIAL and self.number.get(self.marks.get(word, word), UNK) != UNK

    def number_of(self, word: str) -> int:
        """The number of a word inside a sentence: UNK for unknown words, and for `<s>` and `</s>`."""
        return self.inner.get(self.marks.get(word, word), UNK)

    @cached_property
    def marks(self) -> dict[str, str]:
        """The spellings of marks and of words with apostrophes that the vocabulary lacks, each with one that it has."""
        numbers = self._encoded([MARKS])[:-1].tolist()
        known = {mark for mark, number in zip(MARKS, numbers, strict=True) if number != UNK}
        others = ((mark, known_spelling(mark, known)) for mark in MARKS if mark not in known)
        spelt = {mark: other for mark, other in others if other is not None}
        forms = [(form, word) for word in self.words if has_apostrophe(word) for form in other_apostrophes(word)]
        numbers = self._encoded([[form for form, _ in forms]])[:-1].tolist()
        for (form, word), number in zip(forms, numbers, strict=True):
            if number == UNK:
                spelt.setdefault(form, word)
        return spelt

    def encode(self, sentences: Sequence[Sequence[str]]) -> IntArray:
        """(n) the ids of all sentences, each ended by `</s>`; unknown words, and `<s>` and `</s>` as words, are UNK."""
        if marks := self.marks:
            sentences = [
                words if marks.keys().isdisjoint(words) else [marks.get(word, word) for word in words]
                for words in sentences
            ]
        return self._encoded(sentences)

    def _encoded(self, sentences: Sequence[Sequence[str]]) -> IntArray:
        """The same, of words in these very spellings."""
        from rerank_plugins.kit.vocabulary.word_hash import find_words

        tokens = find_words(sentences, self.table, EOS)
        if tokens is None:
            get = self.inner.get
            tokens = np.array([n for words in sentences for n in (*(get(word, UNK) for word in words), EOS)], np.int32)
        return tokens

    @cached_property
    def table(self) -> LongArray:
        """The hash table (word_hash.py) of the words that may be inside a sentence."""
        from rerank_plugins.kit.vocabulary.word_hash import hash_table

        if self.hashes is not None:
            return self.hashes
        return hash_table(self.words, len(SPECIAL))

    @cached_property
    def inner(self) -> dict[str, int]:
        """The numbers of the words that may be inside a sentence."""
        return {word: number for word, number in self.number.items() if number > EOS}


class TextCollector:
    """Collects text one file at a time; `finish` decides on the vocabulary and renumbers the words."""

    def __init__(self) -> None:
        self._numbers = Numbering(SPECIAL)
        self._blocks: list[IntArray] = []
        self._counts = np.zeros(1 << 16, np.int64)
        self.sentences = self.tokens = 0  # so far; `</s>` is no token

    def add(self, lines: Iterable[str], path: str = "", progress: Callable[[int], None] = lambda words: None) -> None:
        """Add the lines of a file; now and then `progress` is called with the number of words of all files so far.

        Raises FormatError naming the line that contains `<s>` or `</s>`.
        """
        lines = iter(lines)
        number = 0
        while block := list(islice(lines, LINES_A_BLOCK)):
            words = split_words(" </s> ".join([*block, ""]))
            ids = self._numbers.numbers_of(words, len(words))
            counts = np.bincount(ids)
            if len(counts) > BOS and (counts[BOS] or counts[EOS] != len(block)):
                raise _special_word(block, path, number)
            self._count(counts)
            self._blocks.append(ids)
            self.sentences += len(block)
            self.tokens += len(ids) - len(block)
            number += len(block)
            progress(self.tokens)

    def _count(self, counts: LongArray) -> None:
        if len(counts) > len(self._counts):
            self._counts = np.concatenate([self._counts, np.zeros(2 * len(counts) - len(self._counts), np.int64)])
        self._counts[: len(counts)] += counts

    def finish(self, min_count: int = 1, most: int | None = None) -> tuple[Vocabulary, IntArray, LongArray]:
        """The vocabulary, the text in its numbers, and (V) how often each word occurs.

        Words that occur fewer than `min_count` times are left out, and all words but the `most` frequent; UNK has their
        count, BOS and EOS that of the sentences. The collector is empty afterwards.
        """
        names, totals = list(self._numbers), self._counts[: len(self._numbers)]
        tokens = np.concatenate([np.zeros(0, np.int32), *self._blocks])
        self._numbers, self._blocks = Numbering(), []
        falling = (-totals).tolist()
        known = [number for number in range(len(SPECIAL), len(names)) if -falling[number] >= min_count]
        known.sort(key=lambda number: (falling[number], names[number]))
        known = known[:most]
        new = np.zeros(len(names), np.int32)
        new[[BOS, EOS, *known]] = np.arange(BOS, len(known) + len(SPECIAL))
        for start in range(0, len(tokens), 1 << 20):
            piece = tokens[start : start + (1 << 20)]
            piece[:] = new[piece]
        counts = np.concatenate([np.full(len(SPECIAL), totals[EOS]), totals[known]])
        counts[UNK] = totals.sum() - counts[EOS:].sum()
        unknown_types = types_of_unknown(totals[len(SPECIAL) :], new[len(SPECIAL) :] != UNK)
        words = (*SPECIAL, *(names[number] for number in known))
        return Vocabulary(words, unknown_types=unknown_types), tokens, counts


def _special_word(block: Sequence[str], path: str, before: int) -> FormatError:
    for number, line in enumerate(block, before + 1):
        for word in ("<s>", "</s>"):
            if word in split_words(line):
                return FormatError(f"{word} is added by the model and may not be in the text", path=path, line=number)
    raise AssertionError("no sentence of the block has a special word")
