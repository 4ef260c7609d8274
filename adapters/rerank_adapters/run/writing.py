"""What the stages of a run write: tables, weights, lists, analyses of the weights, and reports.

Each function has the paths of its outputs as last positional arguments, and may yield lines for the user.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
from pydantic import TypeAdapter

from rerank_adapters.apply import pairs_of, rerank
from rerank_adapters.data.dataset import Dataset
from rerank_adapters.data.unlike import ListFacts, unlike_tuning
from rerank_adapters.evaluation import SegmentFacts, evaluate, most_changed
from rerank_adapters.evaluation.baselines import FIRST, with_highest_total
from rerank_adapters.evaluation.measure import Measure
from rerank_adapters.features.processes import Processes
from rerank_adapters.formats.writing import open_lists
from rerank_adapters.job.job import RERANKED, TUNE, Job
from rerank_adapters.report.page import html_page
from rerank_adapters.run.learn import learn, tuning_problem
from rerank_adapters.run.page_facts import explanations_of, facts_of_tuning, lengths_of_lists
from rerank_adapters.run.sets import Sets
from rerank_adapters.runtime.progress import CountingBar, StatusLine
from rerank_adapters.tuning.families import Contributions, Trials, contributions, families_of, fast_tuner
from rerank_adapters.tuning.weight_intervals import WeightIntervals, resampled_weights, weight_intervals
from rerank_adapters.weights import read_weights, write_weights
from rerank_plugins import FeatureTable, FloatArray, Rescored, open_atomic


def write_features(system: Job, sets: Sets, set_: str, says_size: bool, path: Path) -> Iterator[str]:
    """Write the table of a set's features; with `says_size`, say first what was read."""
    data = sets.checked_tuning_set() if set_ == TUNE else sets[set_]
    if says_size:
        yield f"{set_}: {data.size}"
        yield from (f"rerank: warning: {doubt}" for doubt in data.doubts if doubt not in sets.said)
        sets.said.update(data.doubts)
    path.parent.mkdir(parents=True, exist_ok=True)  # now that the lists and settings are known to be right
    extraction = replace(system.extraction(set_), warned=sets.warned)
    extraction.table(data.lists, folder=path.parent).save(path)


def write_tuned(system: Job, sets: Sets, table: Path, path: Path) -> Iterator[str]:
    """Write the weights that a system tunes on the features in a table."""
    data, whole = sets.checked_tuning_set(), system.name == RERANKED
    if whole:
        yield from (f"rerank: warning: {TUNE}: {finding}" for finding in data.findings)
    learnt = learn(system, data, FeatureTable.load(table), path.parent)
    write_weights(learnt.weights, path)
    yield from (line if whole else f"{system.name}: {line}" for line in learnt.summary)


def write_lists(
    system: Job, sets: Sets, set_: str, table: Path, weights: Path, best: Path, *ranked: Path
) -> Iterator[str]:
    """Write the new 1-bests of a test set and, where a third file is named, its reranked lists.

    The orders of the system with all features stay in memory, for the report of the set.
    """
    data, tuned, facts = sets[set_], read_weights(weights), ListFacts()
    pairs, form = pairs_of(data.lists, FeatureTable.load(table)), system.format
    texts, orders = dict[str, str](), dict[str, Rescored]()
    with ExitStack() as files:
        lines = files.enter_context(open_atomic(best))
        writers = [files.enter_context(open_lists(path, form)) for path in ranked]
        features = system.features(set_)
        for nbest, rescored in rerank(pairs, tuned, system.measures[0], features=features, form=form, facts=facts):
            texts[nbest.segment_id] = nbest[rescored.order[0]].text
            orders[nbest.segment_id] = rescored._replace(names=(), values=np.empty((len(nbest), 0)))
            for writer in writers:
                writer.write(nbest, rescored)
        lines.writelines(data.one_bests(texts).lines())
    if system.name == RERANKED:
        sets.orders[set_] = orders
        if unlike := unlike_tuning(tuned.provenance, facts):
            yield f"rerank: warning: {set_}: {unlike}"


def write_contributions(
    job: Job, sets: Sets, folds: int, together: Mapping[str, Sequence[str]], table: Path, weights: Path, path: Path
) -> None:
    """Write what each family of features contributes to the weights, on so many folds; null for fewer than two folds.

    There are no more folds than lists.
    """
    data, (job, own, tuned) = sets.checked_tuning_set(), _tuned(job, table, weights)
    folds, families, found = min(folds, own.segments), families_of(own, job.features()), None
    present = {name: [label for label in labels if label in families] for name, labels in together.items()}
    if folds > 1 and len(families) > 1:
        problem, start = tuning_problem(job, data, own)
        seeds, processes = (job.config.seed,), Processes(job.config.jobs)
        with StatusLine("measuring what each feature contributes"):
            trials = Trials(problem, families, fast_tuner(job.tuner), start, folds, seeds, processes)
            together = {name: labels for name, labels in present.items() if len(labels) > 1}
            found = contributions(trials, tuned, together)
    with open_atomic(path) as stream:
        stream.write(json.dumps(None if found is None else asdict(found), ensure_ascii=False, indent=1) + "\n")


def read_contributions(path: Path) -> Contributions | None:
    """The contributions that `write_contributions` has written."""
    return TypeAdapter(Contributions | None).validate_json(path.read_bytes())


