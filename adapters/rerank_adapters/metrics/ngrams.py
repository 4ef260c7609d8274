"""Counts clipped n-gram matches between hypotheses and references, and between the hypotheses of a list."""

from __future__ import annotations

import numpy as np

from rerank_adapters.metrics.encoding import Sequences
from rerank_plugins.core.arrays import IntArray, LongArray
from rerank_plugins.core.threads import over_ranges

LEAST_LOOKUPS = 2e6  # about 20 ms; less work is not worth a thread


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

    over_ranges(work, costs, LEAST_LOOKUPS)
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
