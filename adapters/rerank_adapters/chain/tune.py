"""Tunes the weights of a job, and records in them how they were made and what they gain on lists that were held out.

Features belong to families: the decoder's, and each feature of the config with all its columns. Tuning is tried on one
list before the extraction (`validate_tuning`), and tuners are cross-validated beside baselines that need no tuning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from rerank_adapters.apply import SELECTION, TOTALS
from rerank_adapters.chain.tuning import held_out_score, prepare, record, start_vector, take_features, tune
from rerank_adapters.chain.tuning.cross_validation import CrossValidation, cross_validate
from rerank_adapters.chain.tuning.held_out_gain import held_out, held_out_leads, raw_margin, usual_folds
from rerank_adapters.chain.tuning.selection import Selecting, Selection
from rerank_adapters.chain.tuning.texts_of_lists import TextsOfLists
from rerank_adapters.data.dataset import Dataset
from rerank_adapters.data.overlap import SEGMENTS, segment_sample
from rerank_adapters.data.unlike import LISTS, ListFacts
from rerank_adapters.features.extraction import RECORDED
from rerank_adapters.features.feature import names_of
from rerank_adapters.features.tables import check_same_lists
from rerank_adapters.job.job import Job
from rerank_adapters.metrics.sacrebleu_conventions import full_signature
from rerank_adapters.report.facts import HeldOut
from rerank_adapters.report.held_out import HELD_OUT, as_record, held_out_lines
from rerank_adapters.runtime.progress import CountingBar, StatusLine
from rerank_adapters.tuners.mira import Mira
from rerank_adapters.weights import Weights, made_at, read_weights
from rerank_plugins import ConfigError, FeatureTable, FloatArray, Tuner, TuningData, TuningResult, TuningStep

DECODER = "decoder"
NAMED_STARTS = ("uniform", "decoder")  # other starts are tables or files of weights
TOGETHER = 20_000  # hypotheses whose statistics are counted at a time


def families(job: Job, table: FeatureTable) -> dict[str, list[str]]:
    """The columns of the table by family: those of the decoder, then those of each feature, by its label."""
    names = set(names_of(job.features()))
    decoder = [name for name in table.all_names if name not in names]
    return {**({DECODER: decoder} if decoder else {}), **{own.label: list(own.names) for own in job.features()}}


def fast_tuner(tuner: Tuner) -> Tuner:
    """The tuner that measures families in place of this one: itself where it can be quick, otherwise MIRA."""
    return tuner.quick() or Mira()


def selection_of(job: Job, data: TuningData, start: FloatArray) -> Selection:
    """The families that a selection keeps beside the decoder's, by the settings of the job."""
    with CountingBar("tuned folds") as bar:
        return _selecting(job, job.tuner, data.table).select(data, start, job.config.seed, bar.add)


def selecting(job: Job, tuner: Tuner, table: FeatureTable) -> Tuner:
    """The tuner itself, or, where the job selects families, one that does so before it tunes."""
    return _selecting(job, tuner, table) if job.config.tuning.select else tuner


def _selecting(job: Job, tuner: Tuner, table: FeatureTable) -> Selecting:
    settings, by_family = job.config.tuning, families(job, table)
    folds, margin = settings.select_folds, settings.select_margin
    return Selecting(tuner, fast_tuner(tuner), by_family, [DECODER], folds, margin, jobs=job.config.jobs)


def columns_of(job: Job, weights: Weights, table: FeatureTable) -> FeatureTable:
    """The table without the features of the job that a selection has left out, for which there are no weights."""
    left_out = {*names_of(job.features())} - weights.dense.keys()
    kept = [i for i, name in enumerate(table.names) if name not in left_out]
    if len(kept) == len(table.names):
        return table
    return replace(table, names=tuple(table.names[i] for i in kept), values=np.asarray(table.values[:, kept]))


def tuning_data(job: Job, data: Dataset, table: FeatureTable) -> TuningData:
    """What the tuner sees: the feature table, and the statistics of the job's first metric for each hypothesis."""
    measure = job.measures[0]
    if not any(hypothesis.text.strip() for nbest in data.lists for hypothesis in nbest):
        raise ConfigError("all hypotheses of the tuning lists are empty: there is nothing to choose from")
    sources = data.sources
    parts = [
        measure.statistics([nbest.texts for nbest in data.lists[part]], data.references[part], sources[part])
        for part in _parts([len(nbest) for nbest in data.lists])
    ]
    settings = job.config.tuning
    return prepare(
        table,
        np.concatenate(parts),
        measure.metric,
        hypotheses=TextsOfLists(measure.text, data.lists),
        sources=sources,
        fixed=settings.fixed,
        lower=settings.lower,
        upper=settings.upper,
    )


