"""Writes the parts of a page that show how a result came about: contributions, tuning, lengths of lists, weights."""

from __future__ import annotations

from collections.abc import Iterator

from rerank_adapters.evaluation.significance import Interval
from rerank_adapters.report import numbers
from rerank_adapters.report.page import figure, table_part
from rerank_adapters.report.run_facts import RunFacts
from rerank_adapters.report.svg import Row, interval_rows, lines
from rerank_adapters.report.tables import contribution_table, noise

WEIGHTS = 20  # features that are drawn; the largest parts come first


def facts_parts(facts: RunFacts, metric: str) -> Iterator[str]:
    """The parts for all that is known; none of an evaluation without a run."""
    drawings = [
        *_contributions(facts, metric),
        *_weights(facts),
        *_list_lengths(facts, metric),
        *_curve(facts, metric),
    ]
    if drawings:
        yield '<h2>How it came about</h2><div class="flow">'
        yield from drawings
        yield "</div>"
    if facts.contributions is not None:
        table = table_part(contribution_table(facts.contributions, metric), heading=False)
        yield f"<details><summary>Contribution of each family, as a table</summary>{table}</details>"


def _contributions(facts: RunFacts, metric: str) -> Iterator[str]:
    if facts.contributions is not None:
        rows = [
            Row(
                row.family,
                row.loss,
                Interval(row.loss - row.half_width, row.loss + row.half_width),
                f"{row.loss:+.2f}",
                ("good" if row.loss > 0 else "bad") if row.certain else "s5",
            )
            for row in sorted(facts.contributions.rows, key=lambda row: -row.loss)
        ]
        folds = facts.contributions.folds
        caption = (
            f"How much worse choices on {folds} held-out folds of the tuning lists are without each family, or without"
            f" several that stand in for each other. Lines are 95 % intervals. {noise(facts.contributions)}"
        )
        yield figure(interval_rows(rows, f"{metric} lost without it"), caption, "Contribution of each family")


def _weights(facts: RunFacts) -> Iterator[str]:
    shown = sorted(facts.weights, key=lambda weight: -abs(weight.share))[:WEIGHTS]
    if shown:
        rows = [Row(weight.feature, weight.share, weight.interval, f"{weight.weight:.4g}") for weight in shown]
        caption = "Right of each name is its raw weight; the dot is weight × deviation within lists."
        if facts.samples:
            caption += f" Lines are 95 % intervals from {facts.samples} resampled tuning sets."
        if len(shown) < len(facts.weights):
            caption += f" The {len(facts.weights) - len(shown)} other features have smaller parts."
        yield figure(interval_rows(rows, "deviations of the whole score"), caption, "Feature weights")


def _list_lengths(facts: RunFacts, metric: str) -> Iterator[str]:
    lists = facts.lists
    if lists is not None and len(lists.lengths) > 1:
        series = {"oracle": list(zip(lists.lengths, lists.oracle, strict=True))}
        if lists.reranked:
            series["reranked"] = list(zip(lists.lengths, lists.reranked, strict=True))
        caption = "The best choice from the first n hypotheses of each list, and the choice by the tuned weights."
        drawn = lines(series, "first n hypotheses (log scale)", metric, logarithmic=True)
        yield figure(drawn, caption, "Score against n")


def _curve(facts: RunFacts, metric: str) -> Iterator[str]:
    runs = [scores for scores in facts.curve if len(scores) > 1]
    if runs:
        names = [f"restart {number}" for number in range(1, len(runs) + 1)] if len(runs) > 1 else ["tuning"]
        series = {
            name: [(float(i), score) for i, score in enumerate(scores, 1)]
            for name, scores in zip(names, runs, strict=True)
        }
        score = "" if facts.tuning_score is None else f" It ends with {numbers.score(facts.tuning_score)}."
        yield figure(lines(series, "iteration", metric), f"{metric} on the tuning set.{score}", "Tuning curve")
