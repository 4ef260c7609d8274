"""Tunes weights, and measures what they gain on lists that were held out.

Tuning is tried on one list before the extraction (`validate`), and tuners are cross-validated beside baselines that
need no tuning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from rerank_adapters.data.overlap import SEGMENTS, segment_sample
from rerank_adapters.data.unlike import TUNING_LISTS, ListFacts
from rerank_adapters.evaluation.baselines import FIRST, HIGHEST_TOTAL, baseline_positions
from rerank_adapters.features.tables import HASH_OF_LISTS, check_same_lists
from rerank_adapters.metrics.sacrebleu_conventions import full_signature
from rerank_adapters.runtime.progress import CountingBar, StatusLine
from rerank_adapters.tuning.cross_validation import CrossValidation, cross_validate
from rerank_adapters.tuning.gain import HELD_OUT, HeldOutGain, gain_over_baselines, raw_margin
from rerank_adapters.tuning.held_out import held_out, usual_folds
from rerank_adapters.tuning.method import Method
from rerank_adapters.tuning.problem import provenance_of, run_tuner, score_of, take_features
from rerank_adapters.tuning.selection import SELECTION, Selection
from rerank_adapters.weights import Weights
from rerank_plugins import ConfigError, FeatureTable, FloatArray, NBestList, Tuner, TuningData, TuningResult, TuningStep

References = Sequence[Sequence[str]]  # of each list


@dataclass(frozen=True, repr=False)
class TuningOutcome:
    """Tuned weights, the tuner's result, and lines that compare their score with those of the baselines.

    `selection` is that of features before the tuning, where there is one; `held_out` is the gain over the 1-bests on
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


def tune(
    lists: Sequence[NBestList],
    references: References,
    table: FeatureTable,
    method: Method,
    *,
    groups: Sequence[str] | None = None,
) -> TuningOutcome:
    """Tune on the lists. With `groups` (segments), the interval of the held-out gain is over whole groups.

    Raises ConfigError where lists and table do not belong together, and for wrong settings of the tuning.
    """
    check_same_lists(lists, table)
    measure = method.measure
    with StatusLine(f"counting the statistics of {measure.name}"):
        problem = method.problem(lists, references, table)
    start, highest = method.start(lists, table), None
    if (positions := baseline_positions(lists).get(HIGHEST_TOTAL)) is not None:
        highest = problem.statistics[problem.table.offsets[:-1] + positions]
    whole, selection = (method, problem, start), None
    if method.settings.select:
        with CountingBar("tuned folds") as bar:
            selecting = method.selection(method.tuner, table)
            selection = selecting.select(problem, start, method.seed, bar.add)
        names = [name for family in selection.left_out for name in selecting.families[family]]
        kept = np.array([name not in names for name in table.names])
        method, problem = method.without(selection.left_out), take_features(problem, kept)
        start, table = start[np.append(kept, np.ones(len(table.sparse.names), bool))], problem.table
    with StatusLine("tuning") as line:

        def show(step: TuningStep) -> None:
            line(f"tuning: restart {step.restart}, iteration {step.iteration}, {measure.name} {step.score:.2f}")

        result = run_tuner(problem, method.tuner, start, method.seed, report=show)
    gain = measured_gain(*whole, groups, highest)
    if gain is not None:
        result = replace(result, margin=raw_margin(problem, result, gain.margin))
    numbers = {len(texts) for texts in references}
    provenance = {
        **provenance_of(problem, method.tuner, start, method.seed, result),
        "metric": full_signature(measure.metric, numbers.pop() if len(numbers) == 1 else None),
        "text": measure.text.describe(),
        "tuning": {**method.settings.model_dump(mode="json"), "start": method.named_start()},
        HASH_OF_LISTS: table.provenance.get(HASH_OF_LISTS),
        SEGMENTS: segment_sample(references),
        TUNING_LISTS: ListFacts.of(lists, table).for_provenance(None if gain is None else gain.replaced),
        **({} if gain is None else {HELD_OUT: gain.for_provenance(measure.name)}),
        **({} if selection is None else {SELECTION: asdict(selection)}),
    }
    lines = []
    if selection is not None:
        kept_line, left_line = (", ".join(names) or "none" for names in (selection.families, selection.left_out))
        lines.append(f"selected: {kept_line}; left out: {left_line}")
    lines += [*result.notes, _scores(measure.name, problem, method.baselines(lists, table), highest, result)]
    if gain is not None:
        lines += gain.lines(measure.name)
    return TuningOutcome(Weights.from_tuning(table, result, provenance), result, tuple(lines), selection, gain)


