"""The steps that extract, tune and rerank, each with what it depends on, the files that it writes, and its action."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import uuid4

from rerank_adapters.apply import pairs_of, rerank
from rerank_adapters.chain.learn import learn
from rerank_adapters.chain.run import RERANKED, TUNE, Run
from rerank_adapters.chain.steps import Step
from rerank_adapters.data.unlike import ListFacts, unlike_tuning
from rerank_adapters.evaluation.measure import Measure
from rerank_adapters.features.feature import names_of
from rerank_adapters.formats.writing import open_lists
from rerank_adapters.job.config import DataSet
from rerank_adapters.job.job import Job
from rerank_adapters.tuning.method import NAMED_STARTS
from rerank_adapters.tuning.selection import selected_columns
from rerank_adapters.weights import read_weights, write_weights
from rerank_plugins import FeatureTable, __version__, open_atomic
from rerank_plugins.core.identity import identity


def features_step(run: Run, name: str, label: str = RERANKED) -> Step:
    """Extracts the features of a data set: all of them, or those of a system that comes first."""
    job, data, table = run.systems[label], run.sets[name], run.table(name, label)
    features = job.features(name)

    def inputs() -> str:
        own: dict[str, Any] = {
            "features": [[feature.label, feature.identity] for feature in features],
            "recorded": job.record(run.folder, "feature"),
            "more": [] if all(feature.extractor.cached for feature in features) else uuid4().hex,
        }
        if data.unpaired == "leave-out":  # then the references say which lists there are
            own["references"] = files_of_references(job, data)
        return with_lists(job, data, (), own)

    def extract() -> Iterator[str]:
        lists = run.validated_tuning if name == TUNE else run.lists(name)
        run.folder.mkdir(parents=True, exist_ok=True)
        if label == next(iter(run.first), RERANKED):
            yield f"{name}: {lists.size}"
            for warning in lists.doubts:
                yield f"rerank: warning: {warning}"
        job.extraction(name).table(lists.lists, folder=run.folder).save(table)

    return Step(name, _named("features", label), inputs, [table], extract)


def weights_step(run: Run, label: str = RERANKED) -> Step:
    """Tunes the weights of a system on the tuning set."""
    job, table, weights = run.systems[label], run.table(TUNE, label), run.weights(label)

    def tune() -> Iterator[str]:
        lists = run.validated_tuning
        if label == RERANKED:
            yield from (f"rerank: warning: {TUNE}: {finding}" for finding in lists.findings)
        learnt = learn(job, lists, run.columns(TUNE, label), run.folder)
        write_weights(learnt.weights, weights)
        for line in learnt.summary:
            yield line if label == RERANKED else f"{label}: {line}"

    return Step(TUNE, _named("weights", label), lambda: of_weights(run, label), [weights], tune, [table])


def lists_step(run: Run, name: str, label: str = RERANKED) -> Step:
    """Reranks a test set with a system, and writes the 1-bests; those with all features write the lists too."""
    job, table, weights, best = run.systems[label], run.table(name, label), run.weights(label), run.best(name, label)
    ranked = [run.folder / f"{name}.nbest.gz"] if label == RERANKED else []

    def write_reranked() -> Iterator[str]:
        data, tuned = run.lists(name), read_weights(weights)
        columns = selected_columns(run.columns(name, label), names_of(job.features()), tuned.dense)
        texts: dict[str, str] = {}
        facts = ListFacts()
        with ExitStack() as files:
            lines = files.enter_context(open_atomic(best))
            lists = [files.enter_context(open_lists(path, run.job.format)) for path in ranked]
            pairs = pairs_of(data.lists, columns)
            for nbest, rescored in rerank(
                pairs, tuned, job.measures[0], features=job.features(), form=job.format, facts=facts
            ):
                texts[nbest.segment_id] = nbest[rescored.order[0]].text
                for writer in lists:
                    writer.write(nbest, rescored)
            lines.writelines(data.one_bests(texts).lines())
        if label == RERANKED and (unlike := unlike_tuning(tuned.provenance, facts)):
            yield f"rerank: warning: {name}: {unlike}"

    what = "reranked lists" if label == RERANKED else f"1-bests {label}"
    return Step(name, what, lambda: of_reranking(run, name, label), [best, *ranked], write_reranked, [weights, table])


def of_weights(run: Run, label: str = RERANKED, *more: object) -> str:
    """What tuned weights depend on: the table, the lists with their references, the metric, the tuner, and `more`."""
    job, data = run.systems[label], run.sets[TUNE]
    start = job.config.tuning.start
    own = {
        "recorded": job.record(run.folder, "feature", "metric"),
        "references": files_of_references(job, data),
        "seed": job.config.seed,
        "start": job.config.path(start) if isinstance(start, str) and start not in NAMED_STARTS else None,
        "table": run.table(TUNE, label),
        "tuner": [job.tuner, job.margin],
        "tuning": job.config.tuning.model_dump(mode="json"),
        "more": more,
    }
    return with_lists(job, data, job.measures[:1], own)


def of_reranking(run: Run, name: str, label: str = RERANKED) -> str:
    """What reranked lists depend on: the lists, their table, and the weights."""
    job, data, weights = run.systems[label], run.sets[name], run.weights(label)
    tuned = read_weights(weights)  # but not when they were tuned, which their file records
    own = {
        "references": files_of_references(job, data),  # which say how many lines the 1-bests have
        "table": run.table(name, label),
        "weights": [tuned.dense, tuned.sparse, tuned.decision, tuned.scale, tuned.evidence, tuned.margin],
    }
    return with_lists(job, data, job.measures[:1], own)


def with_lists(job: Job, data: DataSet, measures: Sequence[Measure], own: dict[str, Any]) -> str:
    """The identity of values, the lists, the format, the metrics and the code."""
    lists = [job.config.path(path) for path in data.nbest]
    source = job.config.path(data.source) if data.source else None
    metrics = [[measure.name, measure.metric, measure.text.describe()] for measure in measures]
    return identity(own, job.format, lists, source, metrics, Job, FeatureTable, __version__)


def files_of_references(job: Job, data: DataSet) -> list[Path | str]:
    """The references of a data set, and how they are read."""
    return [*map(job.config.path, data.references), data.reference_form, data.unpaired]


def _named(what: str, label: str) -> str:
    return what if label == RERANKED else f"{what} {label}"
