"""Smoothing of the lexicon: which tags a rare word may have beside those it was seen with, by its signature.

The counts of (word, tag) are interpolated along a chain: the word, its signature, the signature without its last
feature, …, `UNK`. With next x the next link of the chain after x:

    p(t | x) = (c(t, x) + κ p(t | next x)) / (c(x) + κ)         c'(t, x) = c(x) p(t | x)

and p(x | t) ∝ c'(t, x): the emissions remain a distribution over words, and the count of every word remains what it
was. This is how Klein & Manning (2003) and the Berkeley parser smooth p(tag | word), in a generative form.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rerank_plugins.core.arrays import FloatArray, IntArray
from rerank_plugins.kit.vocabulary.signatures import UNKNOWN, backed_off, is_signature, signature


@dataclass(frozen=True)
class Smoothing:
    """Parameters of the smoothing.

    `strength`  κ
    `common`    words seen at least so often are not smoothed
    `least`     a tag that was not seen with x is dropped if p(t | x) is below this
    """

    strength: float = 3.0
    common: int = 100
    least: float = 0.01


Entries = tuple[IntArray, IntArray, FloatArray]


def smoothed(
    words: tuple[str, ...], word: IntArray, symbol: IntArray, count: FloatArray, settings: Smoothing
) -> Entries:
    """Return entries (word, symbol, count) with smoothed counts; the pairs of the arguments are distinct.

    `UNK` gets a count of one, divided among tags like all signatures (or all words, if there are no signatures).
    """
    size = int(symbol.max(initial=0)) + 1
    order = np.argsort(word, kind="stable")
    starts = np.concatenate(([0], np.cumsum(np.bincount(word, minlength=len(words)))))
    rows = [order[starts[i] : starts[i + 1]] for i in range(len(words))]
    index = {name: i for i, name in enumerate(words)}
    above = _next_in_chain(words, index)
    blended: dict[int, tuple[IntArray, FloatArray]] = {}  # tags and p(t | x) of each signature
    unseen = _tags_of_unknown_words(words, word, symbol, count, size)
    last = index[UNKNOWN]
    entries: list[Entries] = []
    # Signatures in alphabetical order, so that each comes after those it backs off to, `UNK` first; then words.
    for x in sorted(range(len(words)), key=lambda x: (not is_signature(words[x]), words[x])):
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
        entries.append((np.full(len(kept), x, np.int32), kept, total * p))
    return tuple(np.concatenate(column) for column in zip(*entries, strict=True))  # type: ignore[return-value]


def _next_in_chain(words: tuple[str, ...], index: dict[str, int]) -> list[int]:
    """Return, for each word, the next link of its chain that is in the vocabulary, by number; -1 if there is none."""
    following = []
    for word in words:
        chain = list(backed_off(word))[1:] if is_signature(word) else [*backed_off(signature(word, False, False))]
        following.append(next((index[link] for link in chain if link in index), -1))
    return following


def _tags_of_unknown_words(
    words: tuple[str, ...], word: IntArray, symbol: IntArray, count: FloatArray, size: int
) -> FloatArray:
    """Return (size) the distribution of tags over all signatures, or over all words if there are no signatures."""
    chosen = np.array([is_signature(name) for name in words])[word]
    if not count[chosen].sum() > 0:
        chosen[:] = True
    tags = np.bincount(symbol[chosen], count[chosen], size)
    return np.asarray(tags / tags.sum(), np.float64)
