"""Builds a translation memory: numbers the words, and makes the inverted index of the source side."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass

import numpy as np

from rerank_plugins.core.arrays import IntArray, LongArray
from rerank_plugins.core.errors import ModelError
from rerank_plugins.kit.vocabulary.word_numbers import Numbering
from rerank_plugins.translation.memory.stored_pairs import Postings, Sentences, TranslationMemory, folded

HIGHEST = 65_535  # the highest impact: the largest integer of 16 bits


@dataclass(frozen=True)
class Settings:
    """The settings of a memory: BM25's saturation `k1` and normalisation by length `b`, from 0 to 1."""

    lowercase: bool = True
    k1: float = 1.2
    b: float = 0.75


def train(
    pairs: Iterable[tuple[str, str]], settings: Settings, *, progress: Callable[[str], None] = lambda stage: None
) -> TranslationMemory:
    """The memory of tokenised sentence pairs (source, target).

    Of pairs that are the same in the form in which words are compared, the first is kept; pairs with an empty side are
    left out. Raises ModelError where no pair is left.
    """
    progress("reading")
    seen: set[tuple[str, str]] = set()
    total = 0
    numberings = Numbering(), Numbering()
    tokens: tuple[list[IntArray], list[IntArray]] = ([], [])
    for pair in pairs:
        total += 1
        source, target = (folded(text, settings.lowercase).split() for text in pair)
        key = " ".join(source), " ".join(target)
        if not (source and target) or key in seen:
            continue
        seen.add(key)
        for side, numbering, words in zip(tokens, numberings, (source, target), strict=True):
            side.append(numbering.numbers_of(words, len(words)))
    if not seen:
        raise ModelError(f"no sentence pairs to remember: {total} pairs, none with words on both sides")
    progress("indexing")
    source_side, target_side = (
        Sentences(tuple(numbering), np.concatenate(side), np.cumsum([0, *map(len, side)], dtype=np.int64))
        for numbering, side in zip(numberings, tokens, strict=True)
    )
    postings = index(source_side, settings.k1, settings.b)
    return TranslationMemory(source_side, target_side, postings, asdict(settings), {"pairs": total})


def index(sentences: Sentences, k1: float, b: float) -> Postings:
    """The sentences of each word, with the word's BM25 weight in each of them as an integer from 1 to HIGHEST."""
    number, lengths = len(sentences), np.diff(sentences.offsets)
    of_token = np.repeat(np.arange(number, dtype=np.int64), lengths)
    # A word in a sentence is one number, so that sorting brings the occurrences of each together.
    entries, counts = np.unique(sentences.tokens.astype(np.int64) * number + of_token, return_counts=True)
    words, documents = np.divmod(entries, number)
    frequency: LongArray = np.bincount(words, minlength=len(sentences.words)).astype(np.int64)
    idf = np.log1p((number - frequency + 0.5) / (frequency + 0.5))
    norm = k1 * (1 - b + b * lengths[documents] / lengths.mean())
    weights = idf[words] * counts * (k1 + 1) / (counts + norm)
    impacts = np.maximum(np.rint(weights * (HIGHEST / weights.max())), 1).astype(np.uint16)
    starts = np.concatenate([[0], np.cumsum(frequency)]).astype(np.int64)
    return Postings(starts, documents.astype(np.int32), impacts, np.maximum.reduceat(impacts, starts[:-1]))
