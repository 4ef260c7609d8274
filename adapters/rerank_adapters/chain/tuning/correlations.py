"""Correlations of features within lists, which are all that a choice within a list depends on."""

from __future__ import annotations

import numpy as np

from rerank_adapters.tuners.one_best import centred
from rerank_plugins.core.arrays import FloatArray, LongArray

CONSTANT = 1e-10  # a deviation below this fraction of the values' magnitude is the rounding error of a constant


def correlations_within_lists(columns: FloatArray, offsets: LongArray) -> FloatArray:
    """(columns, columns) Pearson's r of the values (rows, columns) less the means of their lists, over all lists.

    It is nan for a column that is constant in every list.
    """
    varying = np.stack([centred(column, offsets) for column in columns.T])
    lengths = np.linalg.norm(varying, axis=1)
    magnitudes = np.linalg.norm(columns, axis=0)
    lengths = np.where(lengths > CONSTANT * np.maximum(magnitudes, 1e-300), lengths, np.nan)
    unit = varying / lengths[:, None]
    result: FloatArray = np.clip(unit @ unit.T, -1.0, 1.0)
    return result
