"""The features of sentences; language models act as features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rerank_adapters.applications.acceptability.text_features import matching_columns
from rerank_adapters.features.extraction import Extraction
from rerank_adapters.job.models import language_model_of
from rerank_adapters.job.parts import Part
from rerank_adapters.job.specs import Names
from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError, FeatureTable, NBestList


def model_part(given: str | Path, names: Names) -> Part:
    """The language model that is given by its file, its name in the config or with its options, under its name.

    The name is that of the config, or the file's without its endings, or else the label or the name of the plugin.
    """
    if isinstance(given, Path) or given in names.own_models or Path(given).is_file():
        spec = language_model_of(given, names)
        return Part(spec.name or Path(given).name.split(".")[0], spec)
    return Part.read("language_model", given, names, "-M")


def with_models(
    features: Sequence[Part], models: Sequence[str | Path], names: Names, folder: Path
) -> list[dict[str, Any]]:
    """The tables of features, and of each language model as one more, labelled with the name of the model.

    Models are given as in `model_part`. One that is among the features under the same label is not added again.
    """
    present, added = {part.label: part.spec for part in features}, list(features)
    for given in models:
        part = model_part(given, names)
        if present.get(part.label) != part.spec:
            added.append(part)
    return [part.table(folder, objects=True) | {"label": part.label} for part in added]


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
