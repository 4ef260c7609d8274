"""The folds of cross-validation, which both learners of similarity make alike."""

from __future__ import annotations

import numpy as np

from rerank_plugins.core.arrays import LongArray

FOLDS = 10
MAX_CONSTANT_DEVIATION = 1e-9  # a measure with at most this standard deviation counts as constant


def folds_of(pairs: int, rng: np.random.Generator) -> LongArray:
    """(pairs) the number of the fold of each pair, assigned at random; fold sizes differ by at most one."""
    folds = np.empty(pairs, np.int64)
    folds[rng.permutation(pairs)] = np.arange(pairs) % FOLDS
    return folds
