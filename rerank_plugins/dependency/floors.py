"""Floors: the least score that a back-off model gives a symbol in any context.

A word without a context has such a floor.
The score of a symbol in a context is that of its event there, or else the back-off weight of the context plus its score
in the next shorter one; each symbol of the context that is missing from the model costs `unseen`. So with

    drop(c) = min(unseen · (symbols by which a context may be longer than c),
                  min over the contexts d that extend c by one symbol of (backoff(d) + drop(d)))

no context that ends in c lowers the score of a symbol by more than drop(c) below its score in c, unless it has an event
for the symbol, and no score of x is below the minimum over its events (c, x) of log10 p(x | c) + drop(c). This is the
least score of x where x was not seen in the context that drop(c) comes from; elsewhere it is a bound. The time is
linear in the tables.
"""

from __future__ import annotations

import numpy as np

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.logarithms import LN10
from rerank_plugins.kit.backoff.tables import BackoffTables


def least_scores(tables: BackoffTables) -> FloatArray:
    """(symbols) a lower bound of ln p of each symbol over all contexts."""
    levels = tables.context_levels
    longest = tables.order - 1
    drop = np.repeat(tables.unseen * (longest - np.arange(tables.order, dtype=np.float64)), np.diff(levels))
    for level in range(longest, 0, -1):
        span = slice(int(levels[level]), int(levels[level + 1]))
        contexts = tables.contexts[span]
        np.minimum.at(drop, contexts["parent"], contexts["backoff"].astype(np.float64) + drop[span])
    context = np.repeat(np.arange(len(drop)), np.diff(tables.contexts["events"]))
    least = np.full(tables.sizes[0], np.inf)
    np.minimum.at(least, tables.events["symbol"], tables.events["log10"].astype(np.float64) + drop[context])
    return least * LN10
