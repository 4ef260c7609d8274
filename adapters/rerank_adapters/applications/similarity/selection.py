"""Regression on measures that forward selection by ten-fold cross-validation finds (Wu et al. 2013, section 3.2).

`select_as_paper` is theirs: linear regression with a constant. In each round the measure comes in whose regression has
the highest Pearson correlation with the scores of all pairs, each predicted from the folds that it is not in. Rounds go
on until no measure is left; of all rounds the earliest is kept that has the highest correlation. The penalty is that of
the tool they use, WEKA: 1e-8.

`select` is after it, for pairs of several sources, by ridge regression.
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

from rerank_adapters.applications.similarity.correlation import pearson
from rerank_adapters.applications.similarity.system import Regression
from rerank_plugins.arrays import FloatArray, LongArray

FOLDS = 10
TOLERANCE = 0.005
LEAST_PENALTY = 1e-8
CONSTANT = 1e-9  # deviation of a measure that does not vary within its source


def centred(values: FloatArray, sources: LongArray) -> FloatArray:
    """The rows (or numbers) less the mean of their source."""
    result = np.array(values, np.float64)
    for source in np.unique(sources):
        rows = sources == source
        result[rows] -= result[rows].mean(axis=0)
    return result


def select(
    values: FloatArray,
    scores: FloatArray,
    sources: LongArray,
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
    trials = _Trials(scaled, target, sources, folds_of(len(scores), rng), np.full(len(names), penalty))
    chosen, reached = _forward(trials, usable, most)
    return _kept(values, scores, sources, names, penalty, chosen, reached, TOLERANCE)


def select_as_paper(
    values: FloatArray, scores: FloatArray, names: Sequence[str], *, rng: np.random.Generator
) -> Regression:
    """A regression of (n) scores on some of the (n, names) values, of whatever source."""
    spread = values.std(axis=0)
    usable = [i for i in range(len(names)) if spread[i] > CONSTANT]
    scaled = (values - values.mean(axis=0)) / np.where(spread > CONSTANT, spread, 1.0)
    with_constant = np.column_stack([scaled, np.ones(len(values))])
    penalties = np.append(np.full(len(names), LEAST_PENALTY), 0.0)
    one = np.zeros(len(scores), np.int64)
    trials = _Trials(with_constant, scores, one, folds_of(len(scores), rng), penalties, always=(len(names),))
    chosen, reached = _forward(trials, usable, len(usable))
    return _kept(values, scores, one, names, LEAST_PENALTY, chosen, reached, 0.0)


def _forward(trials: _Trials, usable: Sequence[int], most: int) -> tuple[list[int], list[float]]:
    """The columns in the order in which they come in, `most` at most, and the correlation after each round."""
    chosen: list[int] = []
    reached: list[float] = []
    while len(chosen) < min(most, len(usable)):
        best, negative = max((trials.correlation([*chosen, i]), -i) for i in usable if i not in chosen)
        chosen.append(-negative)
        reached.append(best)
    return chosen, reached


def _kept(
    values: FloatArray, scores: FloatArray, sources: LongArray, names: Sequence[str], penalty: float,
    chosen: Sequence[int], reached: Sequence[float], tolerance: float,
) -> Regression:  # fmt: skip
    """The regression of the earliest round whose correlation is within the tolerance of the highest."""
    size = 1 + int(np.argmax(np.array(reached) >= max(reached) - tolerance)) if chosen else 0
    kept = list(chosen[:size])
    regression = regress(values[:, kept], scores, sources, [names[i] for i in kept], penalty)
    curve = tuple((names[i], value) for i, value in zip(chosen, reached, strict=True))
    return replace(regression, correlation=reached[size - 1] if chosen else 0.0, curve=curve)


def folds_of(pairs: int, rng: np.random.Generator) -> LongArray:
    """(pairs) the number of the fold of each, at random, all about as large."""
    folds = np.empty(pairs, np.int64)
    folds[rng.permutation(pairs)] = np.arange(pairs) % FOLDS
    return folds


def regress(
    values: FloatArray, scores: FloatArray, sources: LongArray, names: Sequence[str], penalty: float
) -> Regression:
    """Ridge regression of (n) scores on all of the (n, names) values."""
    own, target = centred(values, sources), centred(scores, sources)
    spread = own.std(axis=0)
    scale = np.where(spread > CONSTANT, spread, 1.0)
    own /= scale
    weights = np.linalg.solve(own.T @ own + penalty * np.eye(len(names)), own.T @ target) / scale
    return Regression(tuple(names), weights, float(scores.mean() - values.mean(axis=0) @ weights))


class _Trials:
    """Cross-validated correlations of subsets of the columns; the products of each fold are made once.

    (columns) `penalties`; the columns `always` are in every subset.
    """

    def __init__(
        self, values: FloatArray, target: FloatArray, sources: LongArray, folds: LongArray, penalties: FloatArray,
        always: tuple[int, ...] = (),
    ) -> None:  # fmt: skip
        self.values, self.target, self.penalties, self.always = values, target, penalties, always
        self.rows = [np.flatnonzero(sources == source) for source in np.unique(sources)]
        self.folds = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
        square, right = values.T @ values, values.T @ target
        self.squares = np.array([square - values[fold].T @ values[fold] for fold in self.folds])
        self.rights = np.array([right - values[fold].T @ target[fold] for fold in self.folds])

    def correlation(self, columns: list[int]) -> float:
        """The mean over the sources of the correlation of held-out predictions with the scores."""
        columns = [*columns, *self.always]
        squares = self.squares[:, columns][:, :, columns] + np.diag(self.penalties[columns])
        weights = np.linalg.solve(squares, self.rights[:, columns, None])[:, :, 0]
        predicted = np.empty(len(self.target))
        for fold, own in zip(self.folds, weights, strict=True):
            predicted[fold] = self.values[fold][:, columns] @ own
        return float(np.mean([pearson(predicted[rows], self.target[rows]) for rows in self.rows]))
