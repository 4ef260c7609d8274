"""Determines the closed vocabulary of a training corpus: which words become signatures, and the numbers of all.

The result is that of replacing words in sentences (`UnknownWords.replaced`, kit/vocabulary/signatures.py) and counting
what is left, without a Python object for any token: only distinct words are strings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from rerank_plugins.core.arrays import BoolArray, IntArray, LongArray
from rerank_plugins.kit.vocabulary.name_numbers import Numbering
from rerank_plugins.kit.vocabulary.signatures import UNKNOWN, UnknownWords, signature
from rerank_plugins.kit.workspace import PIECE
from rerank_plugins.treelet.closed_vocabulary import START, ClosedVocabulary, Sentence


def close_numbered(
    words: Numbering, tokens: IntArray, starts: LongArray, unknown: UnknownWords, min_count: int = 1
) -> ClosedVocabulary:
    """The vocabulary of a corpus; `tokens` (n), numbered in the order of their first occurrence, get its numbers.

    `starts` are the positions of the first words of the sentences; brackets must be in their normal form. First
    `unknown` replaces occurrences by signatures; then all words that are left fewer than `min_count` times are replaced
    as well. `words` gets the names of the signatures.
    """
    sources = list(words)
    first = np.zeros(len(tokens), bool)
    first[starts] = True
    # Occurrences become signatures; a word is known if any of its occurrences is left.
    marked = unknown_positions(tokens, starts, unknown, len(words))
    original = tokens[marked]
    left = _counts(tokens, len(words)) - np.bincount(original, minlength=len(words))
    known = {word for word, count in zip(sources, left.tolist(), strict=True) if count}
    tokens[marked] = _signatures(words, sources, original, first[marked], known)
    # Words that are left too rarely become signatures, too, also those that are signatures already.
    counts = _counts(tokens, len(words))
    rare = (counts > 0) & (counts < min_count)
    if rare.any():
        names = list(words)
        known = {names[number] for number in np.flatnonzero(counts >= min_count)}
        for a, b in _pieces(len(tokens)):
            places = a + np.flatnonzero(rare[tokens[a:b]])
            before, at = tokens[places], np.searchsorted(marked, places)
            again = at < np.searchsorted(marked, places, side="right")
            before[again] = original[at[again]]
            tokens[places] = _signatures(words, sources, before, first[places], known)
        counts = _counts(tokens, len(words))
    # Number the words by falling frequency; a word `<s>` of the text is an unknown word.
    total = dict(zip(words, counts.tolist(), strict=True))
    kept = {word for word, count in total.items() if count} | {UNKNOWN}
    final = (START, *sorted(kept - {START}, key=lambda word: (-total.get(word, 0), word)))
    number = {word: i for i, word in enumerate(final)}
    number[START] = number[UNKNOWN]
    renumbered = np.array([number.get(word, 0) for word in words], np.int32)
    for a, b in _pieces(len(tokens)):
        tokens[a:b] = renumbered[tokens[a:b]]
    totals = _counts(tokens, len(final))
    totals[0] = len(starts)
    return ClosedVocabulary(final, totals)


def close_vocabulary(
    sentences: Sequence[Sentence], unknown: UnknownWords, min_count: int = 1
) -> tuple[ClosedVocabulary, IntArray]:
    """The vocabulary of sentences, as by `close_numbered`, and (n) the numbers of their words."""
    words = Numbering()
    tokens = words.numbers_of(chain.from_iterable(sentences))
    starts = np.cumsum([0, *map(len, sentences)], dtype=np.int64)[:-1]
    return close_numbered(words, tokens, starts, unknown, min_count), tokens


def unknown_positions(tokens: IntArray, starts: LongArray, unknown: UnknownWords, size: int) -> LongArray:
    """The positions of the tokens that `unknown` makes signatures, in order; `size` is the number of words."""
    if len(starts) < 2 * unknown.first:
        once = _counts(tokens, size) == 1
        pieces = (a + np.flatnonzero(once[tokens[a:b]]) for a, b in _pieces(len(tokens)))
        return np.concatenate([np.zeros(0, np.int64), *pieces])
    # Words are numbered as they come: a number greater than all before is that of a new word.
    rng = np.random.default_rng(unknown.seed)
    begin = int(starts[unknown.first]) if unknown.first < len(starts) else len(tokens)
    seen = int(tokens[:begin].max(initial=-1))
    positions = [np.zeros(0, np.int64)]
    for a, b in _pieces(len(tokens)):
        highest = np.maximum.accumulate(np.append(seen, tokens[max(a, begin) : max(b, begin)]))
        new = max(a, begin) + np.flatnonzero(np.diff(highest))
        positions.append(new[rng.random(len(new)) < unknown.rate])
        seen = int(highest[-1])
    return np.concatenate(positions)


def _signatures(words: Numbering, sources: list[str], ids: IntArray, first: BoolArray, known: set[str]) -> IntArray:
    """The numbers of the signatures of words, each as the first word of its sentence or not; new ones are added."""
    kinds, inverse = np.unique(2 * ids.astype(np.int64) + first, return_inverse=True)
    names = (
        signature(sources[kind >> 1], bool(kind & 1), sources[kind >> 1].lower() in known) for kind in kinds.tolist()
    )
    return words.numbers_of(names, len(kinds))[inverse]


def _counts(tokens: IntArray, size: int) -> LongArray:
    counts = np.zeros(size, np.int64)
    for a, b in _pieces(len(tokens)):
        counts += np.bincount(tokens[a:b], minlength=size)
    return counts


def _pieces(size: int) -> Iterator[tuple[int, int]]:
    """The range of `size` in pieces: (start, end) of each."""
    return ((start, min(size, start + PIECE)) for start in range(0, size, PIECE))
