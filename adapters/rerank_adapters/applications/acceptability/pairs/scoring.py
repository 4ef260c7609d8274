"""Minimal pairs as reranking: a pair is a list of two, and a feature prefers the sentence that it gives more.

Columns of the feature table are systems that judge alone; a weighted sum of them is one more. Weights that suit the
judging of grammar come from pairs whose bad sentences were made (`rerank negatives`), never from the pairs that are
judged: a logistic regression on differences of features, P(good is better) = σ(w · (x_good - x_bad)), without a
constant, so that exchanging the sentences exchanges the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from rerank_adapters.applications.acceptability.logistic import fit_logistic
from rerank_adapters.applications.acceptability.pairs.preferences import Preferences
from rerank_adapters.formats.decoder_features import decoder_table
from rerank_adapters.formats.minimal_pairs import Pair
from rerank_adapters.pipeline.extract import extract_with
from rerank_adapters.pipeline.job import Job
from rerank_adapters.pipeline.provenance import EXTRACTING, RECORDED, recorded_tables
from rerank_adapters.text import TextPipeline
from rerank_adapters.weights import Weights
from rerank_plugins import ConfigError, FeatureTable, FloatArray, NBestList, __version__
from rerank_plugins.plugins import suggestion


def named_model(job: Job, spec: str) -> tuple[str, dict[str, Any]]:
    """What a language model is called, and its table: as in the config, as its file without endings, as its plugin."""
    table = job.language_model_table(spec)
    if spec in job.config.language_model:
        return spec, table
    if Path(spec).is_file():
        return Path(spec).name.split(".")[0], table
    return str(table.pop("label", table["use"])), table


def with_models(job: Job, specs: Sequence[str]) -> Job:
    """The job with a feature `ngram-lm` for each language model: a file, a name of the config, or a plugin's options.

    The feature is called as the file (without its ending) or the model is.
    """
    config = job.config
    features, models = list(config.feature), dict(config.language_model)
    for spec in specs:
        label, table = named_model(job, spec)
        models[label] = table
        features.append({"use": "ngram-lm", "lm": label, "label": label})
    return job.with_config({"feature": features, "language_model": models})


def sentence_table(
    job: Job, nbests: Sequence[NBestList], text: TextPipeline, columns: Sequence[str] = ()
) -> FeatureTable:
    """The job's features of all sentences, a row each, after the text steps; only the `columns` that a pattern names.

    Raises ConfigError where the job has no features, or a pattern names none.
    """
    if not job.labels:
        raise ConfigError("nothing to judge with: give features with -f, language models with --lm, or a config")
    texts = iter(text.apply([hypothesis.text for nbest in nbests for hypothesis in nbest]))
    read = [nbest.with_texts([next(texts) for _ in nbest]) for nbest in nbests]
    return chosen_columns(extract_with(job, read, decoder_table(read)), columns)


def chosen_columns(table: FeatureTable, patterns: Sequence[str]) -> FeatureTable:
    """The table with only the columns whose names some pattern matches (`*` is anything); all where there is none."""
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in table.names):
            raise ConfigError(f"--column: no column {pattern!r}{suggestion(pattern, table.names)}")
    kept = [
        i
        for i, name in enumerate(table.names)
        if not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)
    ]
    return replace(table, names=tuple(table.names[i] for i in kept), values=table.values[:, kept])


def pair_table(job: Job, pairs: Sequence[Pair], text: TextPipeline, columns: Sequence[str] = ()) -> FeatureTable:
    """The features of all pairs: rows 2i and 2i + 1 are the good and the bad sentence of pair i."""
    return sentence_table(job, [pair.nbest() for pair in pairs], text, columns)


def single_preferences(table: FeatureTable) -> list[Preferences]:
    """A system for each column that prefers a sentence in some pair. Raises ConfigError where none does."""
    good, bad = table.values[::2], table.values[1::2]
    systems = [Preferences.of_scores(name, good[:, i], bad[:, i]) for i, name in enumerate(table.names)]
    telling = [system for system in systems if system.ties < len(system.credit)]
    if not telling:
        raise ConfigError("no feature tells the sentences of any pair apart")
    return telling


def weighted_preferences(table: FeatureTable, weights: Weights) -> Preferences:
    """All columns together. Raises ConfigError where the weights are for other features."""
    scores = table.values @ weights.vector_for(table)
    return Preferences.of_scores("weighted", scores[::2], scores[1::2])


def fit_weights(table: FeatureTable, strength: float = 1.0) -> FloatArray:
    """(columns) weights by logistic regression on the differences between good and bad sentences."""
    differences = table.values[::2] - table.values[1::2]
    both = np.concatenate([differences, -differences])
    return fit_logistic(both, np.arange(len(both)) < len(differences), strength, constant=False).weights


def held_out_preferences(table: FeatureTable, folds: int, strength: float, seed: int) -> Preferences:
    """Each pair judged by weights fitted to the other folds: what the weights are worth on pairs of the same kind."""
    pairs = len(table.values) // 2
    if pairs < folds:
        raise ConfigError(f"{pairs} pairs cannot be cut into {folds} folds")
    fold = np.random.default_rng(seed).permutation(pairs) % folds
    scores = np.empty(len(table.values))
    for k in range(folds):
        held_out = np.repeat(fold == k, 2)
        rest = replace(table, values=table.values[~held_out])
        scores[held_out] = table.values[held_out] @ fit_weights(rest, strength)
    return Preferences.of_scores(f"weighted, {folds}-fold", scores[::2], scores[1::2])


def fitted_weights(job: Job, table: FeatureTable, weights: FloatArray, text: TextPipeline, folder: Path) -> Weights:
    """The weights with what is needed to extract their features again, to be written in `folder`."""
    provenance = {
        "version": __version__,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "method": "logistic regression on pairs",
        "pairs": len(table.values) // 2,
        "text": text.describe(),
        RECORDED: recorded_tables(job, folder, *EXTRACTING),
    }
    return Weights(dict(zip(table.names, weights.tolist(), strict=True)), provenance=provenance)
