"""Makes start weights: equal ones, the decoder's own, or weights by name."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from rerank_adapters.tuners.feature_rows import FeatureRows
from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.errors import ConfigError
from rerank_plugins.core.feature_table import FeatureTable
from rerank_plugins.core.registry import suggestion

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
        return _named(table, start)
    if start == "uniform":
        return np.concatenate([np.ones(len(table.names)), np.zeros(len(table.sparse.names))])
    if start != "decoder":
        raise ConfigError(f"start weights {start!r}; wanted 'uniform', 'decoder' or weights by name")
    if totals is None or any(total is None for total in totals):
        raise ConfigError("cannot start from the decoder's weights: the n-best lists have no totals")
    return _decoder(table, np.asarray(totals, np.float64), decoder_features)


def _named(table: FeatureTable, start: Mapping[str, float]) -> FloatArray:
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
    values = table.values[:, columns]
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
