"""The drawings of a page: differences between systems, what drives the result, and scores by length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rerank_adapters.evaluation.result import Evaluation, MetricResult, SystemScore
from rerank_adapters.report import numbers
from rerank_adapters.report.facts import RunFacts
from rerank_adapters.report.held_out import by_gain, is_certain, noise
from rerank_adapters.report.svg import Row, grouped_bars, interval_rows, lines
from rerank_adapters.tuning.families import Trial

MAX_WEIGHTS = 20  # features that are drawn; those with the largest parts come first


class Figure(NamedTuple):
    """A drawing with a heading above it and a caption below; `drawing` is an SVG element."""

    heading: str
    drawing: str
    caption: str = ""


def differences(evaluation: Evaluation) -> Iterator[Figure]:
    """For each metric a row per system: the difference to the baseline with its interval."""
    for metric in evaluation.metrics:
        rows = [row for scores in metric.systems for row in _difference(metric, scores)]
        if rows:
            better = "right" if metric.higher_is_better else "left"
            caption = f"Lines are 95 % intervals; better is to the {better}." if evaluation.bootstrap else ""
            yield Figure(metric.name, interval_rows(rows, f"difference in {metric.name}"), caption)


def _difference(metric: MetricResult, scores: SystemScore) -> Iterator[Row]:
    compared = scores.comparison
    if compared is not None:
        certain = "good" if metric.gain(compared.difference) > 0 else "bad"
        kind = certain if compared.stars else "s0"
        yield Row(scores.system, compared.difference, compared.interval, numbers.difference(compared), kind)


def drivers(facts: RunFacts, metric: str) -> Iterator[Figure]:
    """The drivers of the result, as far as they are known: families, weights, lengths of lists, the tuning."""
    yield from _contributions(facts, metric)
    yield from _weights(facts)
    yield from _list_lengths(facts, metric)
    yield from _curve(facts, metric)


def _contributions(facts: RunFacts, metric: str) -> Iterator[Figure]:
    found = facts.contributions
    if found is not None:
        rows = [_contribution(row) for row in by_gain(found.rows)]
        caption = (
            f"The loss on {found.folds} held-out folds of the tuning lists without each family, or without several that"
            f" can replace each other. Lines are 95 % intervals. {noise(found)}"
        )
        yield Figure("Contribution of each family", interval_rows(rows, f"{metric} lost without it"), caption)


def _contribution(row: Trial) -> Row:
    kind = ("good" if row.gain.value > 0 else "bad") if is_certain(row) else "s5"
    return Row(row.family, row.gain.value, row.gain.interval, f"{row.gain.value:+.2f}", kind)


def _weights(facts: RunFacts) -> Iterator[Figure]:
    shown = sorted(facts.weights.rows, key=lambda weight: -abs(weight.part))[:MAX_WEIGHTS]
    if shown:
        rows = [Row(weight.feature, weight.part, weight.interval, f"{weight.weight:.4g}") for weight in shown]
        caption = "Numbers are raw weights; dots are weight × deviation within lists."
        if facts.weights.samples:
            caption += f" Lines are 95 % intervals from {facts.weights.samples} resampled tuning sets."
        if len(shown) < len(facts.weights.rows):
            caption += f" The {len(facts.weights.rows) - len(shown)} other features have smaller parts."
        yield Figure("Feature weights", interval_rows(rows, "deviations of the whole score"), caption)


def _list_lengths(facts: RunFacts, metric: str) -> Iterator[Figure]:
    lists = facts.lists
    if lists is not None and len(lists.lengths) > 1:
        scores = {"oracle": lists.oracle, **({"reranked": lists.reranked} if lists.reranked else {})}
        series = {name: list(zip(lists.lengths, values, strict=True)) for name, values in scores.items()}
        caption = "The best choice from the first n hypotheses of each list, and the choice by the tuned weights."
        drawn = lines(series, "first n hypotheses (log scale)", metric, logarithmic=True)
        yield Figure("Score against n", drawn, caption)


def _curve(facts: RunFacts, metric: str) -> Iterator[Figure]:
    runs = [scores for scores in facts.curve if len(scores) > 1]
    if runs:
        names = [f"restart {number}" for number in range(1, len(runs) + 1)] if len(runs) > 1 else ["tuning"]
        series = {name: list(enumerate(scores, 1)) for name, scores in zip(names, runs, strict=True)}
        score = "" if facts.tuning_score is None else f" The final score is {numbers.score(facts.tuning_score)}."
        yield Figure("Tuning curve", lines(series, "iteration", metric), f"{metric} on the tuning set.{score}")


def lengths(evaluation: Evaluation) -> Iterator[Figure]:
    """For each metric the scores of all systems by the length of the reference."""
    labels = [bucket.label for bucket in evaluation.buckets]
    for metric in evaluation.metrics:
        series = {scores.system: scores.bucket_scores for scores in metric.systems}
        yield Figure(metric.name, grouped_bars(labels, series, "words of the reference", metric.name))
