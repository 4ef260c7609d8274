"""Ridge regression on all measures, each trusted as far as it goes along with the scores: for sources nobody scored.

A selection learns what tells the pairs of its sources apart, and among many measures that are alike it takes those that
suit these sources. Here all stay, and a measure is held the nearer to 0 the less it says by itself. With z the measures
less the mean of their source, divided by their deviation, y the scores less the mean of their source, k sources of n(s)
pairs, r(i) the mean over the sources of the correlation of measure i with the scores, w is what minimises

    N · 1/k Σ_s 1/n(s) Σ_(z,y) of s (y - w·z)² + λ Σ_i (w(i) / q(i)²)²,    q(i) = max(0, r(i)) / max_j r(j)

Each source counts alike, however many pairs it has; N = k² / Σ_s 1/n(s) is their number where all have as many.
Penalties by a first estimate are those of the adaptive lasso (Zou 2006; by correlations as here, Huang, Ma and Zhang
2008), upon squares. A measure with r(i) ≤ 0 is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rerank_adapters.applications.similarity.correlation import pearson
from rerank_adapters.applications.similarity.selection import CONSTANT, centred, folds_of
from rerank_adapters.applications.similarity.system import Regression
from rerank_plugins.arrays import FloatArray, LongArray


def shrink(
    values: FloatArray,
    scores: FloatArray,
    sources: LongArray,
    names: Sequence[str],
    *,
    penalty: float,
    rng: np.random.Generator,
) -> Regression:
    """A regression of (n) scores on the (n, names) values, the measures that weigh most first."""
    weights, spread = shrunk_weights(values, scores, sources, penalty)
    order = [i for i in np.argsort(-np.abs(weights) * spread, kind="stable").tolist() if weights[i]]
    constant = float(scores.mean() - values.mean(axis=0) @ weights)
    found = Regression(tuple(names[i] for i in order), weights[order], constant)
    folds, predicted = folds_of(len(scores), rng), np.empty(len(scores))
    own = centred(values, sources)
    for fold in np.unique(folds):
        held = folds == fold
        learnt, _ = shrunk_weights(values[~held], scores[~held], sources[~held], penalty)
        predicted[held] = own[held] @ learnt
    reached = [pearson(predicted[sources == source], scores[sources == source]) for source in np.unique(sources)]
    return replace(found, correlation=float(np.mean(reached)))


def shrunk_weights(
    values: FloatArray, scores: FloatArray, sources: LongArray, penalty: float
) -> tuple[FloatArray, FloatArray]:
    """(names) weights of the values, 0 for those left out; (names) deviations of the values within their sources."""
    own, target = centred(values, sources), centred(scores, sources)
    spread = own.std(axis=0)
    scaled = own / np.where(spread > CONSTANT, spread, np.inf)
    parts = [np.flatnonzero(sources == source) for source in np.unique(sources)]
    trust = np.maximum(0.0, np.mean([_correlations(scaled[part], target[part]) for part in parts], axis=0)) ** 2
    if not trust.any():
        return np.zeros(len(spread)), spread
    trust /= trust.max()
    trusted = scaled * trust
    square = np.mean([trusted[part].T @ trusted[part] / len(part) for part in parts], axis=0)
    right = np.mean([trusted[part].T @ target[part] / len(part) for part in parts], axis=0)
    pairs = len(parts) ** 2 / sum(1 / len(part) for part in parts)
    weights = np.linalg.solve(square + penalty / pairs * np.eye(len(trust)), right)
    return np.where(trust > 0, weights * trust / np.where(spread > CONSTANT, spread, 1.0), 0.0), spread


def _correlations(values: FloatArray, target: FloatArray) -> FloatArray:
    """Of each column, 0 for one that does not vary; both have the mean 0."""
    norms = np.sqrt((values**2).sum(axis=0) * (target @ target))
    return np.asarray(values.T @ target / np.where(norms > CONSTANT, norms, np.inf), np.float64)
