"""Words and their numbers.

0 is `<unk>`, 1 `<s>`, 2 `</s>`; then words by falling frequency, equal ones in alphabetical order, so that numbers do
not depend on the order of sentences. A line of text is a sentence, an empty one too (as for lmplz); words are what
`str.split` gives. `<unk>` in a text is the unknown word; `<s>` and `</s>` may not be in one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

import numpy as np

from rerank_plugins.arrays import IntArray, LongArray
from rerank_plugins.errors import FormatError
from rerank_plugins.models.backoff.workspace import Collection, Workspace
from rerank_plugins.models.vocabulary.numbering import Numbering

SPECIAL = ("<unk>", "<s>", "</s>")
UNK, BOS, EOS = range(3)
BLOCK = 1 << 14  # lines numbered at a time


@dataclass(frozen=True)
class Vocabulary:
    """The words of a model by number, the special ones first; `hashes` is their hash table, if it is there already."""

    words: tuple[str, ...]
    hashes: LongArray | None = field(default=None, compare=False, repr=False)

    @cached_property
    def number(self) -> dict[str, int]:
        """Number of each word."""
        return dict(zip(self.words, range(len(self.words)), strict=True))

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: str) -> bool:
        return self.number.get(word, UNK) != UNK

    def encode(self, sentences: Sequence[Sequence[str]]) -> IntArray:
        """The sentences one after the other, each ended by `</s>`; unknown words, `<s>` and `</s>` are UNK."""
        from rerank_plugins.models.backoff.word_hashing import find_words

        tokens = find_words(sentences, self.table, EOS)
        if tokens is None:
            get = self.inner.get
            tokens = np.array([n for words in sentences for n in (*(get(word, UNK) for word in words), EOS)], np.int32)
        return tokens

    @cached_property
    def table(self) -> LongArray:
        """Hashes of the words that may be inside a sentence, with their numbers."""
        from rerank_plugins.models.backoff.word_hashing import hash_table

        if self.hashes is not None:
            return self.hashes
        return hash_table(self.words, len(SPECIAL))

    @cached_property
    def inner(self) -> dict[str, int]:
        """Numbers of the words that may be inside a sentence."""
        return {word: number for word, number in self.number.items() if number > EOS}


class TextCollector:
    """Reads text a file at a time; `finish` settles the vocabulary and renumbers the words."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._numbers = Numbering(SPECIAL)
        self._tokens = Collection(workspace, np.int32)
        self._counts = np.zeros(1 << 16, np.int64)
        self.sentences = 0

    @property
    def tokens(self) -> int:
        """Words so far, without `</s>`."""
        return self._tokens.rows - self.sentences

    def add(self, lines: Iterable[str], path: str = "", progress: Callable[[int], None] = lambda words: None) -> None:
        """Take the lines of a file; `progress` is told now and then how many words were read, of all files.

        Raises FormatError naming the line that has `<s>` or `</s>` in it.
        """
        lines = iter(lines)
        number = 0
        while block := list(islice(lines, BLOCK)):
            words = " </s> ".join([*block, ""]).split()
            ids = self._numbers.numbers_of(words, len(words))
            counts = np.bincount(ids)
            if len(counts) > BOS and (counts[BOS] or counts[EOS] != len(block)):
                raise _special_word(block, path, number)
            self._count(counts)
            self._tokens.append(ids)
            self.sentences += len(block)
            number += len(block)
            progress(self.tokens)

    def _count(self, counts: LongArray) -> None:
        if len(counts) > len(self._counts):
            self._counts = np.concatenate([self._counts, np.zeros(2 * len(counts) - len(self._counts), np.int64)])
        self._counts[: len(counts)] += counts

    def finish(self, min_count: int = 1, most: int | None = None) -> tuple[Vocabulary, IntArray, int]:
        """The vocabulary, the text in its numbers, and how many words of the text are not in it.

        Words seen less than `min_count` times are not, nor any but the `most` frequent.
        """
        names = list(self._numbers)
        counts = self._counts[: len(names)].tolist()
        known = [number for number in range(3, len(names)) if counts[number] >= min_count]
        known.sort(key=lambda number: (-counts[number], names[number]))
        known = known[:most]
        new = np.zeros(len(names), np.int32)
        new[BOS], new[EOS] = BOS, EOS
        new[known] = np.arange(3, len(known) + 3)
        self._numbers = Numbering()
        tokens = self._tokens.finish()
        unknown = 0
        for start in range(0, len(tokens), 1 << 20):
            piece = tokens[start : start + (1 << 20)]
            piece[:] = new[piece]
            unknown += int(np.count_nonzero(piece == UNK))
        return Vocabulary((*SPECIAL, *(names[number] for number in known))), tokens, unknown


def _special_word(block: Sequence[str], path: str, before: int) -> FormatError:
    for number, line in enumerate(block, before + 1):
        for word in ("<s>", "</s>"):
            if word in line.split():
                return FormatError(f"{word} is put in by the model and may not be in the text", path=path, line=number)
    raise AssertionError("a sentence was lost")
