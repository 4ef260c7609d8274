"""Writes scores, differences, intervals and p-values as text, in the same form in every report."""

from __future__ import annotations

from typing import Literal

from rerank_adapters.evaluation.baselines import HIGHEST_TOTAL
from rerank_adapters.evaluation.comparisons import Comparison
from rerank_adapters.evaluation.result import Evaluation, MetricResult, SystemScore


def score(value: float) -> str:
    """As `46.31`."""
    return f"{value:.2f}"


def score_with_interval(system: SystemScore) -> str:
    """As `46.31 ±1.92`; without the interval where there was no bootstrap."""
    interval = "" if system.interval is None else f" ±{system.interval.half_width:.2f}"
    return score(system.score) + interval


def difference(comparison: Comparison) -> str:
    """As `+0.65**`."""
    return f"{comparison.difference:+.2f}{comparison.stars}"


def p_values(comparison: Comparison) -> str:
    """As `p .012 .009`: of the paired bootstrap, then of approximate randomisation; only of tests that were run."""
    values = [p_value(p) for p in (comparison.bootstrap_p, comparison.randomisation_p) if p is not None]
    return f"p {' '.join(values)}" if values else ""


def p_value(p: float) -> str:
    """As `.012`, `<.001` or `1`."""
    return "<.001" if p < 0.001 else "1" if p > 0.9995 else f"{p:.3f}".removeprefix("0")


def oracle_bound(metric: MetricResult, which: Literal["best", "worst"]) -> str:
    """As `71.02` where it is exact, as `≥ 71.02` where it is the result of a search; empty without an oracle."""
    if metric.oracle is None:
        return ""
    value = metric.oracle.best if which == "best" else metric.oracle.worst
    sign = "≥ " if metric.higher_is_better == (which == "best") else "≤ "
    return (sign if metric.oracle.kind == "search" else "") + score(value)


def legend(evaluation: Evaluation) -> list[str]:
    """Sentences that explain the numbers of a table of scores, and lines with the settings that made them."""
    lines = [f"Differences are to {evaluation.baseline}."] if len(evaluation.systems) > 1 else []
    if HIGHEST_TOTAL in evaluation.systems:
        lines.append(
            "The lists are not in the order of their totals, so that the hypothesis of the highest total is a baseline "
            "besides the first one."
        )
    if evaluation.bootstrap:
        resamples = f"{evaluation.bootstrap} bootstrap resamples"
        lines.append(f"± and [ ] are 95 % intervals of scores and differences, from {resamples}.")
    if evaluation.unit == "groups" and lines:
        lines.append("Resamples are drawn of whole groups, and trials swap whole groups.")
    tests = ["the paired bootstrap"] if evaluation.bootstrap else []
    tests += [f"approximate randomisation ({evaluation.randomisation} trials)"] if evaluation.randomisation else []
    if tests and len(evaluation.systems) > 1:
        lines += [f"The p-values are those of {', and then of '.join(tests)}.", evaluation.rule_of_stars]
    if any(metric.oracle and metric.oracle.kind == "search" for metric in evaluation.metrics):
        lines.append("≥ and ≤ mark oracles that a search found: the true ones may lie further out.")
    lines += [f"{metric.name}: {metric.signature}" for metric in evaluation.metrics]
    lines.append(f"rerank-plugins {evaluation.version} evaluated {len(evaluation.segments)} segments.")
    return lines
