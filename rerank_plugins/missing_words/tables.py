"""The counts of a text: of pairs of words by their distance, and of words in five contexts of their neighbours.

For a gap l of a sentence, a word w_i to its left and a word w_j to its right, C̃(w_i, w_j, j - i) occurrences speak for
a missing word, since j - i - 1 words stand between the two now, and C̃(w_i, w_j, j - i - 1) speak against it. The
contexts of a missing word w between the neighbours a₂ a₁ and b₁ b₂ (our reading: Song's Table 1 is missing) are

    left2    C(a₂ a₁ w) / C(a₂ a₁ *)        left1    C(a₁ w) / C(a₁ *)
    around   C(a₁ w b₁) / C(a₁ * b₁)        right1   C(w b₁) / C(* b₁)
    right2   C(w b₁ b₂) / C(* b₁ b₂)

`*` is any word of the vocabulary or `<unk>`, but neither `<s>` nor `</s>`; a₂ may be `<s>` and b₂ `</s>`. A text is an
array of word numbers in which each sentence ends in `</s>`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import FloatArray, IntArray, LongArray
from rerank_plugins.kit.files.array_values import ContentsError
from rerank_plugins.kit.files.model_schema import Array, Offsets
from rerank_plugins.kit.kernels import filling_kernel, place_in_row
from rerank_plugins.kit.vocabulary.word_ids import BOS, EOS

PIECE = 1 << 20  # tokens of a piece of text, about
REACH = 2  # neighbours on each side of a word
CONTEXTS = ("left2", "around", "right2", "left1", "right1")  # the five conditions, in the order of their weights
KEYS = {"left2": (-1, -2), "around": (-1, 1), "right2": (1, 2), "left1": (-1,), "right1": (1,)}  # offsets of neighbours


def pieces(tokens: IntArray, size: int = PIECE) -> Iterator[IntArray]:
    """Cut a text into pieces of whole sentences, of about `size` tokens each."""
    start = 0
    while start < len(tokens):
        end = start
        while end < len(tokens):
            end = min(end + size, len(tokens))
            ends = np.flatnonzero(tokens[start:end] == EOS)
            if len(ends):
                end = start + int(ends[-1]) + 1
                break
        yield tokens[start:end]
        start = end


def pair_events(tokens: IntArray, window: int) -> Iterator[IntArray]:
    """Yield (m, 3) events (m words between, right word, left word) for 0 <= m < window, distance by distance.

    `<s>` and `</s>` count as words, at the positions before the first word and after the last.
    """
    padded = np.concatenate([np.array([EOS], np.int32), tokens])
    ends = np.cumsum(padded == EOS)
    left = np.where(padded == EOS, BOS, padded)
    for between in range(min(window, len(padded) - 1)):
        first, second = slice(0, len(padded) - between - 1), slice(between + 1, None)
        inside = ends[between : len(padded) - 1] == ends[first]  # no sentence ends between the two
        events = np.empty((int(np.count_nonzero(inside)), 3), np.int32)
        events[:, 0], events[:, 1], events[:, 2] = between, padded[second][inside], left[first][inside]
        yield events


def context_events(tokens: IntArray, context: str) -> IntArray:
    """(m, keys + 1) events (word, second neighbour, first neighbour) of the words that have these neighbours.

    The nearest neighbours are words; the second neighbour to the left or right may be `<s>` or `</s>`.
    """
    edge = np.full(REACH, EOS, np.int32)
    padded = np.concatenate([edge, tokens, edge])

    def at(place: int) -> IntArray:
        return padded[REACH + place : len(padded) - REACH + place]

    places = KEYS[context]
    keep = at(0) != EOS
    for place in places:
        if abs(place) == 1:
            keep &= at(place) != EOS
    columns = [at(0)[keep]]
    for place in reversed(places):
        neighbour = at(place)[keep]
        columns.append(np.where(neighbour == EOS, BOS, neighbour) if place < 0 else neighbour)
    return np.stack(columns, axis=1).astype(np.int32, copy=False)


@dataclass(frozen=True, eq=False)
class PairTable:
    """The pairs by their left word: those of word w are `starts[w]` … `starts[w + 1]`, sorted by `rights` (P).

    `counts` (P, window) has C̃(left, right, m) for m = 0 … window - 1.
    """

    starts: Annotated[LongArray, Offsets("V", "P")]
    rights: Annotated[IntArray, Array("P", below="V")]
    counts: Annotated[IntArray, Array("P", "*", values="not negative")]

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
        positive, negative = positive ** (1 + gamma), negative ** (1 + gamma)
    scores: FloatArray = (positive - negative) / total
    return scores


def log_odds(votes_for: NDArray[Any], against: NDArray[Any], added: float) -> FloatArray:
    """Ln (D + a) / (C + a): the logarithm of the odds of a missing word by these votes, `a` added to both; not 0."""
    odds: FloatArray = np.log(votes_for + added) - np.log(against + added)
    return odds


@filling_kernel
def collect_votes(
    tokens: IntArray,
    starts: LongArray,
    rights: IntArray,
    counts: IntArray,
    half: int,
    edges: bool,
    votes_for: IntArray,
    against: IntArray,
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
                row = place_in_row(starts, rights, left, tokens[begin + j])
                if row < 0:
                    continue
                yes, no = counts[row, j - i], counts[row, j - i - 1]
                # The gaps between the two that have both in their windows; gap g is between the words g - 1 and g.
                for g in range(max(i + 1, j - half + 1, 1), min(j, i + half, length - 1) + 1):
                    votes_for[gap + g - 1, g - 1 - i, j - g] = yes
                    against[gap + g - 1, g - 1 - i, j - g] = no
        gap += max(length - 1, 0)
        begin = end + 1


@dataclass(frozen=True, eq=False)
class ContextTable:
    """The words that occur in contexts of one or two neighbours, with their counts.

    With two neighbours, the contexts of the first neighbour v are `starts[v]` … `starts[v + 1]`, sorted by their second
    one, `seconds`; with one neighbour, a context has the number of the neighbour, and `seconds` is empty. The words of
    context c are `words[rows[c] : rows[c + 1]]`, sorted, with their `counts`, which sum to `totals[c]`.
    """

    starts: Annotated[LongArray, Offsets("V", "C")]
    seconds: Annotated[IntArray, Array("*", below="V")]
    rows: Annotated[LongArray, Offsets("C", "W")]
    totals: Annotated[LongArray, Array("C", values="not negative")]
    words: Annotated[IntArray, Array("W", below="V")]
    counts: Annotated[IntArray, Array("W", values="positive")]

    def check(self, name: str) -> None:
        """Raise ContentsError for a context whose counts sum to more than its total; `name` is that of the table."""
        used = np.flatnonzero(self.rows[1:] > self.rows[:-1])  # contexts without words have no sum
        if not len(used):
            return
        sums = np.add.reduceat(self.counts, self.rows[used], dtype=np.int64)
        wrong = np.flatnonzero(sums > self.totals[used])
        if len(wrong):
            place, wanted = used[wrong[0]], sums[wrong[0]]
            raise ContentsError(f"{name}.totals has {self.totals[place]} at {place}, wanted {wanted} or more")

    @property
    def words_arrays(self) -> tuple[Any, Any, Any, Any]:
        """The arrays of the words of all contexts: `rows`, `totals`, `words`, `counts`."""
        return self.rows, self.totals, self.words, self.counts

    def contexts_of(self, neighbours: IntArray) -> LongArray:
        """(n) the context of each row of (n, 1 or 2) neighbours, the nearest first; -1 where it does not occur."""
        rows_of_contexts = np.full(len(neighbours), -1, np.int64)
        find_contexts(self.starts, self.seconds, self.rows, neighbours, rows_of_contexts)
        return rows_of_contexts


@filling_kernel
def find_contexts(
    starts: LongArray, seconds: IntArray, rows: LongArray, neighbours: IntArray, contexts: LongArray
) -> None:
    """Fill in the context of each row of neighbours, or -1 where it never occurs."""
    for i in range(len(neighbours)):
        if neighbours.shape[1] == 1:
            context = neighbours[i, 0]
            contexts[i] = context if rows[context] < rows[context + 1] else -1
        else:
            contexts[i] = place_in_row(starts, seconds, neighbours[i, 0], neighbours[i, 1])
