"""The best word sequences for the phones that were heard: a loop of all words, each equally probable.

`arcs` aligns every word of the vocabulary with every stretch of what was heard, exactly, for all words at once; `nbest`
finds the best distinct word sequences over these arcs. No language model takes part, so that no system is favoured.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from .channel import PHONES, Channel
from .pronunciation import Phones, pronunciations

WORST = 14.0  # nats below the best word of its stretch
LONGEST_STRETCH = 16  # words of a stretch; with a large vocabulary, one in LARGE words
LARGE = 60
MARGIN = 3  # phones that a stretch may have more than the longest word


class Arc(NamedTuple):
    """A word for the phones from `start` to `end`, with ln P(heard | word)."""

    start: int
    end: int
    word: str
    ln_p: float


class Recogniser:
    """The words of a vocabulary, heard through a channel."""

    def __init__(self, words: Sequence[str], channel: Channel, large: int = LARGE) -> None:
        self.words, self.channel = sorted(words), channel
        known = pronunciations()
        phones = [known[word] for word in self.words]
        self.lengths = np.array([len(p) for p in phones])
        self.longest = int(self.lengths.max())
        self.word_penalty = -math.log(len(phones) + 1)
        self.most = max(LONGEST_STRETCH, len(phones) // large)
        self.spoken = np.zeros((self.longest, len(phones)), np.int64)
        for w, p in enumerate(phones):
            self.spoken[: len(p), w] = [PHONES.index(phone) for phone in p]
        stay = math.log(1 - channel.insertion)
        self.deleted = stay + math.log(channel.deletion)
        self.inserted = math.log(channel.insertion / len(PHONES))
        self.said = np.log(channel.confusion * (1 - channel.deletion)) + stay  # (said, heard)

    def arcs(self, heard: Phones) -> list[Arc]:
        """The best words for each stretch of what was heard."""
        arcs: list[Arc] = []
        numbers = [PHONES.index(phone) for phone in heard]
        matches = [self.said[:, number][self.spoken] for number in numbers]  # for each phone heard (place, word)
        columns = np.arange(len(self.words))
        start_scores = np.cumsum(np.vstack([np.zeros((1, len(self.words))), np.full_like(matches[0], self.deleted)]), 0)
        for start in range(len(heard)):
            scores = start_scores
            for end in range(start + 1, min(len(heard), start + self.longest + MARGIN) + 1):
                after = scores + self.inserted
                after[1:] = np.maximum(after[1:], scores[:-1] + matches[end - 1])
                for place in range(1, self.longest + 1):
                    np.maximum(after[place], after[place - 1] + self.deleted, out=after[place])
                scores = after
                whole = scores[self.lengths, columns]
                best = np.argpartition(-whole, min(self.most, len(whole) - 1))[: self.most]
                least = float(whole[best].max()) - WORST
                arcs += [Arc(start, end, self.words[w], float(whole[w])) for w in best.tolist() if whole[w] > least]
        return arcs

    def nbest(self, arcs: Sequence[Arc], length: int, n: int) -> list[tuple[str, float]]:
        """The n best texts, and ln P(heard | text) of each with its best alignment."""
        into: list[list[Arc]] = [[] for _ in range(length + 1)]
        for arc in arcs:
            into[arc.end].append(arc)
        lists: list[list[tuple[float, tuple[str, ...], float]]] = [[] for _ in range(length + 1)]
        lists[0] = [(0.0, (), 0.0)]
        for end in range(1, length + 1):
            merged = heapq.merge(*(self._extended(lists[arc.start], arc) for arc in into[end]))
            seen: set[tuple[str, ...]] = set()
            for cost, words, heard in merged:
                if words not in seen:
                    seen.add(words)
                    lists[end].append((cost, words, heard))
                    if len(seen) == n:
                        break
        return [(" ".join(words), heard) for _, words, heard in lists[length]]

    def _extended(
        self, hypotheses: list[tuple[float, tuple[str, ...], float]], arc: Arc
    ) -> Iterator[tuple[float, tuple[str, ...], float]]:
        for cost, words, heard in hypotheses:
            yield cost - arc.ln_p - self.word_penalty, (*words, arc.word), heard + arc.ln_p
