"""Tunes the weights of a job: reads what it tunes on, and records the job in the weights, to apply them elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from rerank_adapters.apply import TOTALS
from rerank_adapters.data.dataset import Dataset, Files
from rerank_adapters.data.overlap import SEGMENTS, segment_sample
from rerank_adapters.data.unlike import TUNING_LISTS, ListFacts
from rerank_adapters.evaluation.baselines import baseline_positions
from rerank_adapters.features.feature import names_of
from rerank_adapters.features.processes import Processes
from rerank_adapters.features.tables import HASH_OF_LISTS, RECORDED, check_same_lists
from rerank_adapters.formats.decoder_features import RANK
from rerank_adapters.job.job import TUNE, Job
from rerank_adapters.metrics.sacrebleu_conventions import full_signature
from rerank_adapters.report.held_out import tuning_lines
from rerank_adapters.runtime.progress import StatusLine, warn
from rerank_adapters.tuning.cross_validation import CrossValidation, cross_validate
from rerank_adapters.tuning.families import DECODER, families_of, fast_tuner
from rerank_adapters.tuning.held_out import HELD_OUT, HeldOutGain, Progress
from rerank_adapters.tuning.problem import problem_of, score_of
from rerank_adapters.tuning.selection import SELECTION, Selecting, Selection
from rerank_adapters.tuning.start import NAMED_STARTS, Start, baseline_weights, start_vector
from rerank_adapters.tuning.tune import provenance_of, tune
from rerank_adapters.weights import Weights, made_at
from rerank_plugins import ConfigError, FeatureTable, FloatArray, NBestList, Tuner, TuningData, TuningResult


def read_tuning_set(job: Job, files: Files, table: Path | None = None) -> tuple[Job, Dataset, FeatureTable | None]:
    """Read lists and references, and the table of their features at a path; the job gets what the table records.

    What is unpaired or doubtful is logged. Wrong options of the tuner and the metrics are errors before the lists are
    read. Raises ConfigError where lists and references do not belong together.
    """
    values = None if table is None else FeatureTable.load(table)
    if table is not None and values is not None:
        job = job.of_table(values, table)
    _ = job.tuner, job.measures
    job = job.reading(files.lists)
    data = Dataset.read(TUNE, files, job.format, "tuning", job.content_check())
    warn([*data.findings, *data.doubts])
    return job, data, values


def features_of(
    job: Job,
    data: Dataset,
    values: FeatureTable | None,
    table: Path | None,
    *,
    folder: Path = Path(),
) -> FeatureTable:
    """The job's features of a tuning set: the columns of `values`, which `table` holds, or extracted where it is None.

    `folder` is where a table of them would be saved. Wrong settings of the tuning are errors before an extraction.
    """
    extraction = job.extraction(TUNE)
    if table is not None and values is not None:
        return extraction.columns(data.lists, values, table, folder=folder, all_columns=True)
    extraction.log_ranks(data.lists)
    decoder = extraction.decoder_table(data.lists)
    validate_tuning(job, data, decoder)
    return extraction.table(data.lists, decoder, folder=folder)


def tuning_problem(job: Job, data: Dataset, table: FeatureTable) -> tuple[TuningData, FloatArray]:
    """What the job's tuner sees of lists with their features, and its start vector.

    Raises ConfigError where lists and table do not belong together, and as `problem_of` and `start_of` do.
    """
    check_same_lists(data.lists, table)
    measure = job.measures[0]
    with StatusLine(f"counting the statistics of {measure.name}"):
        problem = problem_of(data.lists, data.references, table, measure, job.config.tuning)
    return problem, start_of(job, data.lists, table)


def start_of(job: Job, lists: Sequence[NBestList], table: FeatureTable, tuner: Tuner | None = None) -> FloatArray:
    """The start vector of the job's tuner, or of another one: what the config names, or the tuner's usual start.

    Extracted features that a weights file lacks, as a file of decoder weights does, start from 0. So do all features
    where the lists have none of the decoder's and its weights are only the usual start. Raises ConfigError as
    `start_vector` does, and what `read_weights` raises.
    """
    start, decoder = _named_start(job, tuner or job.tuner), _decoder_features(job, table)
    if start == "decoder" and job.config.tuning.start is None and not decoder and not table.sparse.names:
        return np.zeros(len(table.names))
    return start_vector(table, start, _totals(lists), decoder_features=decoder)


def untuned_weights(job: Job, lists: Sequence[NBestList], table: FeatureTable) -> dict[str, FloatArray]:
    """Weights that need no tuning, by name."""
    return baseline_weights(table, _totals(lists), _decoder_features(job, table))


def _named_start(job: Job, tuner: Tuner) -> Start:
    """Where a tuner starts: what the config names, or else its usual start."""
    start = job.config.tuning.start
    if isinstance(start, str) and start not in NAMED_STARTS:
        return job.config.path(start)
    return tuner.usual_start if start is None else start


def _decoder_features(job: Job, table: FeatureTable) -> list[str]:
    """The dense features of the table that the decoder has made."""
    added = {*names_of(job.features()), RANK}
    return [name for name in table.names if name not in added]


def _totals(lists: Sequence[NBestList]) -> FloatArray:
    return np.concatenate([nbest.totals for nbest in lists])


def selecting(job: Job, table: FeatureTable, tuner: Tuner) -> Tuner:
    """The tuner itself, or, where the job selects families of features, one that does so before it tunes."""
    settings, processes = job.config.tuning, Processes(job.config.jobs)
    if not settings.select:
        return tuner
    families, fast = families_of(table, job.features()), fast_tuner(job.tuner)
    return Selecting(tuner, fast, families, [DECODER], settings.select_folds, settings.select_margin, processes)


@dataclass(frozen=True, repr=False)
class TuningOutcome:
    """Tuned weights, the tuner's result, and lines that compare their score with those of the baselines.

    `selection` is that of features before the tuning, where there is one; `held_out` is the gain over the baseline on
    held-out lists, None where it was not measured.
    """

    weights: Weights
    result: TuningResult
    summary: tuple[str, ...]
    selection: Selection | None = None
    held_out: HeldOutGain | None = None

    def __repr__(self) -> str:
        """The lines that a command prints of a tuning."""
        return "\n".join(self.summary)


def learn(job: Job, data: Dataset, table: FeatureTable, folder: Path) -> TuningOutcome:
    """Tune on the lists. The provenance of the weights names files relative to `folder`, where they will be written.

    Raises ConfigError where lists and table do not belong together, and for wrong settings of the tuning.
    """
    measure, seed = job.measures[0], job.config.seed
    problem, start = tuning_problem(job, data, table)
    choices = {
        name: problem.statistics[table.offsets[:-1] + positions]
        for name, positions in baseline_positions(data.lists).items()
    }
    tuned = tune(
        problem,
        selecting(job, table, job.tuner),
        start,
        seed,
        baselines=choices,
        margin=job.margin,
        folds=job.config.tuning.held_out_folds,
        groups=data.groups if job.config.evaluation.resample_groups else None,
        metric=measure.name,
        processes=Processes(job.config.jobs),
    )
    if tuned.selection is not None:
        job = job.without(tuned.selection.left_out)
    named, numbers = _named_start(job, job.tuner), {len(texts) for texts in data.references}
    gain, kept = tuned.held_out, tuned.problem.table
    provenance = {
        **provenance_of(tuned.problem, job.tuner, tuned.start, seed, tuned.result),
        "metric": full_signature(measure.metric, numbers.pop() if len(numbers) == 1 else None),
        "text": measure.text.describe(),
        "tuning": {
            **job.config.tuning.model_dump(mode="json"),
            "start": str(named) if isinstance(named, Path) else named,
        },
        HASH_OF_LISTS: table.provenance.get(HASH_OF_LISTS),
        SEGMENTS: segment_sample(data.references),
        TUNING_LISTS: ListFacts.of(data.lists, kept).for_provenance(None if gain is None else gain.replaced),
        **({} if gain is None else {HELD_OUT: gain.for_provenance()}),
        **({} if tuned.selection is None else {SELECTION: asdict(tuned.selection)}),
        "made": made_at(),
        TOTALS: {"present": not any(np.isnan(nbest.totals).any() for nbest in data.lists)},
        RECORDED: job.record(folder, "feature", "metric"),
    }
    scores = {name: float(measure.metric.score(own.sum(axis=0))) for name, own in choices.items()}
    for name, weights in untuned_weights(job, data.lists, kept).items():
        scores.setdefault(name, score_of(tuned.problem, TuningResult(weights, 0.0)))
    lines = tuple(tuning_lines(tuned, measure.name, scores))
    return TuningOutcome(
        Weights.from_tuning(kept, tuned.result, provenance), tuned.result, lines, tuned.selection, gain
    )


def compare_tuners(
    job: Job,
    data: Dataset,
    table: FeatureTable,
    tuners: Mapping[str, Tuner],
    folds: int,
    seeds: Sequence[int],
    progress: Progress = lambda folds: None,
) -> CrossValidation:
    """The held-out scores of the tuners, each from its own start, and of weights that need no tuning.

    `progress` is called with the number of folds that have just been tuned. Raises ConfigError where lists and table do
    not belong together, and for fewer than two folds or more folds than segments.
    """
    check_same_lists(data.lists, table)
    return cross_validate(
        problem_of(data.lists, data.references, table, job.measures[0], job.config.tuning),
        {name: selecting(job, table, tuner) for name, tuner in tuners.items()},
        {name: start_of(job, data.lists, table, tuner) for name, tuner in tuners.items()},
        folds,
        seeds,
        baselines=untuned_weights(job, data.lists, table),
        processes=Processes(job.config.jobs),
        progress=progress,
    )


def validate_tuning(job: Job, data: Dataset, decoder: FeatureTable) -> None:
    """Do all that tuning does before the tuner runs, on the first list alone, with zeros for features still to extract.

    `decoder` is the table of the decoder's features. Raises ConfigError for wrong options of the metric, for unknown
    names of fixed or bounded features, for wrong start weights, and for data without references or with no feature.
    """
    if not all(data.references):
        raise ConfigError("the tuning set has no references, without which weights cannot be tuned")
    names = names_of(job.features())
    if not (names or decoder.all_names):
        raise ConfigError("there is no feature to tune: the config leaves none, and the lists have none of the decoder")
    table, rows = decoder.take_segments([0])
    values = np.hstack([table.values, np.zeros((len(rows), len(names)))])
    table = replace(table, names=(*table.names, *names), values=values)
    problem_of(data.lists[:1], data.references[:1], table, job.measures[0], job.config.tuning)
    if _named_start(job, job.tuner) == "decoder":  # estimated from the totals of all lists
        start_of(job, data.lists, decoder)
    else:
        start_of(job, data.lists[:1], table)
