"""Measures what longer lists are worth: the scores of the oracle and of the weights on the first n hypotheses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rerank_adapters.chain.job import Data, Job, through
from rerank_adapters.evaluation.oracle import oracle
from rerank_adapters.report.run_facts import ListLengths
from rerank_plugins.core.arrays import LongArray

LENGTHS = (1, 2, 5)  # times powers of ten


def list_lengths(job: Job, data: Data, orders: Sequence[Sequence[int]]) -> ListLengths:
    """Scores by the job's first metric for n = 1, 2, 5, 10, … up to the longest list.

    `orders` (segments) have the positions of each list from best to worst, or are empty where the choice depends on
    the whole list. From a cut list, that hypothesis is chosen which comes first in the order.
    """
    measure = job.measures[0]
    hypotheses = through(measure.text, [nbest.texts for nbest in data.nbests])
    statistics = measure.metric.statistics(hypotheses, through(measure.text, data.references))
    sizes = np.array([len(nbest) for nbest in data.nbests])
    starts = np.concatenate([[0], np.cumsum(sizes)])[:-1]
    lengths = lengths_up_to(int(sizes.max()))
    best, reranked = [], []
    for length in lengths:
        kept = np.minimum(sizes, length)
        rows = np.concatenate([np.arange(start, start + size) for start, size in zip(starts, kept, strict=True)])
        offsets: LongArray = np.concatenate([[0], np.cumsum(kept)]).astype(np.int64)
        best.append(oracle(statistics[rows], offsets, measure.metric).score)
        if len(orders):
            chosen = [
                start + next(position for position in order if position < length)
                for start, order in zip(starts.tolist(), orders, strict=True)
            ]
            reranked.append(float(measure.metric.score(statistics[chosen].sum(0))))
    return ListLengths(lengths, tuple(best), tuple(reranked))


def lengths_up_to(longest: int) -> tuple[int, ...]:
    """1, 2, 5, 10, … below `longest`, and `longest`.

    >>> lengths_up_to(30)
    (1, 2, 5, 10, 20, 30)
    """
    marks = (factor * 10**power for power in range(len(str(longest))) for factor in LENGTHS)
    return (*(mark for mark in marks if mark < longest), longest)
