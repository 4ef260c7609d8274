"""Word-distance statistics: how often two words occur with exactly m words between them, and the votes of such pairs.

For a gap l of a sentence, a word w_i to its left and a word w_j to its right, C̃(w_i, w_j, j - i) occurrences speak for
a missing word, since j - i - 1 words stand between the two now, and C̃(w_i, w_j, j - i - 1) speak against it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.arrays import FloatArray, IntArray, LongArray
from rerank_plugins.kit.elementary_functions import log, power
from rerank_plugins.kit.files.declared import Array, Offsets
from rerank_plugins.kit.kernels import filling_kernel, part, place_of
from rerank_plugins.kit.vocabulary.word_numbers import BOS, EOS


@dataclass(frozen=True, eq=False)
class PairTable:
    """The pairs by their left word: those of word w are `starts[w]` … `starts[w + 1]`, sorted by `rights` (P).

    `counts` (P, window) has C̃(left, right, m) for m = 0 … window - 1.
    """

    starts: Annotated[LongArray, Offsets("V", "P")]
    rights: Annotated[IntArray, Array("P")]
    counts: Annotated[IntArray, Array("P", "*")]

    @property
    def window(self) -> int:
        """W: one more than the greatest number of words between two words of a pair."""
        return int(self.counts.shape[1])

    def votes(self, tokens: IntArray, half: int, *, edges: bool = True) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """(gaps, half, half) counts for and against a missing word, at each gap of each sentence.

        `tokens` are the sentences, each ended by `</s>`. A sentence of n words has n - 1 gaps. Cell (a, b) belongs to
        the word a places to the left of the word beside the gap and the word b places to the right of the other one;
        with `edges`, `<s>` and `</s>` count as words. Raises ValueError for 2 · half beyond the window.
        """
        if not 1 <= half <= self.window // 2:
            raise ValueError(f"half a window of {half} words: wanted 1 to {self.window // 2}")
        shape = (int(gap_offsets(tokens)[-1]), half, half)
        votes_for, against = np.zeros(shape, np.int32), np.zeros(shape, np.int32)
        collect_votes(tokens, self.starts, self.rights, self.counts, half, edges, votes_for, against)
        return votes_for, against


def gap_offsets(tokens: IntArray) -> LongArray:
    """(sentences + 1) the first gap of each sentence; a sentence of n words has n - 1 gaps, none if it is empty."""
    ends = np.flatnonzero(tokens == EOS)
    lengths = np.diff(ends, prepend=-1) - 1
    return np.concatenate([[0], np.cumsum(np.maximum(lengths - 1, 0))]).astype(np.int64)


def vote_scores(votes_for: NDArray[Any], against: NDArray[Any], gamma: float) -> FloatArray:
    """S = (D^(1+γ) - C^(1+γ)) / (C + D) of D votes for a missing word and C against it; 0 without votes."""
    positive, negative = votes_for.astype(np.float64), against.astype(np.float64)
    total = np.maximum(positive + negative, 1.0)
    if gamma:
        positive, negative = power(positive, 1 + gamma), power(negative, 1 + gamma)
    scores: FloatArray = (positive - negative) / total
    return scores


def log_odds(votes_for: NDArray[Any], against: NDArray[Any], added: float) -> FloatArray:
    """Ln (D + a) / (C + a): the logarithm of the odds of a missing word by these votes, `a` added to both; not 0."""
    odds: FloatArray = log(votes_for + added) - log(against + added)
    return odds


@part
def find_row(starts: Any, keys: Any, first: int, second: int) -> int:
    """The row of the pair of keys, or -1; the rows of `first` are sorted by their second key."""
    return place_of(keys, starts[first], starts[first + 1], second)


@filling_kernel
def collect_votes(
    tokens: Any, starts: Any, rights: Any, counts: Any, half: int, edges: bool, votes_for: Any, against: Any
) -> None:
    """Fill in the votes of all sentences. Each pair of a sentence is looked up once, for all gaps that it spans."""
    gap = 0
    begin = 0
    for end in range(len(tokens)):
        if tokens[end] != EOS:
            continue
        length = end - begin
        # Positions -1 and `length` are `<s>` and `</s>`.
        last = length if edges else length - 1
        for i in range(-1 if edges else 0, length):
            left = BOS if i < 0 else tokens[begin + i]
            for j in range(i + 1, min(i + 2 * half, last + 1)):
                row = find_row(starts, rights, left, tokens[begin + j])
                if row < 0:
                    continue
                yes, no = counts[row, j - i], counts[row, j - i - 1]
                # The gaps between the two that have both in their windows; gap g is between the words g - 1 and g.
                for g in range(max(i + 1, j - half + 1, 1), min(j, i + half, length - 1) + 1):
                    votes_for[gap + g - 1, g - 1 - i, j - g] = yes
                    against[gap + g - 1, g - 1 - i, j - g] = no
        gap += max(length - 1, 0)
        begin = end + 1
