"""How many words texts share with the texts of the same segments, and with those of other segments.

Two texts share sum_w min(c_w, d_w) · idf_w of their words, divided by the larger of their sums of c_w · idf_w and
d_w · idf_w: c_w and d_w are the counts of a word, and idf_w is ln((n + 1) / segments with the word), n the number of
segments. It is 1 for the same words and 0 for none. Rare words count more, since every two sentences share the frequent
ones. Words are runs of letters and digits in lower case, so that case, punctuation and tokenisation do not matter.
In scripts that write no spaces, and in Korean, whose words carry their particles, each character is a word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from rerank_plugins import FloatArray
from rerank_plugins.core.arrays import LongArray

SINGLE = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
WORD = re.compile(rf"[{SINGLE}]|[^\W_{SINGLE}]+")
NEXT = (1, -1, 2, -2)  # places of neighbours, from which a shift is seen
MAX_SEGMENTS_OF_ALL_PAIRS = 16  # segments up to which each is compared with all others


@dataclass(frozen=True, eq=False)
class WordCounts:
    """The words of texts: for each pair of a text and one of its words, ordered, the text, the word and the count."""

    texts: LongArray
    words: LongArray
    counts: LongArray

    @classmethod
    def of(cls, texts: Sequence[str], vocabulary: dict[str, int]) -> WordCounts:
        """The words of the texts, in numbers of a vocabulary, which takes up new ones."""
        found = [WORD.findall(text.lower()) for text in texts]
        numbers = [vocabulary.setdefault(word, len(vocabulary)) for words in found for word in words]
        places = np.repeat(np.arange(len(found)), [len(words) for words in found])
        pairs, counts = np.unique(places << 32 | np.array(numbers, np.int64), return_counts=True)
        return cls(pairs >> 32, pairs & 0xFFFFFFFF, counts)


@dataclass(frozen=True, eq=False)
class SharedWords:
    """The words of two texts for each segment, which other segments are compared with.

    `distances` are the places of these: a segment is compared with the ones so far behind it, as if the first segment
    came after the last one.
    """

    segments: int
    left: WordCounts
    right: WordCounts
    vocabulary: int
    distances: tuple[int, ...]

    @classmethod
    def of(cls, left: Sequence[str], right: Sequence[str]) -> SharedWords:
        """The words of one text on each side for each segment."""
        n, vocabulary = len(left), dict[str, int]()
        sides = WordCounts.of(left, vocabulary), WordCounts.of(right, vocabulary)
        far = range(1, n) if n <= MAX_SEGMENTS_OF_ALL_PAIRS else (n // 2, n // 3, -(n // 3), n // 5)
        distances = dict.fromkeys(distance % n for distance in (*NEXT, *far) if distance % n)
        return cls(n, *sides, len(vocabulary), tuple(distances))

    @property
    def words(self) -> int:
        """The number of running words of the side that has fewer."""
        return int(min(self.left.counts.sum(), self.right.counts.sum()))

    @cached_property
    def own(self) -> FloatArray:
        """(segments) the proportion of words that the two texts of each segment share."""
        return self._shared(0)

    @cached_property
    def others(self) -> FloatArray:
        """(segments, distances) the same of the left text and the right one of another segment."""
        return np.array([self._shared(distance) for distance in self.distances]).reshape(-1, self.segments).T

    @cached_property
    def ahead(self) -> FloatArray:
        """(segments, distances) 1 where a segment's own text shares more words than another one's, -1 where it shares
        fewer, 0 where both share as many; nan where a text has no words, and where an exchange would change nothing, as
        the two segments have the same words on one side.
        """
        signs = np.sign(self.own[:, None] - self.others)
        for bags in (self._numbers_of_bags(self.left), self._numbers_of_bags(self.right)):
            for column, distance in enumerate(self.distances):
                other = np.roll(bags, -distance)
                signs[(bags == other) | (bags < 0) | (other < 0), column] = np.nan
        return signs

    @property
    def excess(self) -> float:
        """The mean of `own` less that of `others`: about 0 for texts that have nothing to do with each other.

        >>> SharedWords.of(["a b", "c d"], ["a b", "c d"]).excess, SharedWords.of(["a b", "a b"], ["a b", "a b"]).excess
        (1.0, 0.0)
        """
        others = float(self.others.mean()) if self.distances else 0.0
        return float(self.own.mean()) - others if self.segments else 0.0

    @cached_property
    def common(self) -> float:
        """The proportion of running words that the two sides have in common, whatever the segments.

        It is sum_w min(p_w, q_w), p_w and q_w the relative frequencies of a word on the two sides.
        """
        rates = [np.bincount(side.words, side.counts, self.vocabulary) for side in (self.left, self.right)]
        left, right = (counts / max(counts.sum(), 1.0) for counts in rates)
        return float(np.minimum(left, right).sum())

    @cached_property
    def _idf(self) -> FloatArray:
        pairs = np.concatenate([side.texts << 32 | side.words for side in (self.left, self.right)])
        frequencies = np.bincount(np.unique(pairs) & 0xFFFFFFFF, minlength=self.vocabulary)
        return np.log((self.segments + 1) / np.maximum(frequencies, 1))

    def _weights(self, side: WordCounts) -> FloatArray:
        weights = np.bincount(side.texts, side.counts * self._idf[side.words], self.segments)
        return weights.astype(np.float64)  # bincount of nothing has whole numbers

    def _shared(self, distance: int) -> FloatArray:
        left, right, n = self.left, self.right, self.segments
        known = left.texts << 32 | left.words
        wanted = (right.texts - distance) % n << 32 | right.words
        places = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        hits = np.flatnonzero(known[places] == wanted) if len(known) else np.zeros(0, np.int64)
        counts = np.minimum(left.counts[places[hits]], right.counts[hits])
        shared = np.bincount(wanted[hits] >> 32, counts * self._idf[right.words[hits]], n)
        larger = np.maximum(self._weights(left), np.roll(self._weights(right), -distance))
        return np.divide(shared, larger, out=np.zeros(n), where=larger > 0)

    def _numbers_of_bags(self, side: WordCounts) -> LongArray:
        """(segments) equal numbers for texts of the same words, -1 for those that have none."""
        numbers: dict[bytes, int] = {}
        cuts = np.searchsorted(side.texts, np.arange(self.segments + 1)).tolist()
        bags = (side.words[a:b].tobytes() + side.counts[a:b].tobytes() for a, b in pairwise(cuts))
        return np.array([numbers.setdefault(bag, len(numbers)) if bag else -1 for bag in bags], np.int64)