def _scores(
    metric: str,
    problem: TuningData,
    baselines: Mapping[str, FloatArray],
    highest: FloatArray | None,
    result: TuningResult,
) -> str:
    """The scores on the tuning set, of the baselines and of the tuned weights; `highest` as in `measured_gain`."""
    scores = {name: score_of(problem, TuningResult(weights, 0.0)) for name, weights in baselines.items()}
    if highest is not None:
        scores = {FIRST: scores.pop(FIRST), HIGHEST_TOTAL: float(problem.metric.score(highest.sum(axis=0))), **scores}
    ends = result.restart_scores
    spread = f" ({len(ends)} restarts: {min(ends):.2f} to {max(ends):.2f})" if len(ends) > 1 else ""
    written = ", ".join(f"{name} {score:.2f}" for name, score in scores.items())
    return f"{metric} on the tuning set: {written}, tuned {result.score:.2f}{spread}"


def measured_gain(
    method: Method,
    problem: TuningData,
    start: FloatArray,
    groups: Sequence[str] | None = None,
    highest: FloatArray | None = None,
) -> HeldOutGain | None:
    """What tuner and margin gain on folds of the tuning lists; None where there are fewer than two folds.

    `highest` (segments, S) are the statistics of the highest totals, if these are a baseline besides the 1-bests. A
    selection of features is repeated on each fold. Raises ConfigError for a margin that is to be tuned where there are
    no folds, and for a wrong number of them.
    """
    tuner, folds = method.selecting(method.tuner, problem.table), method.settings.held_out_folds
    folds = usual_folds(problem, tuner) if folds is None else folds
    if not folds:
        if method.margin == "tuned":
            raise ConfigError("a margin is tuned on held-out lists, expected at least two lists and two held_out_folds")
        return None
    with StatusLine("measuring what the weights gain on held-out lists"):
        held = held_out(problem, tuner, start, folds, method.seed, method.processes)
    return gain_over_baselines(held, problem.metric, method.margin, method.seed, groups, highest)


def validate(lists: Sequence[NBestList], references: References, decoder: FeatureTable, method: Method) -> None:
    """Do all that tuning does before the tuner runs, on the first list alone, with zeros for features still to extract.

    `decoder` is the table of the decoder's features. Raises ConfigError for wrong options of the metric, for unknown
    names of fixed or bounded features, for wrong start weights, and for data without references or with no feature.
    """
    if not all(references):
        raise ConfigError("the tuning set has no references, without which weights cannot be tuned")
    names = tuple(method.extracted)
    if not (names or decoder.all_names):
        raise ConfigError("there is no feature to tune: the config leaves none, and the lists have none of the decoder")
    table, rows = decoder.take_segments([0])
    values = np.hstack([table.values, np.zeros((len(rows), len(names)))])
    table = replace(table, names=table.names + names, values=values)
    method.problem(lists[:1], references[:1], table)
    if method.named_start() == "decoder":  # estimated from the totals of all lists
        method.start(lists, decoder)
    else:
        method.start(lists[:1], table)


def compare_tuners(
    tuners: Mapping[str, Tuner],
    lists: Sequence[NBestList],
    references: References,
    table: FeatureTable,
    method: Method,
    folds: int,
    seeds: Sequence[int],
    progress: Callable[[int], None] = lambda folds: None,
) -> CrossValidation:
    """The held-out scores of the tuners, each from its own start, and of the baselines (see `Method.baselines`).

    `progress` is called with the number of folds that have just been tuned. Raises ConfigError where lists and table do
    not belong together, and for fewer than two folds or more folds than segments.
    """
    check_same_lists(lists, table)
    return cross_validate(
        method.problem(lists, references, table),
        {name: method.selecting(tuner, table) for name, tuner in tuners.items()},
        {name: method.start(lists, table, tuner=tuner) for name, tuner in tuners.items()},
        folds,
        seeds,
        baselines=method.baselines(lists, table),
        processes=method.processes,
        progress=progress,
    )
