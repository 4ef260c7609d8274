"""The features of sentences; language models act as features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rerank_adapters.applications.acceptability.text_features import matching_columns
from rerank_adapters.job.models import language_model_table
from rerank_adapters.job.specs import Spec
from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError, FeatureTable, NBestList
from rerank_plugins.core.plugins import RESERVED

if TYPE_CHECKING:
    from rerank_adapters.job.job import Job


def named_model(job: Job, spec: str | Path) -> tuple[str, dict[str, Any]]:
    """The name and the config table of the language model that `spec` describes.

    The name is that of the config, or the file's without its endings, or else the label or the name of the plugin.
    """
    table = language_model_table(spec, job.names)
    if spec in job.config.language_model:
        return str(spec), table
    if Path(spec).is_file():
        return Path(spec).name.split(".")[0], table
    return str(table.pop("label", table["use"])), table


def with_models(job: Job, specs: Sequence[str | Path]) -> Job:
    """The job with each language model as one more feature, labelled with the name of the model.

    A spec is a file, a name of the config, or a plugin with its options (see `named_model`). A model that is a feature
    of the job under the same label already is not added again.
    """
    features = list(job.config.feature)
    present = dict(zip(job.labels, features, strict=True))
    for spec in specs:
        label, table = named_model(job, spec)
        if label not in present or _model_table(job, present[label]) != _model_table(job, table):
            features.append({**table, "label": label})
    return job.changed(feature=features)


def _model_table(job: Job, feature: Mapping[str, Any]) -> dict[str, Any]:
    """The table of a feature that is a language model, without the keys of features; files by their whole paths."""
    own = {key: value for key, value in feature.items() if key == "use" or key not in RESERVED["feature"]}
    return Spec.read("feature", own, job.names).table()


def sentence_table(
    job: Job, nbests: Sequence[NBestList], text: TextPipeline, columns: Sequence[str] = ()
) -> FeatureTable:
    """The job's features of all sentences, one row each, extracted after the text steps.

    With `columns`, only the columns that match one of these patterns are kept. Raises ConfigError where the job has no
    features, or a pattern matches no column.
    """
    if not job.labels:
        raise ConfigError("nothing to judge with: give features with -f, language models with -M, or a config")
    texts = iter(text.apply([hypothesis.text for nbest in nbests for hypothesis in nbest]))
    processed = [nbest.with_texts([next(texts) for _ in nbest]) for nbest in nbests]
    return matching_columns(job.changed(ranks=False).extraction().table(processed), columns, "--column")
