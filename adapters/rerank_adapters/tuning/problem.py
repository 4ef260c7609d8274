"""What a tuner sees: features and statistics of the same rows, and constraints; and what its weights choose."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, overload

import numpy as np

from rerank_adapters.evaluation.measure import Measure
from rerank_adapters.text import TextPipeline
from rerank_adapters.tuners.margin import with_margin
from rerank_adapters.tuners.mbr_decision import expected_scores
from rerank_adapters.tuners.within_lists import one_best
from rerank_plugins import (
    ConfigError,
    FeatureTable,
    FloatArray,
    Metric,
    NBestList,
    RerankError,
    Tuner,
    TuningData,
    TuningResult,
    __version__,
)
from rerank_plugins.core.arrays import BoolArray, LongArray
from rerank_plugins.core.contracts import checked_tuning
from rerank_plugins.core.errors import suggestion
from rerank_plugins.core.metrics_and_tuners import TuningReport
from rerank_plugins.kit.files.text import MAX_SCORE, wild

HYPOTHESES_AT_A_TIME = 20_000  # whose texts are held while their statistics are counted


class TextsOfLists(Sequence[Sequence[str]]):
    """The texts of each list as a metric sees them, made when a tuner asks for them: most tuners never do."""

    def __init__(self, text: TextPipeline, lists: Sequence[NBestList]) -> None:
        self._text, self._lists = text, lists

    def __len__(self) -> int:
        return len(self._lists)

    @overload
    def __getitem__(self, segment: int) -> Sequence[str]: ...
    @overload
    def __getitem__(self, segment: slice) -> TextsOfLists: ...
    def __getitem__(self, segment: int | slice) -> Sequence[str] | TextsOfLists:
        """The texts of one list, or of some of them."""
        if isinstance(segment, slice):
            return TextsOfLists(self._text, self._lists[segment])
        return self._text.apply(self._lists[segment].texts)

    def take(self, segments: Sequence[int]) -> TextsOfLists:
        """Those of some of the lists."""
        return TextsOfLists(self._text, [self._lists[segment] for segment in segments])

    @property
    def lengths(self) -> list[int]:
        """The number of texts of each list."""
        return [len(nbest) for nbest in self._lists]


def statistics_of(lists: Sequence[NBestList], references: Sequence[Sequence[str]], measure: Measure) -> FloatArray:
    """(rows, S) the statistics of all hypotheses. Raises what the measure and its metric raise."""
    parts = [
        measure.statistics(
            [nbest.texts for nbest in lists[part]], references[part], [nbest.source for nbest in lists[part]]
        )
        for part in _parts([len(nbest) for nbest in lists])
    ]
    return np.concatenate(parts)


def _parts(lengths: Sequence[int]) -> Iterator[slice]:
    """Consecutive lists with some thousand hypotheses together."""
    begin = rows = 0
    for end, length in enumerate(lengths, 1):
        rows += length
        if rows >= HYPOTHESES_AT_A_TIME or end == len(lengths):
            yield slice(begin, end)
            begin, rows = end, 0


def prepare(
    table: FeatureTable,
    statistics: FloatArray,
    metric: Metric,
    *,
    hypotheses: Sequence[Sequence[str]] = (),
    sources: Sequence[str | None] = (),
    fixed: Collection[str] = (),
    lower: Mapping[str, float] | None = None,
    upper: Mapping[str, float] | None = None,
) -> TuningData:
    """Build tuning data from a table, the statistics of its rows (rows, S) and constraints by feature name.

    `fixed` names the features whose weights stay at their start values; `lower` and `upper` are bounds. Sparse features
    may be named too. `hypotheses` are the texts of each segment as the metric saw them, which MBR needs, and
    `sources` their source sentences, for metrics that read them. Raises ConfigError for a name that is not a feature
    and for bounds that cross, RerankError for rows that do not match, for values that are not finite, and for a segment
    without hypotheses.
    """
    names = table.all_names
    column = {name: i for i, name in enumerate(names)}
    for option, constrained in (("fixed", fixed), ("lower", lower or ()), ("upper", upper or ())):
        for name in constrained:
            if name not in column:
                raise ConfigError(f"{option}: no feature named {name!r}{suggestion(name, names)}")
    low, high = np.full(len(names), -np.inf), np.full(len(names), np.inf)
    for bounds, named_bounds in ((low, lower), (high, upper)):
        for name, value in (named_bounds or {}).items():
            bounds[column[name]] = value
    for name, least, most in zip(names, low, high, strict=True):
        if not least <= most:
            raise ConfigError(f"weight of {name}: lower bound {least:g} and upper bound {most:g} allow no value")
    _check_rows(table, statistics, hypotheses)
    is_fixed = np.array([name in set(fixed) for name in names], bool)
    return TuningData(table, statistics, metric, is_fixed, low, high, hypotheses, sources)


def _check_rows(table: FeatureTable, statistics: FloatArray, hypotheses: Sequence[Sequence[str]]) -> None:
    """Raise RerankError for parts that do not match, for values that are not finite and for empty segments."""
    if not table.segments:
        raise RerankError("nothing to tune on: the feature table has no segments")
    if len(statistics) != len(table.values):
        raise RerankError(f"statistics of {len(statistics)} hypotheses, but {len(table.values)} rows of features")
    lengths = np.diff(table.offsets)
    empty = np.flatnonzero(lengths <= 0)
    if len(empty):
        raise RerankError(f"segment {table.segment_ids[empty[0]]} has no hypotheses to choose from")
    of_texts = hypotheses.lengths if isinstance(hypotheses, TextsOfLists) else [len(texts) for texts in hypotheses]
    if of_texts and of_texts != lengths.tolist():
        raise RerankError("the texts of the hypotheses do not match the rows of the feature table")
    if not np.isfinite(statistics).all():
        raise RerankError("the statistics of the metric contain a value that is not finite")
    for column, name in enumerate(table.names):
        _check_size(table.values[:, column], f"feature {name}")
    _check_size(table.sparse.data, "a sparse feature")


def _check_size(values: FloatArray, feature: str) -> None:
    """Raise RerankError for values that are not finite, or so large that no other feature would count."""
    largest = np.abs(values).max(initial=0.0)
    if not np.isfinite(largest):
        raise RerankError(f"{feature} has a value that is not finite")
    if largest > MAX_SCORE:
        raise RerankError(f"{feature} has a value that {wild(float(values[np.argmax(np.abs(values))]))}")


def take_features(problem: TuningData, kept: BoolArray) -> TuningData:
    """The same problem with some of the dense features, `kept` (dense names), and all sparse ones."""
    table = problem.table
    names = tuple(name for name, is_kept in zip(table.names, kept, strict=True) if is_kept)
    weights = np.append(kept, np.ones(len(table.sparse.names), bool))
    return dataclasses.replace(
        problem,
        table=dataclasses.replace(table, names=names, values=table.values[:, kept]),
        fixed=problem.fixed[weights],
        lower=problem.lower[weights],
        upper=problem.upper[weights],
    )


def take_segments(problem: TuningData, segments: LongArray) -> TuningData:
    """The same problem for some of the segments, in this order; one may be named several times."""
    table, rows = problem.table.take_segments(segments)
    numbers, hypotheses = np.asarray(segments).tolist(), problem.hypotheses
    if isinstance(hypotheses, TextsOfLists):
        hypotheses = hypotheses.take(numbers)
    elif hypotheses:
        hypotheses = [hypotheses[segment] for segment in numbers]
    sources = [problem.sources[segment] for segment in numbers] if problem.sources else ()
    statistics = problem.statistics[rows]
    return dataclasses.replace(problem, table=table, statistics=statistics, hypotheses=hypotheses, sources=sources)


def run_tuner(
    problem: TuningData, tuner: Tuner, start: FloatArray, seed: int = 0, *, report: TuningReport = lambda step: None
) -> TuningResult:
    """Run the tuner from the weights `start` (raw, one per name of `problem.table.all_names`); a seed fixes the result.

    Raises ConfigError where start weights are of the wrong number or not finite and where a fixed one is outside its
    bounds, and as `checked_tuning`.
    """
    names = problem.table.all_names
    if np.shape(start) != (len(names),):
        raise ConfigError(f"start weights: {np.size(start)} values for {len(names)} features")
    if not np.isfinite(start).all():
        raise ConfigError(f"start weights: that of {names[int(np.argmin(np.isfinite(start)))]} is not finite")
    outside = problem.fixed & ((start < problem.lower) | (start > problem.upper))
    if outside.any():
        raise ConfigError(f"weight of {names[int(np.argmax(outside))]} is fixed outside its bounds")
    return checked_tuning(tuner, problem, start, np.random.default_rng(seed), report)


def decision_totals(problem: TuningData, result: TuningResult) -> FloatArray:
    """(rows): the totals whose highest is the choice of a list, without a margin: weighted sums or expected utilities.

    Raises ConfigError where MBR lacks the texts.
    """
    scores, offsets = result.scores(problem.table), problem.table.offsets
    if result.decision == "map":
        return scores
    if not problem.hypotheses:
        raise ConfigError("MBR compares hypotheses with each other: it needs their texts, and has none")
    return np.concatenate(
        [
            expected_scores(scores[begin:end], texts, problem.metric_of(segment), result.scale, result.evidence or None)
            for segment, (texts, (begin, end)) in enumerate(zip(problem.hypotheses, pairwise(offsets), strict=True))
        ]
    )


def chosen_rows(problem: TuningData, result: TuningResult) -> LongArray:
    """(segments): the row that the result chooses in each list. Raises ConfigError where MBR lacks the texts."""
    offsets = problem.table.offsets
    return one_best(with_margin(decision_totals(problem, result), offsets, result.margin), offsets)


def score_of(problem: TuningData, result: TuningResult) -> float:
    """The corpus score of the hypotheses that the result chooses."""
    return float(problem.metric.score(problem.statistics[chosen_rows(problem, result)].sum(axis=0)))


def provenance_of(
    problem: TuningData, tuner: Tuner, start: FloatArray, seed: int, result: TuningResult
) -> dict[str, Any]:
    """Everything needed to repeat a run, and its outcome, in values that TOML and JSON can hold."""

    def by_name(weights: FloatArray) -> dict[str, float]:
        return {n: float(w) for n, w in zip(problem.table.all_names, weights, strict=True) if np.isfinite(w)}

    return {
        "version": __version__,
        "numpy": np.__version__,
        "tuner": f"{type(tuner).__module__}.{type(tuner).__qualname__}",
        "options": dataclasses.asdict(tuner) if dataclasses.is_dataclass(tuner) else {},
        "seed": seed,
        "metric": problem.metric.signature(),
        "segments": problem.table.segments,
        "hypotheses": len(problem.table.values),
        "start": {name: weight for name, weight in by_name(start).items() if weight},
        "fixed": [name for name, is_fixed in zip(problem.table.all_names, problem.fixed, strict=True) if is_fixed],
        "lower": by_name(problem.lower),
        "upper": by_name(problem.upper),
        "score": result.score,
        "restart_scores": list(result.restart_scores),
        "iterations": len(result.trace),
        "trace": [round(step.score, 4) for step in result.trace],
        "trace_restarts": [step.restart for step in result.trace],
        "notes": list(result.notes),
    }
