"""Measures of accepted sentences against their true labels, and the threshold at which such a measure is highest.

A sentence is accepted where its score is above the threshold. Each measure of n scores sorts them once: O(n log n).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from rerank_plugins import FloatArray
from rerank_plugins.core.arrays import BoolArray, LongArray

Criterion = Literal["accuracy", "mcc"]  # of the tuning of a threshold; mcc: Matthews' correlation


class RocCurve(NamedTuple):
    """The proportions of bad and good sentences that are accepted as the threshold falls; both rise from 0 to 1."""

    false_positive: FloatArray
    true_positive: FloatArray


class Reliability(NamedTuple):
    """For each bin, the mean predicted probability, the proportion of acceptable sentences, and their total number."""

    predicted: FloatArray
    observed: FloatArray
    counts: LongArray


def accuracy(accepted: BoolArray, good: BoolArray) -> float:
    """The proportion of correct decisions."""
    return float(np.mean(accepted == good))


def matthews(accepted: BoolArray, good: BoolArray) -> float:
    """Matthews' correlation of decisions and true labels, from -1 to 1; 0 where either never varies.

    MCC = (tp·tn - fp·fn) / sqrt((tp+fp) (tp+fn) (tn+fp) (tn+fn)).
    """
    tp, fp = np.array([np.sum(accepted & kind) for kind in (good, ~good)], np.float64)
    return float(_matthews(tp, fp, float(good.sum()), float(len(good) - good.sum())))


def value_of(criterion: Criterion, accepted: BoolArray, good: BoolArray) -> float:
    """The accuracy of decisions, or their Matthews correlation."""
    return accuracy(accepted, good) if criterion == "accuracy" else matthews(accepted, good)


def best_threshold(scores: FloatArray, good: BoolArray, criterion: Criterion = "accuracy") -> float:
    """The threshold with the highest accuracy or Matthews correlation: half-way between two neighbouring scores.

    Among equally good thresholds the middle one is taken. The thresholds that accept or reject every sentence lie 1
    beyond the lowest and the highest score.
    """
    tp, fp, cuts = _accepted(scores, good)
    tn = fp[-1] - fp
    value = tp + tn if criterion == "accuracy" else _matthews(tp, fp, tp[-1], fp[-1])
    best = np.flatnonzero(value >= value.max() - 1e-12)
    return float(cuts[best[len(best) // 2]])


def roc_curve(scores: FloatArray, good: BoolArray) -> RocCurve:
    """The curve has a point for each distinct score, and begins at (0, 0)."""
    tp, fp, _ = _accepted(scores, good)
    return RocCurve(fp / max(1, fp[-1]), tp / max(1, tp[-1]))


def roc_area(scores: FloatArray, good: BoolArray) -> float:
    """The probability that a good sentence scores higher than a bad one, where ties count half (Mann-Whitney's U).

    The area is nan where one class is empty.
    """
    if good.all() or not good.any():
        return float("nan")
    x, y = roc_curve(scores, good)
    return float(np.sum(np.diff(x) * (y[1:] + y[:-1])) / 2)


def reliability(probabilities: FloatArray, good: BoolArray, bins: int = 10) -> Reliability:
    """Predicted probabilities, in `bins` equal parts of [0, 1], against observed proportions, without empty bins."""
    place = np.minimum((probabilities * bins).astype(np.int64), bins - 1)
    counts = np.bincount(place, minlength=bins)
    used = counts > 0
    sums = [np.bincount(place, values, bins)[used] / counts[used] for values in (probabilities, good)]
    return Reliability(sums[0], sums[1], counts[used])


def _matthews(tp: FloatArray, fp: FloatArray, good: float, bad: float) -> FloatArray:
    product = (tp + fp) * good * bad * (good + bad - tp - fp)
    top = tp * (bad - fp) - fp * (good - tp)
    return np.divide(top, np.sqrt(product), out=np.zeros_like(top), where=product > 0)


def _accepted(scores: FloatArray, good: BoolArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Good and bad sentences accepted at each threshold that decides differently, and these thresholds, falling."""
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    ends = np.append(np.flatnonzero(ranked[1:] < ranked[:-1]), len(ranked) - 1)  # the last of equal scores
    tp = np.append(0, np.cumsum(good[order])[ends]).astype(np.float64)
    fp = np.append(0, ends + 1) - tp
    levels = ranked[ends]
    between = (levels[:-1] + levels[1:]) / 2
    return tp, fp, np.concatenate([[levels[0] + 1], between, [levels[-1] - 1]])
