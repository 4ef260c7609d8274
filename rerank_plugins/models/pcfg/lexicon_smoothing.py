"""Which tags a rare word may have beside those it was seen with: by its signature.

Counts of (word, tag) are blended along a chain, the word, its signature, that without its last feature, …, `UNK`:

    p(t | x) = (c(t, x) + κ p(t | next x)) / (c(x) + κ)         c'(t, x) = c(x) p(t | x)

and p(x | t) ∝ c'(t, x): the emissions stay a true distribution, and the count of every word stays what it was. The
blend is that of Klein & Manning (2003) and of the Berkeley parser for p(tag | word), made generative.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rerank_plugins.arrays import FloatArray, IntArray
from rerank_plugins.models.vocabulary.signatures import UNKNOWN, backed_off, is_signature, signature


@dataclass(frozen=True)
class Smoothing:
    """`strength` is κ; words seen `common` times or more are not blended; tags not seen with x need p ≥ `least`."""

    strength: float = 3.0
    common: int = 100
    least: float = 0.01


Entries = tuple[IntArray, IntArray, FloatArray]


def smoothed(
    words: tuple[str, ...], word: IntArray, symbol: IntArray, count: FloatArray, settings: Smoothing
) -> Entries:
    """Entries (word, symbol, count) with the blended counts; those given have distinct pairs.

    `UNK` gets one count, its tags those of all signatures (of all words, where there are no signatures).
    """
    size = int(symbol.max(initial=0)) + 1
    order = np.argsort(word, kind="stable")
    starts = np.concatenate(([0], np.cumsum(np.bincount(word, minlength=len(words)))))
    rows = [order[starts[i] : starts[i + 1]] for i in range(len(words))]
    index = {each: i for i, each in enumerate(words)}
    above = _next_in_chain(words, index)
    blended: dict[int, tuple[IntArray, FloatArray]] = {}  # tags and p(t | x) of what others are blended with
    unseen = _tags_of_unknown_words(words, word, symbol, count, size)
    last = index[UNKNOWN]
    found: list[Entries] = []
    for x in sorted(range(len(words)), key=lambda x: (not is_signature(words[x]), words[x])):  # `UNK` comes first
        seen = np.zeros(size)
        seen[symbol[rows[x]]] = count[rows[x]]
        total, share = float(seen.sum()), seen.copy()
        if x == last:
            total, share = total + 1, share + unseen
        elif total < settings.common:
            others, p = blended[above[x]]
            share[others] += settings.strength * p
        share[(share < settings.least * share.sum()) & (seen == 0)] = 0
        kept = np.flatnonzero(share).astype(np.int32)
        p = share[kept] / share[kept].sum()
        if is_signature(words[x]):
            blended[x] = kept, p
        found.append((np.full(len(kept), x, np.int32), kept, total * p))
    return tuple(np.concatenate(column) for column in zip(*found, strict=True))  # type: ignore[return-value]


def _next_in_chain(words: tuple[str, ...], index: dict[str, int]) -> list[int]:
    """For each word the number of what it is blended with: its most specific signature in the vocabulary, …; -1."""
    found = []
    for word in words:
        chain = list(backed_off(word))[1:] if is_signature(word) else [*backed_off(signature(word, False, False))]
        found.append(next((index[each] for each in chain if each in index), -1))
    return found


def _tags_of_unknown_words(
    words: tuple[str, ...], word: IntArray, symbol: IntArray, count: FloatArray, size: int
) -> FloatArray:
    chosen = np.array([is_signature(each) for each in words])[word]
    if not count[chosen].sum() > 0:
        chosen[:] = True
    tags = np.bincount(symbol[chosen], count[chosen], size)
    return np.asarray(tags / tags.sum(), np.float64)
