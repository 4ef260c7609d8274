"""What a tuner sees: features and statistics of the same rows, and constraints; and what its weights choose."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from rerank_adapters.evaluation.measure import Measure
from rerank_adapters.job.config import Tuning
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
)
from rerank_plugins.core.arrays import BoolArray, LongArray
from rerank_plugins.core.contracts import checked_tuning
from rerank_plugins.core.errors import suggestion
from rerank_plugins.core.metrics_and_tuners import TuningReport
from rerank_plugins.kit.files.text import MAX_SCORE, wild

LISTS_AT_A_TIME = 50  # lists whose texts are held while their statistics are counted


@dataclass(frozen=True, eq=False)
class Texts(Sequence[Sequence[str]]):
    """The texts of each list as a metric sees them, made when a tuner asks for them: most tuners never do."""

    lists: Sequence[NBestList]
    text: TextPipeline

    def __len__(self) -> int:
        return len(self.lists)

    def __getitem__(self, segment: Any) -> Any:
        """The texts of one list."""
        return self.text.apply(self.lists[segment].texts)


def problem_of(
    lists: Sequence[NBestList],
    references: Sequence[Sequence[str]],
    table: FeatureTable,
    measure: Measure,
    settings: Tuning,
) -> TuningData:
    """The table, the statistics of a metric for each hypothesis of the lists, and the constraints of the settings.

    Raises ConfigError where there is nothing to choose from, what the measure raises, and as `prepare` does.
    """
    if not any(text.strip() for nbest in lists for text in nbest.texts):
        raise ConfigError("all hypotheses of the tuning lists are empty: there is nothing to choose from")
    counted = []
    for begin in range(0, len(lists), LISTS_AT_A_TIME):
        part = slice(begin, begin + LISTS_AT_A_TIME)
        texts, sources = [nbest.texts for nbest in lists[part]], [nbest.source for nbest in lists[part]]
        counted.append(measure.statistics(texts, references[part], sources))
    return prepare(
        table,
        np.concatenate(counted),
        measure.metric,
        hypotheses=Texts(lists, measure.text),
        sources=[nbest.source for nbest in lists],
        fixed=settings.fixed,
        lower=settings.lower,
        upper=settings.upper,
    )


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
    names, known = table.all_names, set(table.all_names)
    for option, constrained in (("fixed", fixed), ("lower", lower or ()), ("upper", upper or ())):
        if unknown := [name for name in constrained if name not in known]:
            raise ConfigError(f"{option}: no feature named {unknown[0]!r}{suggestion(unknown[0], names)}")
    low = np.array([(lower or {}).get(name, -np.inf) for name in names], np.float64)
    high = np.array([(upper or {}).get(name, np.inf) for name in names], np.float64)
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
    of_texts = [len(own) for own in (hypotheses.lists if isinstance(hypotheses, Texts) else hypotheses)]
    if of_texts and of_texts != lengths.tolist():
        raise RerankError("the texts of the hypotheses do not match the rows of the feature table")
    if not np.isfinite(statistics).all():
        raise RerankError("the statistics of the metric contain a value that is not finite")
    columns = {f"feature {name}": table.values[:, column] for column, name in enumerate(table.names)}
    for feature, values in {**columns, "a sparse feature": table.sparse.data}.items():
        largest = float(values[np.argmax(np.abs(values))]) if len(values) else 0.0
        if not np.isfinite(largest):
            raise RerankError(f"{feature} has a value that is not finite")
        if abs(largest) > MAX_SCORE:
            raise RerankError(f"{feature} has a value that {wild(largest)}")


def take_features(problem: TuningData, kept: BoolArray) -> TuningData:
    """The same problem with the dense features `kept` (all names), and all sparse ones."""
    table, dense = problem.table, kept[: len(problem.table.names)]
    names = tuple(name for name, is_kept in zip(table.names, dense, strict=True) if is_kept)
    return replace(
        problem,
        table=replace(table, names=names, values=table.values[:, dense]),
        fixed=problem.fixed[kept],
        lower=problem.lower[kept],
        upper=problem.upper[kept],
    )


def take_segments(problem: TuningData, segments: LongArray) -> TuningData:
    """The same problem for some of the segments, in this order; one may be named several times."""
    table, rows = problem.table.take_segments(segments)
    numbers, texts = np.asarray(segments).tolist(), problem.hypotheses
    if isinstance(texts, Texts):
        texts = replace(texts, lists=[texts.lists[segment] for segment in numbers])
    elif texts:
        texts = [texts[segment] for segment in numbers]
    sources = [problem.sources[segment] for segment in numbers] if problem.sources else ()
    return replace(problem, table=table, statistics=problem.statistics[rows], hypotheses=texts, sources=sources)


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
    scores, bounds = result.scores(problem.table), pairwise(problem.table.offsets)
    if result.decision == "map":
        return scores
    if not problem.hypotheses:
        raise ConfigError("MBR compares hypotheses with each other: it needs their texts, and has none")
    expected = [
        expected_scores(scores[begin:end], texts, problem.metric_of(segment), result.scale, result.evidence or None)
        for segment, (texts, (begin, end)) in enumerate(zip(problem.hypotheses, bounds, strict=True))
    ]
    return np.concatenate(expected)


def chosen_rows(problem: TuningData, result: TuningResult) -> LongArray:
    """(segments): the row that the result chooses in each list. Raises ConfigError where MBR lacks the texts."""
    offsets = problem.table.offsets
    return one_best(with_margin(decision_totals(problem, result), offsets, result.margin), offsets)


def score_of(problem: TuningData, result: TuningResult) -> float:
    """The corpus score of the hypotheses that the result chooses."""
    return float(problem.metric.score(problem.statistics[chosen_rows(problem, result)].sum(axis=0)))
