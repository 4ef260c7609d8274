"""Features of texts by plugins that a caller has loaded, without a config: for functions that judge texts.

The values are those of the commands, taken from the same cache and kept there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from rerank_adapters.features.extraction import Extraction
from rerank_adapters.features.feature import Feature
from rerank_adapters.features.processes import Processes
from rerank_plugins import ConfigError, FeatureExtractor, FeatureTable, NBestList, SentenceModel
from rerank_plugins.core.errors import suggestion


def judging_columns(
    extractors: Mapping[str, FeatureExtractor],
    nbests: Sequence[NBestList],
    columns: str | Sequence[str] | None,
    jobs: int,
) -> FeatureTable:
    """The features of lists by which their hypotheses are judged, a column each.

    They are the columns that match some pattern of `columns`. With None they are all but those of language models,
    which have their `total` alone, under the name of the model. The log warns of texts of another language than the
    models. Raises ConfigError for a pattern that no column matches, and as an extraction does.
    """
    features = [Feature(label, extractor) for label, extractor in extractors.items()]
    table = Extraction(features, processes=Processes(jobs)).table(nbests)
    if columns is None:
        return _totals(table, extractors)
    return matching_columns(table, [columns] if isinstance(columns, str) else columns)


def matching_columns(table: FeatureTable, patterns: Sequence[str], where: str = "columns") -> FeatureTable:
    """The columns whose names match some pattern; all without patterns.

    Raises ConfigError, which begins with `where`, for a pattern without a match.
    """
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in table.names):
            raise ConfigError(f"{where}: no column {pattern!r}{suggestion(pattern, table.names)}")
    wanted = patterns or ("*",)
    kept = [i for i, name in enumerate(table.names) if any(fnmatchcase(name, pattern) for pattern in wanted)]
    return replace(table, names=tuple(table.names[i] for i in kept), values=table.values[:, kept])


def _totals(table: FeatureTable, extractors: Mapping[str, FeatureExtractor]) -> FeatureTable:
    """The columns without those of language models but their `total`, which has the name of the model."""
    renamed = {f"{name}.total": name for name, model in extractors.items() if isinstance(model, SentenceModel)}
    models = tuple(f"{name}." for name in renamed.values())
    kept = [i for i, name in enumerate(table.names) if name in renamed or not name.startswith(models)]
    names = tuple(renamed.get(table.names[i], table.names[i]) for i in kept)
    return replace(table, names=names, values=table.values[:, kept])
