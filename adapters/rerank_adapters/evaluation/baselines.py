"""The baselines of n-best lists: the choices that one has without reranking.

A decoder writes its best hypothesis first, and that is the baseline. Lists that are not in the order of their totals,
such as unsorted samples of a language model, have two: their first hypotheses, which may be random ones, and those of
the highest total. Both are rows of reports, and a gain is stated against the stronger of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rerank_adapters.evaluation.measure import Measure
from rerank_plugins import NBestList
from rerank_plugins.core.arrays import LongArray

FIRST, HIGHEST_TOTAL = "1-best", "highest total"  # names of the baselines, in reports and in records


def baseline_positions(lists: Sequence[NBestList]) -> dict[str, LongArray]:
    """By the name of each baseline, the positions of its choices (lists).

    The highest total, the first one of equals, is a baseline if its text is another than that of the first hypothesis
    in any list. In a list without totals it is the first hypothesis.
    """
    totals = [nbest.totals for nbest in lists]
    highest = [0 if np.isnan(own).any() else int(own.argmax()) for own in totals]
    positions = {FIRST: np.zeros(len(lists), np.int64)}
    if any(nbest[place].text != nbest[0].text for nbest, place in zip(lists, highest, strict=True) if place):
        positions[HIGHEST_TOTAL] = np.array(highest, np.int64)
    return positions


def baseline_outputs(lists: Sequence[NBestList]) -> dict[str, list[str]]:
    """By the name of each baseline, the texts of its choices (lists)."""
    return {
        name: [nbest[place].text for nbest, place in zip(lists, positions.tolist(), strict=True)]
        for name, positions in baseline_positions(lists).items()
    }


def with_highest_total(systems: Mapping[str, Sequence[str]], lists: Sequence[NBestList]) -> dict[str, Sequence[str]]:
    """The systems and, if the highest total is a baseline of the lists, its outputs: behind the first hypotheses.

    Where no system has these as its outputs, it comes last.
    """
    baselines, rows = baseline_outputs(lists), dict[str, Sequence[str]]()
    name = f"decoder's {HIGHEST_TOTAL}" if HIGHEST_TOTAL in systems else HIGHEST_TOTAL
    for system, outputs in systems.items():
        rows[system] = outputs
        if HIGHEST_TOTAL in baselines and list(outputs) == baselines[FIRST]:
            rows.setdefault(name, baselines[HIGHEST_TOTAL])
    return {**rows, name: baselines[HIGHEST_TOTAL]} if HIGHEST_TOTAL in baselines else rows


def usual_baseline(
    systems: Mapping[str, Sequence[str]],
    lists: Sequence[NBestList],
    measure: Measure,
    references: Sequence[Sequence[str]],
    sources: Sequence[str | None] | None,
) -> str:
    """The system that others are compared with where nobody names one: the first one.

    If that is a baseline of the lists, and the other baseline is a system too, it is the one with the better corpus
    score by the measure, the first of equals.
    """
    baselines = list(baseline_outputs(lists).values())
    names = [name for name, outputs in systems.items() if list(outputs) in baselines]
    if len(baselines) == 1 or names[:1] != list(systems)[:1]:
        return next(iter(systems))
    texts = list(zip(*(systems[name] for name in names), strict=True))
    known = [None] * len(texts) if sources is None else sources
    statistics = measure.statistics(texts, references, known).reshape(len(texts), len(names), -1)
    scores = measure.metric.score(statistics.sum(axis=0))
    return names[int(np.argmax(scores if measure.metric.higher_is_better else -scores))]
