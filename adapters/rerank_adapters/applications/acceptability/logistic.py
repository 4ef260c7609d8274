"""Logistic regression by scikit-learn (the extra `ml`), with weights in the features' own units.

Features are divided by their standard deviations before training, so that the penalty ½ |w|² / strength has the same
effect on all of them; constant columns get weight 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rerank_plugins import ConfigError, FloatArray
from rerank_plugins.core.arrays import BoolArray

ITERATIONS = 1000


@dataclass(frozen=True, eq=False)
class Logistic:
    """P(good | x) = σ(weights · x + constant)."""

    weights: FloatArray
    constant: float


def fit_logistic(values: FloatArray, good: BoolArray, strength: float = 1.0, *, constant: bool = True) -> Logistic:
    """Fit the regression of `good` (rows) on `values` (rows, columns); a smaller `strength` is a stronger penalty.

    Without a `constant`, values are not centred, and the spread is their root mean square. Raises ConfigError if
    scikit-learn is not installed or all rows belong to one class.
    """
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError:
        raise ConfigError(
            "logistic regression needs scikit-learn: pip install 'rerank-plugins[ml]' (or use a threshold)"
        ) from None
    if good.all() or not good.any():
        raise ConfigError("logistic regression needs both acceptable and unacceptable sentences, found one kind only")
    centre = values.mean(axis=0) if constant else np.zeros(values.shape[1])
    spread = np.sqrt(np.mean((values - centre) ** 2, axis=0))
    varies = spread > 1e-12 * (1 + np.abs(centre))
    scaled = (values[:, varies] - centre[varies]) / spread[varies]
    weights = np.zeros(values.shape[1])
    if not varies.any():
        return Logistic(weights, float(np.log(good.mean() / (1 - good.mean()))) if constant else 0.0)
    model = LogisticRegression(C=strength, fit_intercept=constant, max_iter=ITERATIONS).fit(scaled, good)
    weights[varies] = model.coef_[0] / spread[varies]
    return Logistic(weights, float(np.ravel(model.intercept_)[0] - weights @ centre) if constant else 0.0)
