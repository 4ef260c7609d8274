"""Start weights: equal ones, the decoder's own by least squares, weights by name, or those of a file."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from rerank_adapters.weights import read_weights
from rerank_plugins import ConfigError, FeatureTable, FloatArray
from rerank_plugins.core.errors import suggestion

NAMED_STARTS = ("uniform", "decoder")  # other starts are weights by name, and files of weights
MAX_ERROR = 1e-3  # in the decoder's own totals, in their standard deviations
ROUNDS = 2000  # of least squares over sparse features

Start = str | Path | Mapping[str, float]


def start_vector(
    table: FeatureTable,
    start: Start,
    totals: Sequence[float | None] | FloatArray | None = None,
    *,
    decoder_features: Collection[str] | None = None,
) -> FloatArray:
    """Raw weights, one per name of `table.all_names`.

    "uniform"  1 for every dense feature on its original scale, 0 for sparse ones (as in Moses's uniform start)
    "decoder"  the weights that reproduce the decoder's totals (rows), by least squares; only features in
               `decoder_features` (None: all) get such a weight, the others get 0
    a mapping  weights by name; sparse features may be left out (they get 0), dense ones may not
    a path     the weights of a file; those of dense features that are not the decoder's may be left out (they get 0)

    Raises ConfigError where totals are missing or no weights reproduce them, and for missing or unknown names, and what
    `read_weights` raises.
    """
    own = [name for name in table.names if decoder_features is None or name in decoder_features]
    if isinstance(start, Path):
        weights = read_weights(start)
        added = {name: 0.0 for name in table.names if name not in own}
        return replace(weights, dense={**added, **weights.dense}).vector_for(table)
    if isinstance(start, Mapping):
        return _named_weights(table, start)
    if start == "uniform":
        return np.concatenate([np.ones(len(table.names)), np.zeros(len(table.sparse.names))])
    if start != "decoder":
        raise ConfigError(f"start weights {start!r}, expected 'uniform', 'decoder' or weights by name")
    numbers = np.array(np.nan if totals is None else totals, np.float64)  # None becomes nan
    if np.isnan(numbers).any():
        missing = "cannot start from the decoder's weights: the n-best lists have no totals"
        raise ConfigError(f"{missing}; start from 'uniform' or from weights by name")
    return _decoder_weights(table, numbers, own)


def baseline_weights(
    table: FeatureTable, totals: FloatArray, decoder_features: Collection[str]
) -> dict[str, FloatArray]:
    """Weights that need no tuning: those of the 1-best, equal ones, and the decoder's where its totals tell them.

    The decoder's 1-best is what weights of zero choose: all hypotheses tie, and the first of equals wins.
    """
    equal = start_vector(table, "uniform")
    weights = {"1-best": np.zeros_like(equal), "equal weights": equal}
    with suppress(ConfigError):  # lists without totals, or totals that are no weighted sum of the features
        weights["decoder's weights"] = start_vector(table, "decoder", totals, decoder_features=decoder_features)
    return weights


def _named_weights(table: FeatureTable, start: Mapping[str, float]) -> FloatArray:
    for name in start:
        if name not in set(table.all_names):
            raise ConfigError(f"start weights: no feature named {name!r}{suggestion(name, table.all_names)}")
    missing = [name for name in table.names if name not in start]
    if missing:
        raise ConfigError(f"start weights: none for {', '.join(missing)}")
    return np.array([start.get(name, 0.0) for name in table.all_names], np.float64)


def _decoder_weights(table: FeatureTable, totals: FloatArray, own: Sequence[str]) -> FloatArray:
    """Least squares over the dense features `own` and, where these do not suffice, over the sparse ones too."""
    columns = [table.names.index(name) for name in own]
    values = table.values[:, columns]
    weights = np.zeros(len(table.all_names))
    weights[columns] = np.linalg.lstsq(values, totals, rcond=None)[0]
    largest = MAX_ERROR * (float(np.std(totals)) or 1.0)
    error = float(np.abs(table.scores(weights) - totals).max(initial=0.0))
    if error > largest and table.sparse.names:
        from scipy.sparse import csr_array, hstack
        from scipy.sparse.linalg import lsqr

        block = table.sparse
        sparse = csr_array((block.data, block.indices, block.indptr), shape=(len(totals), len(block.names)))
        lengths = np.sqrt(np.concatenate([(values**2).sum(axis=0), np.asarray(sparse.power(2).sum(axis=0)).ravel()]))
        scale = 1.0 / np.where(lengths > 0, lengths, 1.0)  # columns of length 1
        both = hstack([csr_array(values), sparse]).multiply(scale).tocsr()
        fitted = scale * lsqr(both, totals, atol=1e-14, btol=1e-14, iter_lim=ROUNDS)[0]
        weights[columns], weights[len(table.names) :] = fitted[: len(columns)], fitted[len(columns) :]
        error = float(np.abs(table.scores(weights) - totals).max(initial=0.0))
    if not error <= largest:
        raise ConfigError(
            f"no weights of the decoder's features reproduce its totals: the best ones miss a total by {error:.3g} "
            f"(expected at most {largest:.1g}); start from 'uniform' or from weights by name"
        )
    return weights