def write_intervals(job: Job, sets: Sets, samples: int, table: Path, weights: Path, path: Path) -> None:
    """Write the intervals of the weights over so many resampled sets of lists.

    These are tuned by the job's tuner, quick where it can be: bags would resample what is resampled already.
    """
    data, (job, own, tuned) = sets.checked_tuning_set(), _tuned(job, table, weights)
    drawn = np.empty((0, len(tuned)))
    if samples:
        (problem, start), tuner, seed = tuning_problem(job, data, own), job.tuner.quick() or job.tuner, job.config.seed
        with CountingBar("tunings on resampled lists", samples) as bar:
            drawn = resampled_weights(problem, tuner, start, samples, seed, Processes(job.config.jobs), bar.add)
    found = weight_intervals(own, tuned, drawn)
    with open_atomic(path) as stream:
        stream.write(json.dumps(asdict(found), ensure_ascii=False, indent=1) + "\n")


def read_intervals(path: Path) -> WeightIntervals:
    """The intervals that `write_intervals` has written."""
    return TypeAdapter(WeightIntervals).validate_json(path.read_bytes())


def _tuned(job: Job, table: Path, weights: Path) -> tuple[Job, FeatureTable, FloatArray]:
    """The job and the table without the features that a selection has left out, for which there are no weights; and
    the tuned weights in the order of the table.
    """
    own, tuned = FeatureTable.load(table), read_weights(weights)
    gone = [feature.label for feature in job.features() if not tuned.dense.keys() >= set(feature.names)]
    if gone:
        left_out = {name for label in gone for name in job.feature(label).names}
        kept = [column for column, name in enumerate(own.names) if name not in left_out]
        own = replace(own, names=tuple(own.names[column] for column in kept), values=own.values[:, kept])
        job = job.without(gone)
    return job, own, np.asarray(tuned.vector_for(own))


def write_report(
    job: Job,
    sets: Sets,
    set_: str,
    name: str,
    best: Mapping[str, Path],
    as_json: Path,
    page: Path,
    *,
    table: Path,
    weights: Path,
    contributions: Path,
    intervals: Path,
) -> Iterator[str]:
    """Write the comparison of the systems, whose 1-bests are in files, with the references: JSON, and a page."""
    data, settings = sets[set_], job.config.evaluation
    yield from (f"rerank: warning: {set_}: {finding}" for finding in data.findings)
    counted, outputs = data.counted, outputs_of(data, best)
    with StatusLine(f"evaluating {set_}"):
        evaluation = evaluate(
            with_highest_total({FIRST: counted.first_best, **outputs}, counted.lists),
            counted.references,
            job.measures,
            settings.resampling(job.config.seed),
            SegmentFacts(counted.ids, counted.sources, counted.groups, counted.lists),
            pairs=[(RERANKED, system) for system in outputs if system != RERANKED],
        )
    tuned = read_weights(weights)
    pairs = {pair[0].segment_id: pair for pair in pairs_of(data.lists, FeatureTable.load(table))}
    explained = [
        change.segment.segment_id
        for change in most_changed(evaluation, evaluation.metrics[0], RERANKED, settings.explained)
    ]
    features, form, by_weight = job.features(set_), job.format, tuned.decision == "map"
    orders = sets.orders.get(set_)
    if orders is None:  # the lists are as an earlier run has written them
        shown = [pairs[id_] for id_ in (pairs if by_weight else explained)]
        ranked = rerank(shown, tuned, job.measures[0], features=features, form=form)
        orders = {nbest.segment_id: rescored for nbest, rescored in ranked}
    facts = replace(
        facts_of_tuning(tuned, name, job.tuner_name),
        system=RERANKED,
        contributions=read_contributions(contributions),
        weights=read_intervals(intervals),
        lists=lengths_of_lists(data, orders if by_weight else None, job.measures[0]),
        explanations=explanations_of(
            {id_: (*pairs[id_], orders[id_]) for id_ in explained},
            data,
            evaluation.baseline,
            weights=tuned,
            features=features,
            measures=job.measures,
            form=form,
            models=job.language_models,
        ),
    )
    title = f"{name} · {set_}" if name else set_
    for path, text in ((as_json, evaluation.to_json()), (page, html_page(evaluation, title, facts=facts))):
        with open_atomic(path) as stream:
            stream.write(text)


def outputs_of(data: Dataset, best: Mapping[str, Path]) -> dict[str, list[str]]:
    """By system, the 1-bests in its file, in the order of the segments that count."""
    form = data.one_bests(dict.fromkeys(data.ids, ""))
    read = {system: form.read(path.read_bytes().decode().split("\n")[:-1]) for system, path in best.items()}
    return {system: [texts.get(id_, "") for id_ in data.counted.ids] for system, texts in read.items()}


def score_lines(data: Dataset, outputs: Mapping[str, Sequence[str]], measures: Sequence[Measure]) -> Iterator[str]:
    """A line with the scores of the decoder, and one for each system."""
    rows = with_highest_total({FIRST: data.first_best, **outputs}, data.lists)
    for system, texts in rows.items():
        scores = []
        for measure in measures:
            statistics = measure.statistics([[text] for text in texts], data.references, data.sources)
            scores.append(f"{measure.name} {measure.metric.score(statistics.sum(axis=0)):.2f}")
        yield f"  {system:<{max(map(len, rows))}}  {'  '.join(scores)}"
