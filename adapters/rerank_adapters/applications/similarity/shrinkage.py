"""The learner `shrunk`: ridge regression on all measures, each penalised less the better it correlates with the scores.

It is for new sources. Forward selection fits the sources that it is trained on: of many similar measures it takes those
that suit these sources. Here all measures stay, and the weight of a measure is shrunk towards 0 the more, the less the
measure correlates with the scores by itself. Let z be the measures less the mean of their source, divided by their
standard deviations, y the scores less the mean of their source, k the number of sources, n(s) the number of pairs of
source s, and r(i) the correlation of measure i with the scores, averaged over the sources. The weights w minimise

    N · 1/k Σ_s 1/n(s) Σ_(z,y) of s (y - w·z)² + λ Σ_i (w(i) / q(i))²,    q(i) = max(0, r(i)) / max_j r(j)

All sources have the same influence, however many pairs they have; N = k² / Σ_s 1/n(s) is the number of all pairs if the
sources are of equal size. Penalties that depend on a first estimate are those of the adaptive lasso (Zou 2006; with
correlations as here, Huang, Ma and Zhang 2008), applied here to squared weights. A measure with r(i) ≤ 0 is left out.
With `differences`, the losses of changed copies of sentences in each measure, the weights are the best ones under which
no copy gains (monotone.py).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rerank_adapters.applications.similarity.correlation import pearson
from rerank_adapters.applications.similarity.folds import MAX_CONSTANT_DEVIATION, folds_of
from rerank_adapters.applications.similarity.model import Regression
from rerank_adapters.applications.similarity.monotone import constrained
from rerank_plugins.core.arrays import FloatArray, LongArray

PENALTY = 30.0  # λ


def shrink(
    values: FloatArray, scores: FloatArray, sources: LongArray, names: Sequence[str], *, rng: np.random.Generator,
    penalty: float = PENALTY, differences: FloatArray | None = None,
) -> Regression:  # fmt: skip
    """Fit a regression of (n) scores on the (n, names) values; measures with large scaled weights come first.

    No (copies, names) `differences` have a negative weighted sum.
    """
    weights, spread = shrunk_weights(values, scores, sources, penalty, differences)
    order = [i for i in np.argsort(-np.abs(weights) * spread, kind="stable").tolist() if weights[i]]
    constant = float(scores.mean() - values.mean(axis=0) @ weights)
    folds, predicted = folds_of(len(scores), rng), np.empty(len(scores))
    inputs = centred(values, sources)
    for fold in np.unique(folds):
        held_out = folds == fold
        rest = values[~held_out], scores[~held_out], sources[~held_out]
        fold_weights, _ = shrunk_weights(*rest, penalty, differences)
        predicted[held_out] = inputs[held_out] @ fold_weights
    correlations = [pearson(predicted[sources == source], scores[sources == source]) for source in np.unique(sources)]
    return Regression(tuple(names[i] for i in order), weights[order], constant, float(np.mean(correlations)))


def shrunk_weights(
    values: FloatArray, scores: FloatArray, sources: LongArray, penalty: float, differences: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """(names) weights of the measures, 0 if left out; (names) their standard deviations within their sources."""
    inputs, target = centred(values, sources), centred(scores, sources)
    spread = inputs.std(axis=0)
    scaled = inputs / np.where(spread > MAX_CONSTANT_DEVIATION, spread, np.inf)
    parts = [np.flatnonzero(sources == source) for source in np.unique(sources)]
    trust = np.maximum(0.0, np.mean([_correlations(scaled[part], target[part]) for part in parts], axis=0))
    if not trust.any():
        return np.zeros(len(spread)), spread
    trust /= trust.max()
    trusted = scaled * trust
    gram = np.mean([trusted[part].T @ trusted[part] / len(part) for part in parts], axis=0)
    moments = np.mean([trusted[part].T @ target[part] / len(part) for part in parts], axis=0)
    pairs = len(parts) ** 2 / sum(1 / len(part) for part in parts)
    scale = trust / np.where(spread > MAX_CONSTANT_DEVIATION, spread, 1.0)
    losses = np.zeros((0, len(trust))) if differences is None else differences * scale
    weights = constrained(gram + penalty / pairs * np.eye(len(trust)), moments, losses)
    return np.where(trust > 0, weights * scale, 0.0), spread


def centred(values: FloatArray, sources: LongArray) -> FloatArray:
    """Subtract from each row (or number) the mean of its source."""
    result = np.array(values, np.float64)
    for source in np.unique(sources):
        rows = sources == source
        result[rows] -= result[rows].mean(axis=0)
    return result


def _correlations(values: FloatArray, target: FloatArray) -> FloatArray:
    """(columns) the correlation of each with the target, 0 for a column that does not vary; all must have mean 0."""
    norms = np.sqrt((values**2).sum(axis=0) * (target @ target))
    return np.asarray(values.T @ target / np.where(norms > MAX_CONSTANT_DEVIATION, norms, np.inf), np.float64)
