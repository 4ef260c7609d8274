"""What is extracted: extractors by label, the text pipelines they read through, and the columns that come of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError, FeatureExtractor
from rerank_plugins.identity import describe


def column_names(label: str, extractor: FeatureExtractor) -> list[str]:
    """`label.component` for each component; the label alone for a single nameless one."""
    return [f"{label}.{component}" if component else label for component in extractor.components]


def feature_names(extractors: Mapping[str, FeatureExtractor]) -> tuple[str, ...]:
    """The columns that extractors add, in order."""
    return tuple(name for label, extractor in extractors.items() for name in column_names(label, extractor))


@dataclass(frozen=True)
class Plan:
    """Extractors and, by label, the pipelines for their hypotheses and sources (others see text as it is).

    Raises ConfigError for two columns of one name and for a pipeline without extractor.
    """

    extractors: Mapping[str, FeatureExtractor]
    texts: Mapping[str, TextPipeline] = field(default_factory=dict)
    sources: Mapping[str, TextPipeline] = field(default_factory=dict)

    def check(self, taken: Sequence[str] = ()) -> None:
        """Raise ConfigError where columns collide, with each other or with the names `taken` by the decoder's."""
        for label in [*self.texts, *self.sources]:
            if label not in self.extractors:
                raise ConfigError(f"a text pipeline is given for feature {label!r}, which is not extracted")
        for name, times in Counter([*taken, *self.names]).items():
            if times > 1:
                other = "the decoder has" if name in taken else "another extractor gives"
                raise ConfigError(f"{other} a feature {name!r} too: give the extractor another label")

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in order."""
        return feature_names(self.extractors)

    def pipelines(self, label: str) -> tuple[TextPipeline, TextPipeline]:
        """The pipelines of hypotheses and source for an extractor."""
        return self.texts.get(label, TextPipeline()), self.sources.get(label, TextPipeline())

    def describe(self) -> dict[str, Any]:
        """By label, all that the values depend on besides the lists; plain values, ready for JSON."""
        described = {}
        for label, extractor in self.extractors.items():
            text, source = self.pipelines(label)
            described[label] = {
                "extractor": describe(extractor),
                "components": list(extractor.components),
                "text": text.describe(),
                "source": source.describe(),
            }
        return described
