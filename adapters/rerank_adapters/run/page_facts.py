"""Collects the facts of a run for the page of a test set: from its weights, and from the lists of the set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from rerank_adapters.data.dataset import Dataset
from rerank_adapters.evaluation.baselines import FIRST, baseline_positions
from rerank_adapters.evaluation.measure import Measure
from rerank_adapters.evaluation.oracle import oracle
from rerank_adapters.features.feature import Feature
from rerank_adapters.report.explanation import explanation_record
from rerank_adapters.report.facts import ListLengths, RunFacts
from rerank_adapters.run.explain import explain
from rerank_adapters.runtime.progress import CountingBar, StatusLine
from rerank_adapters.tuning.held_out import HeldOutGain
from rerank_adapters.weights import Weights
from rerank_plugins import FeatureTable, NBestFormat, NBestList, Rescored, SentenceModel
from rerank_plugins.core.arrays import LongArray

LENGTHS = (1, 2, 5)  # times powers of ten
EXPLAINED = ("a", "b", "decision", "contributions", "words", "parses")  # keys of an explanation that the page shows


def facts_of_tuning(weights: Weights, job_name: str, tuner_name: str) -> RunFacts:
    """What a weights file records of its tuning; the page shows the names of the job and of the tuner."""
    recorded = weights.provenance
    score = recorded.get("score")
    trace = zip(recorded.get("trace_restarts", []), recorded.get("trace", []), strict=True)
    return RunFacts(
        job=job_name,
        tuner=tuner_name,
        tuning_score=None if score is None else float(score),
        held_out=HeldOutGain.of_provenance(recorded),
        tuned_at=str(recorded.get("made", ""))[:16].replace("T", " "),
        curve=tuple(tuple(value for _, value in steps) for _, steps in groupby(trace, lambda step: step[0])),
    )


def lengths_of_lists(data: Dataset, orders: Mapping[str, Rescored] | None, measure: Measure) -> ListLengths:
    """The scores of choices by length of the lists, from the new orders by id.

    `orders` are None where a choice depends on the whole list.
    """
    rows = [orders[id_].order if id_ in orders else [0] for id_ in data.counted.ids] if orders else []
    with StatusLine("scoring lists of each length"):
        return list_lengths(measure, data.counted, rows)


def explanations_of(
    segments: Mapping[str, tuple[NBestList, FeatureTable, Rescored]],
    data: Dataset,
    baseline: str,
    *,
    weights: Weights,
    features: Sequence[Feature],
    measures: Sequence[Measure],
    form: NBestFormat,
    models: Mapping[str, SentenceModel],
) -> dict[str, object]:
    """By id, records of why new 1-bests beat those of a baseline; `segments` have their features and new orders."""
    positions = dict(zip(data.ids, baseline_positions(data.lists)[baseline], strict=True))
    references = dict(zip(data.ids, data.references, strict=True))
    explanations: dict[str, object] = {}
    kept = [feature for feature in features if weights.dense.keys() >= set(feature.names)]
    with CountingBar("segments explained", len(segments)) as bar:
        for id_, known in segments.items():
            explanation = explain(
                *known,
                references[id_],
                ("best", "first" if baseline == FIRST else str(positions[id_] + 1)),
                weights=weights,
                features=kept,
                measures=measures,
                form=form,
                models=models,
            )
            if baseline != FIRST:
                explanation = replace(explanation, second=replace(explanation.second, name=baseline))
            record = explanation_record(explanation)
            explanations[id_] = {key: record[key] for key in EXPLAINED}
            bar.add(1)
    return explanations


def list_lengths(measure: Measure, data: Dataset, orders: Sequence[Sequence[int]]) -> ListLengths:
    """Scores by a metric for n = 1, 2, 5, 10, … up to the longest list.

    `orders` (segments) have the positions of each list from best to worst, or are empty where the choice depends on
    the whole list. From a cut list, that hypothesis is chosen which comes first in the order.
    """
    statistics = measure.statistics([nbest.texts for nbest in data.lists], data.references, data.sources)
    sizes = np.array([len(nbest) for nbest in data.lists])
    starts = np.concatenate([[0], np.cumsum(sizes)])[:-1]
    lengths = lengths_up_to(int(sizes.max()))
    best, reranked = [], []
    for length in lengths:
        kept = np.minimum(sizes, length)
        rows = np.concatenate([np.arange(start, start + size) for start, size in zip(starts, kept, strict=True)])
        offsets: LongArray = np.concatenate([[0], np.cumsum(kept)]).astype(np.int64)
        best.append(oracle(statistics[rows], offsets, measure.metric).score)
        if len(orders):
            chosen = [
                start + next(position for position in order if position < length)
                for start, order in zip(starts.tolist(), orders, strict=True)
            ]
            reranked.append(float(measure.metric.score(statistics[chosen].sum(0))))
    return ListLengths(lengths, tuple(best), tuple(reranked))


def lengths_up_to(longest: int) -> tuple[int, ...]:
    """1, 2, 5, 10, … below `longest`, and `longest`.

    >>> lengths_up_to(30)
    (1, 2, 5, 10, 20, 30)
    """
    marks = (factor * 10**power for power in range(len(str(longest))) for factor in LENGTHS)
    return (*(mark for mark in marks if mark < longest), longest)
