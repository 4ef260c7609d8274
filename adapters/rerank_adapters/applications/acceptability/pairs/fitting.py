"""Fits weights to minimal pairs by logistic regression.

The regression is on the differences between the features of the two sentences, P(good is better) =
σ(w · (x_good - x_bad)). It has no constant, so that exchanging the sentences exchanges the decision. Weights are meant
to be fitted to pairs whose bad sentences were generated (`rerank negatives`), never to the pairs that they will judge.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from rerank_adapters.applications.acceptability.logistic import fit_logistic
from rerank_adapters.applications.acceptability.pairs.preferences import Preferences
from rerank_adapters.chain.job import Job
from rerank_adapters.chain.provenance import EXTRACTING, RECORDED, recorded_tables
from rerank_adapters.text import TextPipeline
from rerank_adapters.weights import Weights
from rerank_plugins import ConfigError, FeatureTable, FloatArray, __version__


def fit_weights(table: FeatureTable, strength: float = 1.0) -> FloatArray:
    """(columns) weights fitted to a table of pairs (see `pair_table`).

    A smaller `strength` is a stronger penalty. Raises ConfigError as `fit_logistic` does.
    """
    differences = table.values[::2] - table.values[1::2]
    both = np.concatenate([differences, -differences])
    return fit_logistic(both, np.arange(len(both)) < len(differences), strength, constant=False).weights


def held_out_preferences(table: FeatureTable, folds: int, strength: float, seed: int) -> Preferences:
    """Judge each pair by weights fitted to the other folds, which estimates how well they do on pairs of this kind.

    Raises ConfigError where there are fewer pairs than folds.
    """
    pairs = len(table.values) // 2
    if pairs < folds:
        raise ConfigError(f"{pairs} pairs cannot be split into {folds} folds")
    fold = np.random.default_rng(seed).permutation(pairs) % folds
    scores = np.empty(len(table.values))
    for k in range(folds):
        held_out = np.repeat(fold == k, 2)
        rest = replace(table, values=table.values[~held_out])
        scores[held_out] = table.values[held_out] @ fit_weights(rest, strength)
    return Preferences.of_scores(f"weighted, {folds}-fold", scores[::2], scores[1::2])


def recorded_weights(job: Job, table: FeatureTable, weights: FloatArray, text: TextPipeline, folder: Path) -> Weights:
    """The weights with all that is needed to extract their features again.

    File names are recorded relative to `folder`, where the weights will be saved.
    """
    provenance = {
        "version": __version__,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "method": "logistic regression on pairs",
        "pairs": len(table.values) // 2,
        "text": text.describe(),
        RECORDED: recorded_tables(job, folder, *EXTRACTING),
    }
    return Weights(dict(zip(table.names, weights.tolist(), strict=True)), provenance=provenance)
