"""Collects the facts of a run for the page of a test set: from its weights, and from the lists of the set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from rerank_adapters.analysis.explanation import explain, explanation_record
from rerank_adapters.apply import pairs_of, rerank
from rerank_adapters.chain.job import Job
from rerank_adapters.chain.tune import columns_of
from rerank_adapters.data.dataset import Dataset
from rerank_adapters.evaluation.oracle import oracle
from rerank_adapters.evaluation.result import Evaluation
from rerank_adapters.report.facts import ListLengths, RunFacts
from rerank_adapters.report.held_out import from_record
from rerank_adapters.runtime.progress import CountingBar, StatusLine
from rerank_adapters.weights import Weights
from rerank_plugins import FeatureTable
from rerank_plugins.core.arrays import LongArray

LENGTHS = (1, 2, 5)  # times powers of ten


def facts_of_tuning(weights: Weights, job: str, tuner: str) -> RunFacts:
    """What a weights file records of its tuning; `job` and `tuner` are the names that the page shows."""
    recorded = weights.provenance
    score = recorded.get("score")
    trace = zip(recorded.get("trace_restarts", []), recorded.get("trace", []), strict=True)
    return RunFacts(
        job=job,
        tuner=tuner,
        tuning_score=None if score is None else float(score),
        held_out=recorded_gain[0] if (recorded_gain := from_record(recorded)) else None,
        tuned_at=str(recorded.get("made", ""))[:16].replace("T", " "),
        curve=tuple(tuple(value for _, value in steps) for _, steps in groupby(trace, lambda step: step[0])),
    )


def with_lists_of(
    facts: RunFacts, job: Job, weights: Weights, data: Dataset, table: FeatureTable, evaluation: Evaluation
) -> RunFacts:
    """The facts with scores by length of the lists, and explanations of the segments that changed most.

    `table` has the features of the lists, `facts.system` is the name of the reranked system in the evaluation.
    """
    table = columns_of(job, weights, table)
    kept = [label for label, names in job.columns.items() if set(names) <= set(table.all_names)]
    if len(kept) < len(job.labels):  # otherwise the models that are loaded serve once more
        job = job.only(kept)
    orders = []
    if weights.decision == "map":
        ranked = rerank(pairs_of(data.lists, table), weights, None, features=job.features, form=job.format)
        orders = [rescored.order for _, rescored in ranked]
    if orders and data.with_lost is not None:
        own = dict(zip(data.ids, orders, strict=True))
        orders = [own.get(id_, [0]) for id_ in data.counted.ids]
    with StatusLine("scoring lists of each length"):
        lists = list_lengths(job, data.counted, orders)
    return replace(facts, lists=lists, explanations=_explanations(facts.system, job, weights, data, table, evaluation))


def _explanations(
    system: str, job: Job, weights: Weights, data: Dataset, table: FeatureTable, evaluation: Evaluation
) -> dict[str, object]:
    """By segment, why the new 1-best beats the decoder's, for the segments whose sentence scores changed most."""
    first = evaluation.metrics[0]
    old, new = evaluation.systems.index(evaluation.baseline), evaluation.systems.index(system)
    changes = np.subtract(first.of(system).sentence_scores, first.of(evaluation.baseline).sentence_scores)
    changed = [
        place
        for place in np.argsort(-np.abs(changes), kind="stable").tolist()
        if evaluation.segments[place].outputs[old] != evaluation.segments[place].outputs[new]
    ][: job.config.evaluation.explained]
    places = {id_: place for place, id_ in enumerate(data.ids)}
    records: dict[str, object] = {}
    with CountingBar("segments explained", len(changed)) as bar:
        for place in (places[evaluation.segments[place].segment_id] for place in changed):
            nbest = data.lists[place]
            own = table.take_segments([place])[0]
            explanation = explain(job, weights, nbest, data.references[place], own, ("best", "first"))
            record = explanation_record(explanation)
            records[nbest.segment_id] = {
                key: record[key] for key in ("a", "b", "decision", "contributions", "words", "parses")
            }
            bar.add(1)
    return records


def list_lengths(job: Job, data: Dataset, orders: Sequence[Sequence[int]]) -> ListLengths:
    """Scores by the job's first metric for n = 1, 2, 5, 10, … up to the longest list.

    `orders` (segments) have the positions of each list from best to worst, or are empty where the choice depends on
    the whole list. From a cut list, that hypothesis is chosen which comes first in the order.
    """
    measure = job.measures[0]
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
