"""The least score that a model of tuples gives each symbol, in whichever context: a floor for what has no context.

A symbol's score in a context is that of its event there, or else the back-off weight of the context and its score in
the next shorter one; what is missing of a context costs `unseen` for each symbol. So with

    drop(c) = min(unseen · (symbols by which a context may be longer than c),
                  min over the contexts d that are c and one symbol more of (backoff(d) + drop(d)))

no context that ends in c lowers a symbol's score by more than drop(c) below that in c, unless an event says so, and no
score of x is below the minimum over its events (c, x) of log10 p(x | c) + drop(c). That is its least score where
x is not seen in the context that drop(c) comes from; elsewhere it is a bound. Linear in the tables.
"""

from __future__ import annotations

import numpy as np

from rerank_plugins.arrays import FloatArray
from rerank_plugins.models.backoff.scoring import LN10
from rerank_plugins.models.backoff.tables import BackoffTables


def least_scores(tables: BackoffTables) -> FloatArray:
    """(symbols) natural logs that no context goes below."""
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
