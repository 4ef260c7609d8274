"""Lays out the texts of n-best lists and their references as flat arrays, and counts clipped n-gram matches in them.

Each distinct hypothesis of a segment is laid out once. Words are integers by their numbers, characters by their code
points.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, count
from typing import NamedTuple

import numpy as np

from rerank_plugins import check_texts
from rerank_plugins.core.arrays import IntArray, LongArray
from rerank_plugins.core.threads import over_ranges

TokenArray = IntArray
MIN_LOOKUPS = 2e6  # about 20 ms; less work is not worth a thread


class Sequences(NamedTuple):
    """Ragged rows of integers: sequence i is `tokens[starts[i]:starts[i + 1]]`; tokens are ≥ 0."""

    tokens: TokenArray
    starts: LongArray

    @property
    def lengths(self) -> LongArray:
        """(sequences): the number of tokens of each sequence."""
        return np.diff(self.starts)


def encode_words(texts: Sequence[str]) -> tuple[Sequences, list[str]]:
    """White-space words, numbered in the order of their appearance, and the list of words by number."""
    lists = [text.split() for text in texts]
    starts = _starts([len(words) for words in lists])
    number: defaultdict[str, int] = defaultdict(count().__next__)
    words = chain.from_iterable(lists)
    tokens = np.fromiter(map(number.__getitem__, words), np.int32, int(starts[-1]))
    return Sequences(tokens, starts), list(number)


def encode_characters(texts: Sequence[str]) -> Sequences:
    """The code points of the texts, including lone surrogates."""
    starts = _starts([len(text) for text in texts])
    return Sequences(np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.int32), starts)


def split_words(sequences: Sequences, pieces: Sequence[Sequence[str]]) -> Sequences:
    """Replace each token by its pieces (none, one or more); the tokens of the result number the distinct pieces."""
    number: defaultdict[str, int] = defaultdict(count().__next__)
    first = _starts([len(parts) for parts in pieces])
    flat = np.fromiter(map(number.__getitem__, chain.from_iterable(pieces)), np.int32, int(first[-1]))
    counts = np.diff(first)[sequences.tokens]
    ends = _starts(counts)
    within = np.arange(ends[-1]) - np.repeat(ends[:-1], counts)
    tokens = flat[np.repeat(first[sequences.tokens], counts) + within]
    return Sequences(tokens, ends[sequences.starts])


def _starts(lengths: Sequence[int] | LongArray) -> LongArray:
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def ngram_matches(sequences: Sequences, jobs: LongArray, order: int, hypotheses: int) -> LongArray:
    """(hypotheses, order): the matches of length 1 … order, each n-gram clipped at its highest count in one reference.

    A row of `jobs` is (first hypothesis, end, first reference, end) as numbers of sequences. The hypotheses are the
    first sequences; each is in at most one job, and one that is in none has no matches.
    """
    from rerank_adapters.metrics.ngram_kernels import match_ngrams

    tokens, starts = sequences
    matches = np.zeros((hypotheses, order), np.int64)
    costs = order * (starts[jobs[:, 1]] - starts[jobs[:, 0]] + starts[jobs[:, 3]] - starts[jobs[:, 2]])

    def work(start: int, end: int) -> None:
        match_ngrams(tokens, starts, jobs[start:end], order, matches)

    over_ranges(work, costs, MIN_LOOKUPS)
    return matches


def ngram_overlap(sequences: Sequences, order: int) -> IntArray:
    """(texts, texts, order): the matches of each text with each text as its only reference; symmetric."""
    from rerank_adapters.metrics.ngram_kernels import overlap_ngrams

    texts = len(sequences.starts) - 1
    matches = np.zeros((texts, texts, order), np.int32)
    overlap_ngrams(sequences.tokens, sequences.starts, order, matches)
    return matches


def ngram_totals(lengths: LongArray, order: int) -> LongArray:
    """(…, order): the numbers of n-grams of length 1 … order in texts of these lengths."""
    totals: LongArray = np.maximum(lengths[..., None] - np.arange(order), 0)
    return totals


@dataclass(frozen=True, eq=False)
class Layout:
    """All texts in one list: the distinct hypotheses of segment 0, 1, …, then the references of segment 0, 1, ….

    The hypotheses of segment s are `texts[hypotheses[s]:hypotheses[s + 1]]` and its references are
    `texts[references[s]:references[s + 1]]`; row i of the statistics belongs to `texts[rows[i]]`.
    """

    texts: list[str]
    rows: LongArray
    hypotheses: LongArray
    references: LongArray

    @property
    def distinct(self) -> int:
        """The number of distinct hypotheses, summed over the segments."""
        return int(self.hypotheses[-1])

    def merged_jobs(self) -> LongArray:
        """(segments, 4): the bounds of each segment's hypotheses and those of all its references."""
        return _columns(self.hypotheses[:-1], self.hypotheses[1:], self.references[:-1], self.references[1:])

    def jobs(self, k: int) -> LongArray:
        """(segments with more than k references, 4): the bounds of the hypotheses, and those of reference k only."""
        first = self.references[:-1] + k
        jobs = _columns(self.hypotheses[:-1], self.hypotheses[1:], first, first + 1)
        return np.ascontiguousarray(jobs[first < self.references[1:]])

    @property
    def most_references(self) -> int:
        """The largest number of references of a segment; 0 where there are no segments."""
        return int(np.diff(self.references).max(initial=0))


def lay_out(hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> Layout:
    """The layout of the segments' texts. Raises as `check_texts` does."""
    check_texts(hypotheses, references)
    texts: list[str] = []
    rows: list[int] = []
    bounds = [0]
    for segment in hypotheses:
        number: dict[str, int] = {}
        first = bounds[-1]
        rows.extend([first + number.setdefault(text, len(number)) for text in segment])
        texts.extend(number)
        bounds.append(len(texts))
    for segment_references in references:
        texts.extend(segment_references)
    reference_bounds = list(accumulate(map(len, references), initial=bounds[-1]))
    return Layout(texts, np.array(rows, np.int64), np.array(bounds, np.int64), np.array(reference_bounds, np.int64))


def _columns(*columns: LongArray) -> LongArray:
    return np.ascontiguousarray(np.stack(columns, axis=1))
