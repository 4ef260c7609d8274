"""Slow obvious twins: resampling with loops, the oracle by trying every choice, and metrics to try them on."""

from __future__ import annotations

import itertools

import numpy as np

from rerank_plugins.core.metrics_and_tuners import Metric


class WordErrors(Metric):
    """Words that differ from the reference's at the same place, in percent: decomposes, lower is better."""

    higher_is_better = False
    decomposes = True

    def statistics(self, hypotheses, references):
        rows = []
        for texts, refs in zip(hypotheses, references, strict=True):
            gold = refs[0].split()
            for text in texts:
                pairs = itertools.zip_longest(text.split(), gold)
                rows.append([sum(a != b for a, b in pairs), len(gold)])
        return np.array(rows, float).reshape(-1, 2)

    def score(self, totals):
        return 100 * totals[..., 0] / np.maximum(totals[..., 1], 1)

    def sentence_scores(self, statistics):
        return self.score(statistics)

    def signature(self):
        return "naive:word-errors"


class WordF(Metric):
    """Micro-averaged F1 of distinct words, in percent: does not decompose, higher is better."""

    def statistics(self, hypotheses, references):
        rows = []
        for texts, refs in zip(hypotheses, references, strict=True):
            gold = set(refs[0].split())
            rows += [[len(set(text.split()) & gold), len(set(text.split())), len(gold)] for text in texts]
        return np.array(rows, float).reshape(-1, 3)

    def score(self, totals):
        return 200 * totals[..., 0] / np.maximum(totals[..., 1] + totals[..., 2], 1)

    def sentence_scores(self, statistics):
        return self.score(statistics)

    def signature(self):
        return "naive:word-f"


class Sacrebleu(Metric):
    """A metric of sacrebleu, row after row through its own methods."""

    def __init__(self, metric, higher_is_better=True):
        self.metric, self.higher_is_better = metric, higher_is_better

    def statistics(self, hypotheses, references):
        rows = []
        for texts, refs in zip(hypotheses, references, strict=True):
            streams = [[ref] * len(texts) for ref in refs]
            rows += self.metric._extract_corpus_statistics(texts, streams)
        return np.array(rows, float)

    def score(self, totals):
        rows = totals.reshape(-1, totals.shape[-1])
        scores = [self.metric._compute_score_from_stats(list(row)).score for row in rows]
        return np.array(scores).reshape(totals.shape[:-1])

    def sentence_scores(self, statistics):
        return self.score(statistics)

    def signature(self):
        return str(self.metric.get_signature())


def bootstrap_scores(statistics, samples, metric, rng):
    """One resample after the other, one segment after the other."""
    drawn = rng.choice(len(statistics), size=(samples, len(statistics)), replace=True)
    return np.array([float(metric.score(sum(statistics[s] for s in row))) for row in drawn])


def randomised_differences(baseline, system, trials, metric, rng):
    """One trial after the other: swap, sum, score, subtract."""
    swaps = rng.integers(2, size=(trials, len(baseline)), dtype=bool)
    differences = []
    for swap in swaps:
        one = sum(b if swapped else s for b, s, swapped in zip(baseline, system, swap, strict=True))
        other = sum(s if swapped else b for b, s, swapped in zip(baseline, system, swap, strict=True))
        differences.append(float(metric.score(one) - metric.score(other)))
    return np.array(differences)


def every_choice(statistics, offsets, metric):
    """Corpus scores of every way to choose one row a segment."""
    lists = [range(i, j) for i, j in itertools.pairwise(offsets)]
    return [float(metric.score(statistics[list(rows)].sum(0))) for rows in itertools.product(*lists)]


def sorted_rows(scores, start, end):
    """Positions in a list, highest score first."""
    return sorted(range(end - start), key=lambda row: (-scores[start + row], row))
