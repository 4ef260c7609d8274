"""The sub-word pieces of sentences, the sums over the pieces of each word, and scores of each distinct sentence."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypeVar

import numpy as np

from rerank_plugins import FloatArray

Item = TypeVar("Item", bound=Hashable)


class Pieces(NamedTuple):
    """The pieces of a sentence: their ids, and the number of the word that each belongs to.

    The number is that of words, as if it were `</s>`, for pieces that stand for no text (`<s>`, a language, `</s>`).
    """

    ids: list[int]
    words: list[int]


def split(tokenizer: Any, sentences: Sequence[Sequence[str]], *, special: bool, target: bool = False) -> list[Pieces]:
    """The pieces of sentences whose words are joined by single spaces; with the tokenizer's special pieces or without.

    A piece that crosses a space belongs to the word in which it ends. `target` asks for the tokenizer's way with
    targets, which for some translation models is another.
    """
    if not sentences:
        return []
    texts = [" ".join(words) for words in sentences]
    options = {"add_special_tokens": special, "return_offsets_mapping": True, "return_special_tokens_mask": True}
    coded = tokenizer(text_target=texts, **options) if target else tokenizer(texts, **options)
    columns = (coded["input_ids"], coded["offset_mapping"], coded["special_tokens_mask"])
    return [
        Pieces(list(ids), _words(words, offsets, marks if special else [0] * len(ids)))
        for words, ids, offsets, marks in zip(sentences, *columns, strict=True)
    ]


def owners_of(words: Sequence[str]) -> list[int]:
    """The number of the word to which each character of a sentence belongs; a space belongs to the word after it."""
    lengths = [len(word) + (number > 0) for number, word in enumerate(words)]
    return list(chain.from_iterable([number] * length for number, length in enumerate(lengths)))


def _words(words: Sequence[str], offsets: Sequence[tuple[int, int]], special: Sequence[int]) -> list[int]:
    """The number of each piece's word, by the place of its last character."""
    owners = owners_of(words)
    return [
        len(words) if mark or not owners else owners[min(max(start, end - 1), len(owners) - 1)]
        for (start, end), mark in zip(offsets, special, strict=True)
    ]


def of_distinct(items: Sequence[Item], score: Callable[[list[Item]], list[FloatArray]]) -> list[FloatArray]:
    """The scores of items, of which equal ones are scored once."""
    numbers: dict[Item, int] = {}
    which = [numbers.setdefault(item, len(numbers)) for item in items]
    scores = score(list(numbers))
    return [scores[number].copy() for number in which]


def word_sums(scores: FloatArray, words: Sequence[int], number: int) -> FloatArray:
    """(number + 1) sums of the scores of each word's pieces, those that belong to no word last."""
    return np.bincount(np.asarray(words, np.int64), scores, number + 1).astype(np.float64)
