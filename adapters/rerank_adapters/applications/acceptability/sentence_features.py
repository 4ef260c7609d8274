"""The features of sentences: a row of a feature table for each sentence, and language models that act as features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from rerank_adapters.chain.extract import extract_with
from rerank_adapters.chain.job import Job
from rerank_adapters.formats.decoder_features import decoder_table
from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError, FeatureTable, NBestList
from rerank_plugins.core.registry import suggestion


def named_model(job: Job, spec: str) -> tuple[str, dict[str, Any]]:
    """The name and the config table of the language model that `spec` describes.

    The name is that of the config, or the file's without its endings, or else the label or the name of the plugin.
    """
    table = job.language_model_table(spec)
    if spec in job.config.language_model:
        return spec, table
    if Path(spec).is_file():
        return Path(spec).name.split(".")[0], table
    return str(table.pop("label", table["use"])), table


def with_models(job: Job, specs: Sequence[str]) -> Job:
    """The job with each language model as one more feature, labelled with the name of the model.

    A spec is a file, a name of the config, or a plugin with its options (see `named_model`).
    """
    features = list(job.config.feature)
    for spec in specs:
        label, table = named_model(job, spec)
        features.append({**table, "label": label})
    return job.with_config({"feature": features})


def sentence_table(
    job: Job, nbests: Sequence[NBestList], text: TextPipeline, columns: Sequence[str] = ()
) -> FeatureTable:
    """The job's features of all sentences, one row each, extracted after the text steps.

    With `columns`, only the columns that match one of these patterns are kept. Raises ConfigError where the job has no
    features, or a pattern matches no column.
    """
    if not job.labels:
        raise ConfigError("nothing to judge with: give features with -f, language models with --lm, or a config")
    texts = iter(text.apply([hypothesis.text for nbest in nbests for hypothesis in nbest]))
    processed = [nbest.with_texts([next(texts) for _ in nbest]) for nbest in nbests]
    return matching_columns(extract_with(job, processed, decoder_table(processed)), columns)


def matching_columns(table: FeatureTable, patterns: Sequence[str]) -> FeatureTable:
    """The table with the columns whose names match some pattern (`*` matches anything); all columns without patterns.

    Raises ConfigError for a pattern that matches no column.
    """
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in table.names):
            raise ConfigError(f"--column: no column {pattern!r}{suggestion(pattern, table.names)}")
    kept = [
        i
        for i, name in enumerate(table.names)
        if not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)
    ]
    return replace(table, names=tuple(table.names[i] for i in kept), values=table.values[:, kept])
