"""Tuning data, in which features and statistics have the same rows, start weights, and the recorded run of a tuner."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from rerank_adapters.chain.tuning.texts_of_lists import lengths_of, taken
from rerank_adapters.tuners.margin import with_margin
from rerank_adapters.tuners.mbr_decision import expected_scores
from rerank_adapters.tuners.within_lists import FeatureRows, one_best
from rerank_plugins import (
    ConfigError,
    FeatureTable,
    FloatArray,
    Metric,
    PluginError,
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
from rerank_plugins.kit.files.text import LARGEST, wild

EXACT = 1e-3  # largest error in the decoder's own totals, in their standard deviations
ROUNDS = 2000  # of conjugate gradients


def start_vector(
    table: FeatureTable,
    start: str | Mapping[str, float],
    totals: Sequence[float | None] | FloatArray | None = None,
    *,
    decoder_features: Collection[str] | None = None,
) -> FloatArray:
    """Raw weights, one per name of `table.all_names`.

    "uniform"  1 for every dense feature on its original scale, 0 for sparse ones (as in Moses's uniform start)
    "decoder"  the weights that reproduce the decoder's totals (rows), by least squares; only features in
               `decoder_features` (None: all) get such a weight, the others get 0
    a mapping  weights by name; sparse features may be left out (they get 0), dense ones may not

    Raises ConfigError where totals are missing or no weights reproduce them, and for missing or unknown names.
    """
    if isinstance(start, Mapping):
        return _named_weights(table, start)
    if start == "uniform":
        return np.concatenate([np.ones(len(table.names)), np.zeros(len(table.sparse.names))])
    if start != "decoder":
        raise ConfigError(f"start weights {start!r}; wanted 'uniform', 'decoder' or weights by name")
    numbers = np.array(np.nan if totals is None else totals, np.float64)  # None becomes nan
    if np.isnan(numbers).any():
        missing = "cannot start from the decoder's weights: the n-best lists have no totals"
        raise ConfigError(f"{missing}; start from 'uniform' or from weights by name")
    return _decoder(table, numbers, decoder_features)


def _named_weights(table: FeatureTable, start: Mapping[str, float]) -> FloatArray:
    for name in start:
        if name not in set(table.all_names):
            raise ConfigError(f"start weights: no feature named {name!r}{suggestion(name, table.all_names)}")
    missing = [name for name in table.names if name not in start]
    if missing:
        raise ConfigError(f"start weights: none for {', '.join(missing)}")
    return np.array([start.get(name, 0.0) for name in table.all_names], np.float64)


def _decoder(table: FeatureTable, totals: FloatArray, decoder_features: Collection[str] | None) -> FloatArray:
    """Least squares over the dense features and, where these do not suffice, over the sparse ones too."""
    own = [name for name in table.names if decoder_features is None or name in decoder_features]
    columns = [table.names.index(name) for name in own]
    first = columns == list(range(len(columns)))
    values = table.values[:, : len(columns)] if first else table.values[:, columns]  # a view where that is possible
    weights = np.zeros(len(table.all_names))
    weights[columns] = np.linalg.lstsq(values, totals, rcond=None)[0]
    spread = float(np.std(totals)) or 1.0
    error = float(np.abs(table.scores(weights) - totals).max(initial=0.0))
    if error > EXACT * spread and table.sparse.names:
        both = FeatureRows(np.asfortranarray(values), table.sparse)
        fitted = least_squares(both, totals)
        weights[columns], weights[len(table.names) :] = fitted[: len(columns)], fitted[len(columns) :]
        error = float(np.abs(table.scores(weights) - totals).max(initial=0.0))
    if not error <= EXACT * spread:
        raise ConfigError(
            f"no weights of the decoder's features reproduce its totals: the best ones miss a total by {error:.3g} "
            f"(wanted at most {EXACT * spread:.1g}); start from 'uniform' or from weights by name"
        )
    return weights


def least_squares(features: FeatureRows, totals: FloatArray) -> FloatArray:
    """The weights (dense, then sparse) that fit the totals (rows) best, by conjugate gradients on the normal equations.

    Columns are scaled to length 1. The iteration begins at 0, so it finds the smallest of many solutions (Björck 1996,
    section 7.4). A round takes O(values).
    """
    sparse = features.sparse
    squares = np.concatenate(
        [(features.dense**2).sum(axis=0), np.bincount(sparse.indices, sparse.data**2, len(sparse.names))]
    )
    scale = 1.0 / np.sqrt(np.where(squares > 0, squares, 1.0))
    weights = np.zeros(len(scale))
    residual = totals.copy()
    downhill = scale * features.pull(residual)
    direction, length = downhill, float(downhill @ downhill)
    enough = 1e-24 * length
    for _ in range(ROUNDS):
        if length <= enough:
            break
        change = features.dot(scale * direction)
        step = length / float(change @ change)
        weights += step * direction
        residual -= step * change
        downhill = scale * features.pull(residual)
        before, length = length, float(downhill @ downhill)
        direction = downhill + length / before * direction
    return scale * weights


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
    if hypotheses and lengths_of(hypotheses) != lengths.tolist():
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
    if largest > LARGEST:
        raise RerankError(f"{feature} has a value that {wild(float(values[np.argmax(np.abs(values))]))}")


def take_features(data: TuningData, kept: BoolArray) -> TuningData:
    """The same data with some of the dense features, `kept` (dense names), and all sparse ones."""
    table = data.table
    names = tuple(name for name, is_kept in zip(table.names, kept, strict=True) if is_kept)
    weights = np.append(kept, np.ones(len(table.sparse.names), bool))
    return dataclasses.replace(
        data,
        table=dataclasses.replace(table, names=names, values=table.values[:, kept]),
        fixed=data.fixed[weights],
        lower=data.lower[weights],
        upper=data.upper[weights],
    )


def take_segments(data: TuningData, segments: LongArray) -> TuningData:
    """The same data for some of the segments."""
    table, rows = data.table.take_segments(segments)
    hypotheses = taken(data.hypotheses, np.asarray(segments))
    sources = [data.sources[segment] for segment in segments.tolist()] if data.sources else ()
    return dataclasses.replace(
        data, table=table, statistics=data.statistics[rows], hypotheses=hypotheses, sources=sources
    )


def tune(
    data: TuningData, tuner: Tuner, start: FloatArray, seed: int = 0, *, report: TuningReport = lambda step: None
) -> TuningResult:
    """Run the tuner from the weights `start` (raw, one per name of `data.table.all_names`); a seed fixes the result.

    Raises ConfigError where start weights are of the wrong number or not finite and where a fixed one is outside its
    bounds; PluginError where the tuner returns such weights or changes a fixed one.
    """
    names = data.table.all_names
    _check_weights(start, names, ConfigError, "start weights")
    outside = data.fixed & ((start < data.lower) | (start > data.upper))
    if outside.any():
        raise ConfigError(f"weight of {names[int(np.argmax(outside))]} is fixed outside its bounds")
    result = checked_tuning(tuner, data, start, np.random.default_rng(seed), report)
    who = f"tuner {type(tuner).__name__}: weights"
    _check_weights(result.weights, names, PluginError, who)
    changed = data.fixed & (result.weights != start)
    if changed.any():
        raise PluginError(f"{who}: that of {names[int(np.argmax(changed))]} is fixed, but was changed")
    return result


def decision_totals(data: TuningData, result: TuningResult) -> FloatArray:
    """(rows): the totals whose highest is the choice of a list, without a margin: weighted sums or expected utilities.

    Raises ConfigError where MBR lacks the texts.
    """
    scores, offsets = result.scores(data.table), data.table.offsets
    if result.decision == "map":
        return scores
    if not data.hypotheses:
        raise ConfigError("MBR compares hypotheses with each other: it needs their texts, and has none")
    return np.concatenate(
        [
            expected_scores(scores[begin:end], texts, data.metric_of(segment), result.scale, result.evidence or None)
            for segment, (texts, (begin, end)) in enumerate(zip(data.hypotheses, pairwise(offsets), strict=True))
        ]
    )


def chosen_rows(data: TuningData, result: TuningResult) -> LongArray:
    """(segments): the row that the result chooses in each list. Raises ConfigError where MBR lacks the texts."""
    offsets = data.table.offsets
    return one_best(with_margin(decision_totals(data, result), offsets, result.margin), offsets)


def held_out_score(data: TuningData, result: TuningResult) -> float:
    """The corpus score of the hypotheses that the result chooses in this data."""
    return float(data.metric.score(data.statistics[chosen_rows(data, result)].sum(axis=0)))


def record(data: TuningData, tuner: Tuner, start: FloatArray, seed: int, result: TuningResult) -> dict[str, Any]:
    """Everything needed to repeat a run, and its outcome, in values that TOML and JSON can hold."""
    start_weights = zip(data.table.all_names, start, strict=True)
    return {
        "version": __version__,
        "numpy": np.__version__,
        "tuner": f"{type(tuner).__module__}.{type(tuner).__qualname__}",
        "options": dataclasses.asdict(tuner) if dataclasses.is_dataclass(tuner) else {},
        "seed": seed,
        "metric": data.metric.signature(),
        "segments": data.table.segments,
        "hypotheses": len(data.table.values),
        "start": {name: float(weight) for name, weight in start_weights if weight},
        "fixed": [name for name, is_fixed in zip(data.table.all_names, data.fixed, strict=True) if is_fixed],
        "lower": _finite(data, data.lower),
        "upper": _finite(data, data.upper),
        "score": result.score,
        "restart_scores": list(result.restart_scores),
        "iterations": len(result.trace),
        "trace": [round(step.score, 4) for step in result.trace],
        "trace_restarts": [step.restart for step in result.trace],
        "notes": list(result.notes),
    }


def _finite(data: TuningData, bounds: FloatArray) -> dict[str, float]:
    """The finite bounds by feature name."""
    named_bounds = zip(data.table.all_names, bounds, strict=True)
    return {name: float(bound) for name, bound in named_bounds if np.isfinite(bound)}


def _check_weights(weights: FloatArray, names: tuple[str, ...], error: type[Exception], what: str) -> None:
    if np.shape(weights) != (len(names),):
        raise error(f"{what}: {np.size(weights)} values for {len(names)} features")
    if not np.isfinite(weights).all():
        raise error(f"{what}: that of {names[int(np.argmin(np.isfinite(weights)))]} is not finite")
