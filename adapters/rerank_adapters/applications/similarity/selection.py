"""The learner `paper`: forward selection of measures for a linear regression (Wu et al. 2013, section 3.2).

Each round adds the measure whose regression with a constant has the highest Pearson correlation with the scores of all
pairs, whatever their sources, where each pair is predicted from the nine of ten folds that it is not in. The rounds
continue until no measure is left; the regression is that of the earliest round with the highest correlation. The ridge
penalty is that of WEKA, which they used: 1e-8.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rerank_adapters.applications.similarity.correlation import pearson
from rerank_adapters.applications.similarity.folds import MAX_CONSTANT_DEVIATION, folds_of
from rerank_adapters.applications.similarity.model import Regression
from rerank_plugins.core.arrays import FloatArray, LongArray

PENALTY = 1e-8


def select(values: FloatArray, scores: FloatArray, names: Sequence[str], *, rng: np.random.Generator) -> Regression:
    """Fit a regression of (n) scores on a selection of the (n, names) values."""
    spread = values.std(axis=0)
    usable = np.flatnonzero(spread > MAX_CONSTANT_DEVIATION).tolist()
    scaled = (values - values.mean(axis=0)) / np.where(spread > MAX_CONSTANT_DEVIATION, spread, 1.0)
    trials = _Trials(scaled, scores, folds_of(len(scores), rng))
    chosen: list[int] = []
    correlations: list[float] = []
    while len(chosen) < len(usable):
        # Of columns with equal correlations, the first one is added: the greatest negative index.
        best, negative_column = max((trials.correlation([*chosen, i]), -i) for i in usable if i not in chosen)
        chosen.append(-negative_column)
        correlations.append(best)
    size = 1 + int(np.argmax(correlations)) if chosen else 0
    kept = chosen[:size]
    inputs = scaled[:, kept]
    weights = np.linalg.solve(inputs.T @ inputs + PENALTY * np.eye(size), inputs.T @ (scores - scores.mean()))
    weights = weights / spread[kept]
    constant = float(scores.mean() - values[:, kept].mean(axis=0) @ weights)
    curve = tuple((names[i], correlation) for i, correlation in zip(chosen, correlations, strict=True))
    correlation = correlations[size - 1] if chosen else 0.0
    return Regression(tuple(names[i] for i in kept), weights, constant, correlation, curve)


class _Trials:
    """Cross-validated correlations of subsets of the columns; the cross products of each fold are computed once."""

    def __init__(self, values: FloatArray, scores: FloatArray, folds: LongArray) -> None:
        self.values, self.scores = np.column_stack([values, np.ones(len(values))]), scores
        self.penalties = np.append(np.full(values.shape[1], PENALTY), 0.0)  # none on the constant
        self.folds = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
        # For each fold, XᵀX and Xᵀy over the rows outside it: the totals less the products of the fold's rows.
        gram, moments = self.values.T @ self.values, self.values.T @ scores
        self.grams = np.array([gram - self.values[fold].T @ self.values[fold] for fold in self.folds])
        self.moments = np.array([moments - self.values[fold].T @ scores[fold] for fold in self.folds])

    def correlation(self, columns: Sequence[int]) -> float:
        """The correlation of held-out predictions from these columns and a constant with the scores."""
        columns = [*columns, self.values.shape[1] - 1]
        penalised = self.grams[:, columns][:, :, columns] + np.diag(self.penalties[columns])
        weights = np.linalg.solve(penalised, self.moments[:, columns, None])[:, :, 0]
        predicted = np.empty(len(self.scores))
        for fold, fold_weights in zip(self.folds, weights, strict=True):
            predicted[fold] = self.values[fold][:, columns] @ fold_weights
        return pearson(predicted, self.scores)
