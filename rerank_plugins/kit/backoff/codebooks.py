"""Codes the values of a model as small numbers: exactly, or quantised.

An exact value is the bit pattern of its 32-bit float less the smallest pattern of its level, which needs 27 to 29 bits
where all values are logarithms of the usual size. A quantised value is the place of its nearest neighbour in a codebook
of its level. The codebook divides the range of the values, which are logarithms, into bins of equal width, and
represents each by the mean of its values. So no probability changes by more than half the width of a bin (3.5 % for 8
bits and log10 values from -8 to 0). Bins of equal frequency, as in KenLM, are narrow where there are many n-grams, but
those that text needs most are few: on 46.8 million words, 8 bits with such bins, even if improved by Lloyd's algorithm
(1982), cost 2.7 % of perplexity, and with bins of equal width 0.04 %. The scores of impossible and unweighted n-grams
(-99 and 0) stay exact.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.kit.backoff.tables import LOG_ZERO

Values = NDArray[np.float32]


def codebook(values: Values, bits: int) -> Values:
    """(at most 2**bits) the ascending representatives of the values."""
    special = (values <= LOG_ZERO) | (values == 0)
    exact, usual = np.unique(values[special]), values[~special]
    room = (1 << bits) - len(exact)
    if not len(usual):
        return exact
    low, high = float(usual.min()), float(usual.max())
    bins = np.minimum((usual - low) * (room / max(high - low, 1e-9)), room - 1).astype(np.int64)
    sizes = np.bincount(bins, minlength=room)
    centres = np.bincount(bins, usual, room)[sizes > 0] / sizes[sizes > 0]
    book: Values = np.unique(np.concatenate([exact, centres]).astype(np.float32))
    return book


def nearest(values: Values, book: Values) -> NDArray[np.uint32]:
    """(n) the place in the codebook of the representative nearest to each value."""
    middles = (book[1:].astype(np.float64) + book[:-1]) / 2
    places: NDArray[np.uint32] = np.searchsorted(middles, values).astype(np.uint32)
    return places
