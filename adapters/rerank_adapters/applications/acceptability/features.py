"""The features of sentences; language models act as features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rerank_adapters.applications.acceptability.text_features import matching_columns
from rerank_adapters.features.extraction import Extraction
from rerank_adapters.job.models import language_model_table
from rerank_adapters.job.names import Names
from rerank_adapters.job.parts import labelled
from rerank_adapters.job.specs import Spec
from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError, FeatureTable, NBestList
from rerank_plugins.core.plugins import RESERVED


def named_model(spec: str | Path, names: Names) -> tuple[str, dict[str, Any]]:
    """The name and the config table of the language model that `spec` describes.

    The name is that of the config, or the file's without its endings, or else the label or the name of the plugin.
    """
    table = language_model_table(spec, names)
    if spec in names.tables.get("language_model", {}):
        return str(spec), table
    if Path(spec).is_file():
        return Path(spec).name.split(".")[0], table
    return str(table.pop("label", table["use"])), table


def with_models(
    features: Sequence[Mapping[str, Any]], specs: Sequence[str | Path], names: Names
) -> list[Mapping[str, Any]]:
    """The tables of features, and of each language model as one more, labelled with the name of the model.

    A spec is a file, a name of the config, or a plugin with its options (see `named_model`). A model that is one of the
    features under the same label already is not added again.
    """
    present, all_features = labelled("feature", features, names), list(features)
    for spec in specs:
        label, table = named_model(spec, names)
        if label not in present or _model_table(present[label], names) != _model_table(table, names):
            all_features.append({**table, "label": label})
    return all_features


def _model_table(feature: Mapping[str, Any], names: Names) -> dict[str, Any]:
    """The table of a feature that is a language model, without the keys of features; files by their whole paths."""
    own = {key: value for key, value in feature.items() if key == "use" or key not in RESERVED["feature"]}
    return Spec.read("feature", own, names).table()


def sentence_table(
    extraction: Extraction, nbests: Sequence[NBestList], text: TextPipeline, columns: Sequence[str] = ()
) -> FeatureTable:
    """The features of all sentences, one row each, extracted after the text steps; their order means nothing.

    With `columns`, only the columns that match one of these patterns are kept. Raises ConfigError where there are no
    features, or a pattern matches no column.
    """
    if not extraction.features:
        raise ConfigError("nothing to judge with: give features with -f, language models with -M, or a config")
    texts = iter(text.apply([hypothesis.text for nbest in nbests for hypothesis in nbest]))
    processed = [nbest.with_texts([next(texts) for _ in nbest]) for nbest in nbests]
    return matching_columns(replace(extraction, ranks=False).table(processed), columns, "--column")
