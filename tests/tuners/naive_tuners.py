"""Slow, obvious twins of the tuners' parts, two small metrics, and lists to tune on."""

from __future__ import annotations

import itertools
import math

import numpy as np

from rerank_plugins.core.feature_table import FeatureTable, SparseBlock
from rerank_plugins.core.metrics_and_tuners import Metric


class Counts(Metric):
    """A metric whose statistics are written in the text: `"3 1 2"` has statistics 3, 1 and 2."""

    width = 2

    def statistics(self, hypotheses, references):
        rows = [[float(x) for x in text.split()] for texts in hypotheses for text in texts]
        return np.array(rows).reshape(-1, self.width)

    def sentence_scores(self, statistics):
        return self.score(statistics)

    def signature(self):
        return type(self).__name__


class ErrorRate(Counts):
    """Errors per word, as a percentage: statistics are errors and words; lower is better."""

    higher_is_better = False

    def score(self, totals):
        totals = np.asarray(totals, float)
        return 100.0 * totals[..., 0] / np.maximum(totals[..., 1], 1e-9)


class FScore(Counts):
    """F1 of matches, found and wanted: not linear in its statistics; higher is better."""

    width = 3

    def score(self, totals):
        totals = np.asarray(totals, float)
        return 100.0 * 2 * totals[..., 0] / np.maximum(totals[..., 1] + totals[..., 2], 1e-9)


def random_data(rng, metric, segments=12, longest=8, features=3, grid=None, sparse=0):
    """A table of random features (on a grid of integers up to `grid`, if given, so that ties abound), and statistics."""
    lengths = rng.integers(1, longest + 1, segments)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    rows = int(offsets[-1])
    values = rng.normal(size=(rows, features))
    if grid is not None:
        values = rng.integers(-grid, grid + 1, (rows, features)).astype(float)
    names = tuple(f"f{i}" for i in range(features))
    table = FeatureTable.dense(names, values, offsets)
    if sparse:
        mappings = [
            {f"s{k}": float(rng.integers(1, 3)) for k in rng.choice(sparse, rng.integers(0, 4), replace=False)}
            for _ in range(rows)
        ]
        block = SparseBlock.from_mappings(mappings)
        table = FeatureTable(names, values, table.offsets, table.segment_ids, block)
    wanted = np.repeat(rng.integers(3, 12, segments), lengths)
    if metric.width == 2:
        statistics = np.stack([rng.integers(0, 6, rows), wanted], axis=1)
    else:
        found = rng.integers(2, 12, rows)
        statistics = np.stack([rng.integers(0, np.minimum(found, wanted) + 1), found, wanted], axis=1)
    return table, statistics.astype(float)


def one_best(scores, offsets):
    best = []
    for begin, end in itertools.pairwise(offsets):
        best.append(max(range(begin, end), key=lambda row: (scores[row], -row)))
    return best


def corpus_score(table, statistics, metric, weights):
    return float(metric.score(statistics[one_best(table.scores(weights), table.offsets)].sum(axis=0)))


def changes_of_one_best(scores, slopes, low, high):
    """[(t, row that comes on top)] of one list: all crossings of two lines, and who is on top between them."""
    rows = range(len(scores))
    crossings = {low}
    for i in rows:
        for j in rows:
            if slopes[i] != slopes[j]:
                t = (scores[i] - scores[j]) / (slopes[j] - slopes[i])
                if low < t < high:
                    crossings.add(t)
    edges = [*sorted(crossings), high]
    changes, last = [], None
    for left, right in itertools.pairwise(edges):
        if right - left < 1e-9:
            continue
        middle = (left + right) / 2
        top = max(rows, key=lambda row: (scores[row] + middle * slopes[row], -row))
        if top != last:
            changes.append((left, top))
            last = top
    return changes


def metric_on_line(scores, slopes, offsets, statistics, metric, t):
    """The metric at one t."""
    return float(metric.score(statistics[one_best(scores + t * slopes, offsets)].sum(axis=0)))


def line_search_in_python(scores, slopes, offsets, statistics, metric, low, high):
    """Och's line search without numpy: sort lines by slope, walk the envelope, merge the changes, score each interval."""
    events = []
    totals = np.zeros(statistics.shape[1])
    for begin, end in itertools.pairwise(offsets):
        lines = sorted((slopes[row], scores[row], -row) for row in range(begin, end))
        hull = []
        for slope, score, row in lines:
            if hull and hull[-1][0] == slope:
                hull.pop()
            while hull:
                start = (hull[-1][1] - score) / (slope - hull[-1][0])
                if start > hull[-1][3]:
                    break
                hull.pop()
            hull.append((slope, score, -row, start if hull else -math.inf))
        top = 0
        while top + 1 < len(hull) and hull[top + 1][3] <= low:
            top += 1
        totals += statistics[hull[top][2]]
        for before, after in zip(hull[top:], hull[top + 1 :], strict=False):
            if after[3] < high:
                events.append((after[3], statistics[after[2]] - statistics[before[2]]))
    events.sort(key=lambda event: event[0])
    intervals = [(low, float(metric.score(totals)))]
    for t, change in events:
        totals = totals + change
        intervals.append((t, float(metric.score(totals))))
    return intervals


def batch_mira(
    values, base, offsets, statistics, slope_of, orders, block, C, decay, start, background, pull=1, prior=0
):
    """Cherry & Foster's Algorithm 1, averaging by summing the weights after every list; dense features.

    With `prior` the part of the weights off the start weights shrinks after every `pull` lists.
    """
    weights, total, visits, means = start.copy(), np.zeros_like(start), 0, []
    for order in orders:
        for place, s in enumerate(order):
            if place % block == 0:
                slope = slope_of(background)
            rows = range(offsets[s], offsets[s + 1])
            score = {row: base[row] + values[row] @ weights for row in rows}
            gain = {row: statistics[row] @ slope for row in rows}
            hope = max(rows, key=lambda row: (score[row] + gain[row], -row))
            fear = max(rows, key=lambda row: (score[row] - gain[row], -row))
            background = decay * background + statistics[hope]
            loss = gain[hope] - gain[fear] - (score[hope] - score[fear])
            difference = values[hope] - values[fear]
            if gain[hope] > gain[fear] and loss > 0 and difference.any():
                weights = weights + min(C, loss / (difference @ difference)) * difference
            total += weights
            visits += 1
            if (place + 1) % pull == 0 or place + 1 == len(order):
                weights = start + (weights - start) / (1 + (place % pull + 1) * C * prior)
        means.append(total / visits)
    return means


def expected_score(values, offsets, statistics, metric, weights):
    """The metric of the expected statistics under the softmax posteriors, and their mean entropy."""
    totals, entropy = np.zeros(statistics.shape[1]), 0.0
    for begin, end in itertools.pairwise(offsets):
        powers = [math.exp(values[row] @ weights) for row in range(begin, end)]
        for row, power in zip(range(begin, end), powers, strict=True):
            p = power / sum(powers)
            totals += p * statistics[row]
            entropy -= p * math.log(p)
    return float(metric.score(totals)), entropy / (len(offsets) - 1)


def mbr_choice(scores, texts, utility, scale):
    """Position of the hypothesis of highest expected utility; utility(i, j) is i's score with j as reference."""
    total = sum(math.exp(scale * score) for score in scores)
    expected = [
        sum(math.exp(scale * score) / total * utility(text, other) for score, other in zip(scores, texts, strict=True))
        for text in texts
    ]
    return max(range(len(texts)), key=lambda i: (expected[i], -i))
