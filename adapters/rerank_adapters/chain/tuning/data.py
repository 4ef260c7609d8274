"""Builds and checks tuning data: features and statistics of the same rows, and constraints on named weights."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from rerank_plugins.core.arrays import BoolArray, FloatArray, LongArray
from rerank_plugins.core.errors import ConfigError, RerankError
from rerank_plugins.core.feature_table import FeatureTable
from rerank_plugins.core.metrics_and_tuners import Metric, TuningData
from rerank_plugins.core.registry import suggestion


def prepare(
    table: FeatureTable,
    statistics: FloatArray,
    metric: Metric,
    *,
    hypotheses: Sequence[Sequence[str]] = (),
    fixed: Collection[str] = (),
    lower: Mapping[str, float] | None = None,
    upper: Mapping[str, float] | None = None,
) -> TuningData:
    """Build tuning data from a table, the statistics of its rows (rows, S) and constraints by feature name.

    `fixed` names the features whose weights stay at their start values; `lower` and `upper` are bounds. Sparse features
    may be named too. `hypotheses` are the texts of each segment as the metric saw them, which MBR needs. Raises
    ConfigError for a name that is not a feature and for bounds that cross, RerankError for rows that do not match, for
    values that are not finite, and for a segment without hypotheses.
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
    _check(table, statistics, hypotheses)
    is_fixed = np.array([name in set(fixed) for name in names], bool)
    return TuningData(table, statistics, metric, is_fixed, low, high, hypotheses)


def _check(table: FeatureTable, statistics: FloatArray, hypotheses: Sequence[Sequence[str]]) -> None:
    """Raise RerankError for parts that do not match, for values that are not finite and for empty segments."""
    if not table.segments:
        raise RerankError("nothing to tune on: the feature table has no segments")
    if len(statistics) != len(table.values):
        raise RerankError(f"statistics of {len(statistics)} hypotheses, but {len(table.values)} rows of features")
    lengths = np.diff(table.offsets)
    empty = np.flatnonzero(lengths <= 0)
    if len(empty):
        raise RerankError(f"segment {table.segment_ids[empty[0]]} has no hypotheses to choose from")
    if hypotheses and [len(texts) for texts in hypotheses] != lengths.tolist():
        raise RerankError("the texts of the hypotheses do not match the rows of the feature table")
    if not np.isfinite(statistics).all():
        raise RerankError("the statistics of the metric contain a value that is not finite")
    for column, name in enumerate(table.names):
        if not np.isfinite(table.values[:, column]).all():
            raise RerankError(f"feature {name} has a value that is not finite")
    if not np.isfinite(table.sparse.data).all():
        raise RerankError("a sparse feature has a value that is not finite")


def take_features(data: TuningData, kept: BoolArray) -> TuningData:
    """The same data with some of the dense features, `kept` (dense names), and all sparse ones."""
    table = data.table
    names = tuple(name for name, is_kept in zip(table.names, kept, strict=True) if is_kept)
    weights = np.append(kept, np.ones(len(table.sparse.names), bool))
    return replace(
        data,
        table=replace(table, names=names, values=table.values[:, kept]),
        fixed=data.fixed[weights],
        lower=data.lower[weights],
        upper=data.upper[weights],
    )


def take_segments(data: TuningData, segments: LongArray) -> TuningData:
    """The same data for some of the segments."""
    table, rows = data.table.take_segments(segments)
    hypotheses = [data.hypotheses[s] for s in segments] if data.hypotheses else ()
    return replace(data, table=table, statistics=data.statistics[rows], hypotheses=hypotheses)
