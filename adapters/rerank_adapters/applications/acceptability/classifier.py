"""Classifiers by the features of single sentences, and how they are fitted.

A classifier has weights of features, and a threshold that the weighted sum must exceed: one column with a threshold, as
Pauls and Klein (2012, §5.3) classify by the syntactic log-odds ratio, or a logistic regression over several.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from rerank_adapters.applications.acceptability.measures import Criterion, best_threshold
from rerank_plugins import ConfigError, FeatureTable, FloatArray
from rerank_plugins.core.arrays import BoolArray

Kind = Literal["threshold", "logistic"]
ALL = "all, logistic"  # the name of the classifier that has all columns
ITERATIONS = 1000  # of the logistic regression, at most


@dataclass(frozen=True)
class Classifier:
    """Accepts a sentence where Σ weight · feature is above the threshold.

    `constant` is that of a logistic regression, None for a threshold on one column. The threshold is tuned for a
    criterion, and need not be the point at which the regression gives the probability 1/2. `provenance` says how the
    classifier was fitted, and how to extract its features.
    """

    weights: Mapping[str, float]
    threshold: float
    constant: float | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> Kind:
        """How the weights were learnt."""
        return "threshold" if self.constant is None else "logistic"

    def margins(self, table: FeatureTable) -> FloatArray:
        """(rows) the weighted sum minus the threshold. Raises ConfigError naming features that the table lacks."""
        missing = [name for name in self.weights if name not in table.names]
        if missing:
            raise ConfigError(f"the classifier needs features that were not extracted: {', '.join(missing)}")
        columns = [table.names.index(name) for name in self.weights]
        sums: FloatArray = table.values[:, columns] @ np.array(list(self.weights.values()))
        return sums - self.threshold

    def scores(self, margins: FloatArray) -> FloatArray:
        """P(acceptable) = σ(Σ weight · feature + constant) by a logistic regression, or else the margins themselves."""
        if self.constant is None:
            return margins
        return 1 / (1 + np.exp(-np.clip(margins + self.threshold + self.constant, -700, 700)))


def fit_thresholds(
    names: Sequence[str], values: FloatArray, good: BoolArray, criterion: Criterion
) -> dict[str, Classifier]:
    """By column of the values (rows, columns), a classifier by that column alone; columns that never vary have none.

    Raises ConfigError where no column varies.
    """
    columns = {name: values[:, i] for i, name in enumerate(names) if np.ptp(values[:, i]) > 0}
    if not columns:
        raise ConfigError("no feature gives any two sentences different values")
    return {name: Classifier({name: 1.0}, best_threshold(column, good, criterion)) for name, column in columns.items()}


def fit_logistic(names: Sequence[str], values: FloatArray, good: BoolArray, criterion: Criterion) -> Classifier:
    """The classifier by all columns of the values (rows, columns), by logistic regression (the extra `ml`).

    The penalty is ½ |w|² of the weights of standardised columns; the weights of the classifier are in the columns' own
    units, and those of columns that never vary are 0. Raises ConfigError if scikit-learn is not installed.
    """
    try:
        from sklearn.linear_model import LogisticRegression
        from sklearn.preprocessing import StandardScaler
    except ImportError:
        raise ConfigError(
            "logistic regression needs scikit-learn: pip install 'rerank-plugins[ml]' (or use a threshold)"
        ) from None
    scaler = StandardScaler().fit(values)
    model = LogisticRegression(max_iter=ITERATIONS).fit(scaler.transform(values), good)
    weights = model.coef_[0] / scaler.scale_
    constant = float(model.intercept_[0] - weights @ scaler.mean_)
    threshold = best_threshold(values @ weights, good, criterion)
    return Classifier(dict(zip(names, weights.tolist(), strict=True)), threshold, constant)