def _parts(lengths: Sequence[int]) -> Iterator[slice]:
    """Consecutive lists with some thousand hypotheses together, whose texts are held at a time."""
    begin = rows = 0
    for end, length in enumerate(lengths, 1):
        rows += length
        if rows >= TOGETHER or end == len(lengths):
            yield slice(begin, end)
            begin, rows = end, 0


def named_start(job: Job, tuner: Tuner) -> str | Mapping[str, float]:
    """Where the config has a tuner start: what it names, or else the usual start of the tuner."""
    start = job.config.tuning.start
    return tuner.usual_start if start is None else start


def start_weights(
    job: Job,
    data: Dataset,
    table: FeatureTable,
    start: str | Mapping[str, float] | None = None,
    *,
    tuner: Tuner | None = None,
) -> FloatArray:
    """The start vector of a tuner (the job's where none is given): uniform, the decoder's, of a table, or of a file.

    `start` is taken instead of `named_start`, if given. Extracted features that a weights file lacks, as a file of
    decoder weights does, start from 0. So do all features where the lists have none of the decoder's and its weights
    are only the usual start.
    """
    extracted = set(names_of(job.features()))
    decoder = [name for name in table.names if name not in extracted]
    if start is None:
        start = named_start(job, tuner or job.tuner)
        if start == "decoder" and job.config.tuning.start is None and not decoder and not table.sparse.names:
            return np.zeros(len(table.names))
    if isinstance(start, str) and start not in NAMED_STARTS:
        weights = read_weights(job.config.path(Path(start)))
        new = {name: 0.0 for name in names_of(job.features()) if name not in weights.dense}
        return replace(weights, dense={**weights.dense, **new}).vector_for(table)
    totals = np.concatenate([nbest.totals for nbest in data.lists])
    return start_vector(table, start, totals, decoder_features=decoder)


def baseline_weights(job: Job, data: Dataset, table: FeatureTable) -> dict[str, FloatArray]:
    """Weights that need no tuning: those of the 1-best, equal ones, and the decoder's where its totals determine them.

    The decoder's 1-best is what weights of zero choose: all hypotheses tie, and the first of equals wins.
    """
    equal = start_weights(job, data, table, "uniform")
    baselines = {"1-best": np.zeros_like(equal), "equal weights": equal}
    with suppress(ConfigError):  # lists without totals, or totals that are no weighted sum of the features
        baselines["decoder's weights"] = start_weights(job, data, table, "decoder")
    return baselines


@dataclass(frozen=True, repr=False)
class TuningOutcome:
    """Tuned weights, the tuner's result, and lines that compare their score with those of the baselines.

    `selection` is that of features before the tuning, where the config wants one; `held_out` is the gain over the
    1-bests on held-out lists, None where it was not measured.
    """

    weights: Weights
    result: TuningResult
    summary: tuple[str, ...]
    selection: Selection | None = None
    held_out: HeldOut | None = None

    def __repr__(self) -> str:
        """The lines that a command prints of a tuning."""
        return "\n".join(self.summary)


def learn(job: Job, data: Dataset, table: FeatureTable, folder: Path) -> TuningOutcome:
    """Tune on the lists. The provenance of the weights names files relative to `folder`, where they will be written.

    Raises ConfigError where lists and table do not belong together, and for wrong settings of the tuning.
    """
    check_same_lists(data.lists, table)
    with StatusLine(f"counting the statistics of {job.measures[0].name}"):
        problem = tuning_data(job, data, table)
    start = start_weights(job, data, table)
    settings, whole = job.config.tuning, (job, problem, start)
    selection = selection_of(job, problem, start) if settings.select else None
    if selection is not None:
        by_family = families(job, table)
        left_out = [name for family in selection.left_out for name in by_family[family]]
        kept = np.array([name not in left_out for name in table.names])
        job, start = job.without(selection.left_out), start[np.append(kept, np.ones(len(table.sparse.names), bool))]
        problem = take_features(problem, kept)
        table = problem.table
    measure = job.measures[0]
    with StatusLine("tuning") as line:

        def show(step: TuningStep) -> None:
            line(f"tuning: restart {step.restart}, iteration {step.iteration}, {measure.name} {step.score:.2f}")

        result = tune(problem, job.tuner, start, seed=job.config.seed, report=show)
    held = measured_held_out(*whole, data.groups)
    if held is not None:
        result = replace(result, margin=raw_margin(problem, result, held.margin))
    nrefs = {len(references) for references in data.references}
    provenance = {
        **record(problem, job.tuner, start, job.config.seed, result),
        "made": made_at(),
        "metric": full_signature(measure.metric, nrefs.pop() if len(nrefs) == 1 else None),
        "text": measure.text.describe(),
        "tuning": {**settings.model_dump(mode="json"), "start": named_start(job, job.tuner)},
        "lists": table.provenance.get("lists"),
        SEGMENTS: segment_sample(data.references),
        TOTALS: {"present": not any(np.isnan(nbest.totals).any() for nbest in data.lists)},
        **({} if held is None else {HELD_OUT: as_record(held, measure.name)}),
        LISTS: ListFacts.of(data.lists, table).record(None if held is None else held.left),
        **({} if selection is None else {SELECTION: asdict(selection)}),
        RECORDED: job.record(folder, "feature", "metric"),
    }
    summary = _summary(measure.name, problem, baseline_weights(job, data, table), result)
    if selection is not None:
        kept_line, left_line = (", ".join(names) or "none" for names in (selection.families, selection.left_out))
        summary = (f"selected: {kept_line}; left out: {left_line}", *summary)
    if held is not None:
        summary = (*summary, *held_out_lines(held, measure.name))
    return TuningOutcome(Weights.from_tuning(table, result, provenance), result, summary, selection, held)


