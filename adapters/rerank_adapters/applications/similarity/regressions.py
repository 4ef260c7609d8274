"""The regressions of similarity systems: forward selection of measures (Wu et al. 2013, section 3.2), and shrinkage.

`select_as_paper` is their method: linear regression with a constant, and ten-fold cross-validation. Each round adds the
measure whose regression has the highest Pearson correlation with the scores of all pairs, where each pair is predicted
from the folds that it is not in. The rounds continue until no measure is left; the regression is that of the earliest
round with the highest correlation. The ridge penalty is that of WEKA, which they used: 1e-8.

`select` modifies the method for pairs of several sources and uses ridge regression. Values and scores are centred
within each source, so that the weights distinguish pairs of one source from each other and do not express which source
has high scores; one constant is fitted for all sources. The features are divided by their standard deviations; the
penalty is ½ λ |w|². Each round adds the feature whose regression has the highest Pearson correlation with the scores of
the held-out folds, averaged over the sources. The regression is that of the earliest round whose correlation is within
TOLERANCE of the highest: where the curve is flat, fewer features probably generalise better to other pairs.

`shrink` is for new sources: ridge regression on all measures, each penalised less the better it correlates with the
scores. Forward selection fits the sources that it is trained on: of many similar measures it takes those that suit
these sources. Here all measures stay, and the weight of a measure is shrunk towards 0 the more, the less the measure
correlates with the scores by itself. Let z be the measures less the mean of their source, divided by their standard
deviations, y the scores less the mean of their source, k the number of sources, n(s) the number of pairs of source s,
and r(i) the correlation of measure i with the scores, averaged over the sources. The weights w minimise

    N · 1/k Σ_s 1/n(s) Σ_(z,y) of s (y - w·z)² + λ Σ_i (w(i) / q(i))²,    q(i) = max(0, r(i)) / max_j r(j)

All sources have the same influence, however many pairs they have; N = k² / Σ_s 1/n(s) is the number of all pairs if the
sources are of equal size. Penalties that depend on a first estimate are those of the adaptive lasso (Zou 2006; with
correlations as here, Huang, Ma and Zhang 2008), applied here to squared weights. A measure with r(i) ≤ 0 is left out.
With `differences`, the losses of changed copies of sentences in each measure, the weights are the best ones under which
no copy gains (monotone.py). The few measures of a selection do not bear such constraints: they cost 0.07 of r.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rerank_adapters.applications.similarity.model import Regression
from rerank_adapters.applications.similarity.monotone import constrained
from rerank_adapters.applications.similarity.scores import pearson
from rerank_plugins.core.arrays import FloatArray, LongArray

FOLDS = 10
TOLERANCE = 0.005
LEAST_PENALTY = 1e-8
CONSTANT = 1e-9  # a measure with at most this standard deviation within its source counts as constant


def centred(values: FloatArray, sources: LongArray) -> FloatArray:
    """Subtract from each row (or number) the mean of its source."""
    result = np.array(values, np.float64)
    for source in np.unique(sources):
        rows = sources == source
        result[rows] -= result[rows].mean(axis=0)
    return result


def select(
    values: FloatArray, scores: FloatArray, sources: LongArray, names: Sequence[str], *, penalty: float, most: int,
    rng: np.random.Generator,
) -> Regression:  # fmt: skip
    """Fit a regression of (n) scores on a selection of the (n, names) values, made in at most `most` rounds."""
    inputs, target = centred(values, sources), centred(scores, sources)
    spread = inputs.std(axis=0)
    usable = [i for i in range(len(names)) if spread[i] > CONSTANT]
    scaled = inputs / np.where(spread > CONSTANT, spread, 1.0)
    trials = _Trials(scaled, target, sources, folds_of(len(scores), rng), np.full(len(names), penalty))
    chosen, correlations = _forward(trials, usable, most)
    return _kept(values, scores, sources, names, penalty, chosen, correlations, TOLERANCE)


def select_as_paper(
    values: FloatArray, scores: FloatArray, names: Sequence[str], *, rng: np.random.Generator
) -> Regression:
    """Fit a regression of (n) scores on a selection of the (n, names) values, whatever their sources."""
    spread = values.std(axis=0)
    usable = [i for i in range(len(names)) if spread[i] > CONSTANT]
    scaled = (values - values.mean(axis=0)) / np.where(spread > CONSTANT, spread, 1.0)
    with_constant = np.column_stack([scaled, np.ones(len(values))])
    penalties = np.append(np.full(len(names), LEAST_PENALTY), 0.0)
    single_source = np.zeros(len(scores), np.int64)
    trials = _Trials(with_constant, scores, single_source, folds_of(len(scores), rng), penalties, always=(len(names),))
    chosen, correlations = _forward(trials, usable, len(usable))
    return _kept(values, scores, single_source, names, LEAST_PENALTY, chosen, correlations, 0.0)


def _forward(trials: _Trials, usable: Sequence[int], most: int) -> tuple[list[int], list[float]]:
    """At most `most` columns, in the order in which they are added, and the correlation after each round."""
    chosen: list[int] = []
    correlations: list[float] = []
    while len(chosen) < min(most, len(usable)):
        # Of columns with equal correlations, the first one is added: the greatest negative index.
        best, negative_column = max((trials.correlation([*chosen, i]), -i) for i in usable if i not in chosen)
        chosen.append(-negative_column)
        correlations.append(best)
    return chosen, correlations


def _kept(
    values: FloatArray, scores: FloatArray, sources: LongArray, names: Sequence[str], penalty: float,
    chosen: Sequence[int], correlations: Sequence[float], tolerance: float,
) -> Regression:  # fmt: skip
    """The regression of the earliest round whose correlation is within the tolerance of the highest."""
    size = 1 + int(np.argmax(np.array(correlations) >= max(correlations) - tolerance)) if chosen else 0
    kept = list(chosen[:size])
    regression = regress(values[:, kept], scores, sources, [names[i] for i in kept], penalty)
    curve = tuple((names[i], correlation) for i, correlation in zip(chosen, correlations, strict=True))
    return replace(regression, correlation=correlations[size - 1] if chosen else 0.0, curve=curve)


def folds_of(pairs: int, rng: np.random.Generator) -> LongArray:
    """(pairs) the number of the fold of each pair, assigned at random; fold sizes differ by at most one."""
    folds = np.empty(pairs, np.int64)
    folds[rng.permutation(pairs)] = np.arange(pairs) % FOLDS
    return folds


def regress(
    values: FloatArray, scores: FloatArray, sources: LongArray, names: Sequence[str], penalty: float
) -> Regression:
    """Ridge regression of (n) scores on all of the (n, names) values."""
    inputs, target = centred(values, sources), centred(scores, sources)
    spread = inputs.std(axis=0)
    scale = np.where(spread > CONSTANT, spread, 1.0)
    inputs /= scale
    weights = np.linalg.solve(inputs.T @ inputs + penalty * np.eye(len(names)), inputs.T @ target) / scale
    return Regression(tuple(names), weights, float(scores.mean() - values.mean(axis=0) @ weights))


class _Trials:
    """Cross-validated correlations of subsets of the columns; the cross products of each fold are computed once.

    `penalties` (columns) has the ridge penalty of each column; the columns `always` are in every subset.
    """

    def __init__(
        self, values: FloatArray, target: FloatArray, sources: LongArray, folds: LongArray, penalties: FloatArray,
        always: tuple[int, ...] = (),
    ) -> None:  # fmt: skip
        self.values, self.target, self.penalties, self.always = values, target, penalties, always
        self.rows = [np.flatnonzero(sources == source) for source in np.unique(sources)]
        self.folds = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
        # For each fold, XᵀX and Xᵀy over the rows outside it: the totals less the products of the fold's rows.
        gram, moments = values.T @ values, values.T @ target
        self.grams = np.array([gram - values[fold].T @ values[fold] for fold in self.folds])
        self.moments = np.array([moments - values[fold].T @ target[fold] for fold in self.folds])

    def correlation(self, columns: list[int]) -> float:
        """The mean over the sources of the correlation of held-out predictions with the scores."""
        columns = [*columns, *self.always]
        penalised = self.grams[:, columns][:, :, columns] + np.diag(self.penalties[columns])
        weights = np.linalg.solve(penalised, self.moments[:, columns, None])[:, :, 0]
        predicted = np.empty(len(self.target))
        for fold, fold_weights in zip(self.folds, weights, strict=True):
            predicted[fold] = self.values[fold][:, columns] @ fold_weights
        return float(np.mean([pearson(predicted[rows], self.target[rows]) for rows in self.rows]))


def shrink(
    values: FloatArray, scores: FloatArray, sources: LongArray, names: Sequence[str], *, penalty: float,
    rng: np.random.Generator, differences: FloatArray | None = None,
) -> Regression:  # fmt: skip
    """Fit a regression of (n) scores on the (n, names) values; measures with large scaled weights come first.

    No (copies, names) `differences` have a negative weighted sum.
    """
    weights, spread = shrunk_weights(values, scores, sources, penalty, differences)
    order = [i for i in np.argsort(-np.abs(weights) * spread, kind="stable").tolist() if weights[i]]
    constant = float(scores.mean() - values.mean(axis=0) @ weights)
    regression = Regression(tuple(names[i] for i in order), weights[order], constant)
    folds, predicted = folds_of(len(scores), rng), np.empty(len(scores))
    inputs = centred(values, sources)
    for fold in np.unique(folds):
        held_out = folds == fold
        rest = values[~held_out], scores[~held_out], sources[~held_out]
        fold_weights, _ = shrunk_weights(*rest, penalty, differences)
        predicted[held_out] = inputs[held_out] @ fold_weights
    correlations = [pearson(predicted[sources == source], scores[sources == source]) for source in np.unique(sources)]
    return replace(regression, correlation=float(np.mean(correlations)))


def shrunk_weights(
    values: FloatArray, scores: FloatArray, sources: LongArray, penalty: float, differences: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """(names) weights of the measures, 0 if left out; (names) their standard deviations within their sources."""
    inputs, target = centred(values, sources), centred(scores, sources)
    spread = inputs.std(axis=0)
    scaled = inputs / np.where(spread > CONSTANT, spread, np.inf)
    parts = [np.flatnonzero(sources == source) for source in np.unique(sources)]
    trust = np.maximum(0.0, np.mean([_correlations(scaled[part], target[part]) for part in parts], axis=0))
    if not trust.any():
        return np.zeros(len(spread)), spread
    trust /= trust.max()
    trusted = scaled * trust
    gram = np.mean([trusted[part].T @ trusted[part] / len(part) for part in parts], axis=0)
    moments = np.mean([trusted[part].T @ target[part] / len(part) for part in parts], axis=0)
    pairs = len(parts) ** 2 / sum(1 / len(part) for part in parts)
    scale = trust / np.where(spread > CONSTANT, spread, 1.0)
    losses = np.zeros((0, len(trust))) if differences is None else differences * scale
    weights = constrained(gram + penalty / pairs * np.eye(len(trust)), moments, losses)
    return np.where(trust > 0, weights * scale, 0.0), spread


def _correlations(values: FloatArray, target: FloatArray) -> FloatArray:
    """(columns) the correlation of each with the target, 0 for a column that does not vary; all must have mean 0."""
    norms = np.sqrt((values**2).sum(axis=0) * (target @ target))
    return np.asarray(values.T @ target / np.where(norms > CONSTANT, norms, np.inf), np.float64)
