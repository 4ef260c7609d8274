"""Ridge regression, and forward selection of its features by ten-fold cross-validation (Wu et al. 2013, section 3.2).

Values and scores are centred within each source, so that weights say what tells pairs of one source apart, not which
source has high scores; one constant is fitted for all. The features are divided by their deviation; the penalty is
½ λ |w|². In each round the feature comes in whose regression has the highest Pearson correlation with the scores of the
folds that it has not seen, the mean over the sources. Of all rounds the earliest is kept whose correlation is within
TOLERANCE of the highest: where the curve is flat, fewer features are more likely to hold for other pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rerank_adapters.evaluation.correlation import pearson
from rerank_adapters.weights.similarity_model import Regression
from rerank_plugins.feature_table import FloatArray, IntArray

FOLDS = 10
TOLERANCE = 0.005
CONSTANT = 1e-9  # deviation of a measure that does not vary within its source


def centred(values: FloatArray, sources: IntArray) -> FloatArray:
    """The rows (or numbers) less the mean of their source."""
    result = np.array(values, np.float64)
    for source in np.unique(sources):
        rows = sources == source
        result[rows] -= result[rows].mean(axis=0)
    return result


def select(
    values: FloatArray,
    scores: FloatArray,
    sources: IntArray,
    names: Sequence[str],
    *,
    penalty: float,
    most: int,
    rng: np.random.Generator,
) -> Regression:
    """A regression of (n) scores on some of the (n, names) values; `most` rounds at most."""
    own, target = centred(values, sources), centred(scores, sources)
    spread = own.std(axis=0)
    usable = [i for i in range(len(names)) if spread[i] > CONSTANT]
    scaled = own / np.where(spread > CONSTANT, spread, 1.0)
    chosen: list[int] = []
    curve: list[tuple[str, float]] = []
    trial = _Trials(scaled, target, sources, folds_of(len(scores), rng), penalty)
    while len(chosen) < min(most, len(usable)):
        found = [(trial.correlation([*chosen, i]), -i) for i in usable if i not in chosen]
        best, negative = max(found)
        chosen.append(-negative)
        curve.append((names[-negative], best))
    reached = np.array([value for _, value in curve])
    size = 1 + int(np.argmax(reached >= reached.max() - TOLERANCE)) if curve else 0
    kept = chosen[:size]
    regression = regress(values[:, kept], scores, sources, [names[i] for i in kept], penalty)
    return replace(regression, correlation=curve[size - 1][1] if curve else 0.0, curve=tuple(curve))


def folds_of(pairs: int, rng: np.random.Generator) -> IntArray:
    """(pairs) the number of the fold of each, at random, all about as large."""
    folds = np.empty(pairs, np.int64)
    folds[rng.permutation(pairs)] = np.arange(pairs) % FOLDS
    return folds


def regress(
    values: FloatArray, scores: FloatArray, sources: IntArray, names: Sequence[str], penalty: float
) -> Regression:
    """Ridge regression of (n) scores on all of the (n, names) values."""
    own, target = centred(values, sources), centred(scores, sources)
    spread = own.std(axis=0)
    scale = np.where(spread > CONSTANT, spread, 1.0)
    own /= scale
    weights = np.linalg.solve(own.T @ own + penalty * np.eye(len(names)), own.T @ target) / scale
    return Regression(tuple(names), weights, float(scores.mean() - values.mean(axis=0) @ weights))


class _Trials:
    """Cross-validated correlations of subsets of the columns; the products of each fold are made once."""

    def __init__(
        self, values: FloatArray, target: FloatArray, sources: IntArray, folds: IntArray, penalty: float
    ) -> None:
        self.values, self.target, self.penalty = values, target, penalty
        self.rows = [np.flatnonzero(sources == source) for source in np.unique(sources)]
        self.folds = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
        square, right = values.T @ values, values.T @ target
        self.squares = np.array([square - values[fold].T @ values[fold] for fold in self.folds])
        self.rights = np.array([right - values[fold].T @ target[fold] for fold in self.folds])

    def correlation(self, columns: list[int]) -> float:
        """The mean over the sources of the correlation of held-out predictions with the scores."""
        squares = self.squares[:, columns][:, :, columns] + self.penalty * np.eye(len(columns))
        weights = np.linalg.solve(squares, self.rights[:, columns, None])[:, :, 0]
        predicted = np.empty(len(self.target))
        for fold, own in zip(self.folds, weights, strict=True):
            predicted[fold] = self.values[fold][:, columns] @ own
        return float(np.mean([pearson(predicted[rows], self.target[rows]) for rows in self.rows]))