def measured_held_out(
    job: Job, problem: TuningData, start: FloatArray, groups: Sequence[str] | None = None
) -> HeldOut | None:
    """What the job's tuner and margin gain on folds of the tuning lists; None where there are fewer than two folds.

    A selection of features is repeated on each fold. Raises ConfigError for a margin that is to be tuned where there
    are no folds, and for a wrong number of them.
    """
    tuner, folds = selecting(job, job.tuner, problem.table), job.config.tuning.held_out_folds
    folds = usual_folds(problem, tuner) if folds is None else folds
    if not folds:
        if job.margin == "tuned":
            raise ConfigError("a margin is tuned on held-out lists: wanted at least two lists, and two held_out_folds")
        return None
    with StatusLine("measuring what the weights gain on held-out lists"):
        leads = held_out_leads(problem, tuner, start, folds, job.config.seed, jobs=job.config.jobs)
    groups = groups if job.config.evaluation.resample_groups else None
    return held_out(leads, problem.metric, job.margin, job.config.seed, groups)


def _summary(
    metric: str, problem: TuningData, baselines: Mapping[str, FloatArray], result: TuningResult
) -> tuple[str, ...]:
    scores = [f"{name} {held_out_score(problem, TuningResult(w, 0.0)):.2f}" for name, w in baselines.items()]
    ends = result.restart_scores
    spread = f" ({len(ends)} restarts: {min(ends):.2f} to {max(ends):.2f})" if len(ends) > 1 else ""
    line = f"{metric} on the tuning set: {', '.join(scores)}, tuned {result.score:.2f}{spread}"
    return (*result.notes, line)


def validate_tuning(job: Job, data: Dataset, decoder: FeatureTable) -> None:
    """Do all that tuning does before the tuner runs, on the first list alone, with zeros for features still to extract.

    `decoder` is the table of the decoder's features. Raises ConfigError for wrong options of the metric and the tuner,
    for unknown names of fixed or bounded features, for wrong start weights, and for data without references or with no
    feature at all.
    """
    if not all(data.references):
        raise ConfigError("the tuning set has no references, without which weights cannot be tuned")
    _ = job.tuner  # wrong options are errors now
    table, rows = decoder.take_segments([0])
    names = names_of(job.features())
    if not (names or decoder.all_names):
        raise ConfigError("there is no feature to tune: the config leaves none, and the lists have none of the decoder")
    values = np.hstack([table.values, np.zeros((len(rows), len(names)))])
    table = replace(table, names=table.names + names, values=values)
    first = Dataset(data.name, data.lists[:1], data.references[:1])
    tuning_data(job, first, table)
    if named_start(job, job.tuner) == "decoder":  # estimated from the totals of all lists
        start_weights(job, data, decoder)
    else:
        start_weights(job, first, table)


def compare_tuners(
    job: Job,
    tuners: Mapping[str, Tuner],
    data: Dataset,
    table: FeatureTable,
    folds: int,
    seeds: Sequence[int],
    progress: Callable[[int], None] = lambda folds: None,
) -> CrossValidation:
    """The held-out scores of the tuners and of the baselines (see `baseline_weights`).

    `progress` is called with the number of folds that have just been tuned. Raises ConfigError where lists and table do
    not belong together, and for fewer than two folds or more folds than segments.
    """
    check_same_lists(data.lists, table)
    problem = tuning_data(job, data, table)
    starts = {name: start_weights(job, data, table, tuner=tuner) for name, tuner in tuners.items()}
    tuners = {name: selecting(job, tuner, table) for name, tuner in tuners.items()}
    baselines = baseline_weights(job, data, table)
    return cross_validate(
        problem, tuners, starts, folds, seeds, baselines=baselines, jobs=job.config.jobs, progress=progress
    )
