"""The plan of an extraction: extractors by label, their text pipelines, and the columns that they make."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError, FeatureExtractor
from rerank_plugins.core.identity import describe


def column_names(label: str, extractor: FeatureExtractor) -> list[str]:
    """`label.component` for each component; the label alone for a component without a name."""
    return [f"{label}.{component}" if component else label for component in extractor.components]


def feature_names(extractors: Mapping[str, FeatureExtractor]) -> tuple[str, ...]:
    """The names of the columns that extractors add, in order."""
    return tuple(name for label, extractor in extractors.items() for name in column_names(label, extractor))


@dataclass(frozen=True)
class Plan:
    """Extractors and, by label, the pipelines of their hypotheses and sources.

    An extractor without a pipeline sees the text as it is.
    """

    extractors: Mapping[str, FeatureExtractor]
    texts: Mapping[str, TextPipeline] = field(default_factory=dict)
    sources: Mapping[str, TextPipeline] = field(default_factory=dict)

    def check(self, taken: Sequence[str] = ()) -> None:
        """Raise ConfigError for two columns of one name (`taken` are the decoder's) or a pipeline without extractor."""
        for label in [*self.texts, *self.sources]:
            if label not in self.extractors:
                raise ConfigError(f"there is a text pipeline for the feature {label!r}, which is not extracted")
        for name, times in Counter([*taken, *self.names]).items():
            if times > 1:
                other = "the decoder has" if name in taken else "another extractor makes"
                raise ConfigError(f"{other} a feature {name!r} too: give the extractor another label")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return feature_names(self.extractors)

    def pipelines(self, label: str) -> tuple[TextPipeline, TextPipeline]:
        """The pipelines of an extractor, for hypotheses and for the source."""
        return self.texts.get(label, TextPipeline()), self.sources.get(label, TextPipeline())

    def describe(self) -> dict[str, Any]:
        """By label, all that the values depend on besides the lists, as plain values for JSON."""
        descriptions = {}
        for label, extractor in self.extractors.items():
            text, source = self.pipelines(label)
            descriptions[label] = {
                "extractor": describe(extractor),
                "components": list(extractor.components),
                "text": text.describe(),
                "source": source.describe(),
            }
        return descriptions
