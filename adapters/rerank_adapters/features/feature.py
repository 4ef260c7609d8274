"""A feature of a job: an extractor under its label, with the text steps before it, and the key of its values."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError, FeatureExtractor, NBestList, PluginError, SentenceFeature
from rerank_plugins.core.contracts import fault_of_components
from rerank_plugins.core.identity import identity
from rerank_plugins.core.owners import class_name, owner_of

Sees = Literal["texts", "segment", "list", "rows"]  # the part of a list that a value may depend on


@dataclass(frozen=True)
class Feature:
    """An extractor, its label, and the steps that hypotheses and sources go through before it."""

    label: str
    extractor: FeatureExtractor
    text: TextPipeline = field(default_factory=TextPipeline)
    source: TextPipeline = field(default_factory=TextPipeline)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns."""
        return column_names(self.label, self.extractor.components)

    @cached_property
    def identity(self) -> str:
        """All that its values depend on besides the lists. Raises what `identity` raises."""
        steps = [own.describe() for own in (self.text, self.source)]
        code = [TextPipeline] if self.text.steps or self.source.steps else []
        return identity(self.extractor, list(self.extractor.components), steps, code)

    @property
    def sees(self) -> Sees:
        """The part of a list that its extractor may read, by its scope."""
        kind = type(self.extractor)
        if self.extractor.by_row:
            return "rows"
        if self.extractor.scope == "list":
            return "list"
        inherited = kind.extract is SentenceFeature.extract and kind.extract_all is SentenceFeature.extract_all
        return "texts" if inherited else "segment"

    def read(self, lists: Sequence[NBestList]) -> list[NBestList]:
        """The lists as the extractor reads them: after the text steps."""
        if not self.text.steps and not self.source.steps:
            return list(lists)
        texts = iter(self.text.apply([text for nbest in lists for text in nbest.texts]))
        sources = self.source.apply([nbest.source or "" for nbest in lists])
        return [
            nbest.with_texts([next(texts) for _ in nbest], None if nbest.source is None else source)
            for nbest, source in zip(lists, sources, strict=True)
        ]


def seen_part(nbest: NBestList, sees: Sees) -> bytes:
    """A hash of a part of a list: its texts, these with source, id and context, everything, or the rows in its files.

    A list that records no rows is seen as a whole in their place.
    """
    if sees == "rows" and len(nbest.rows):
        return _hash(list(nbest.rows))
    if sees == "texts":
        return _hash(nbest.texts)
    segment = [nbest.texts, nbest.segment_id, nbest.source, nbest.context]
    if sees == "segment":
        return _hash(segment)
    sparse = [dict(values) for values in nbest.sparse] if any(nbest.sparse) else []
    numbers = [nbest.totals.tobytes().hex(), nbest.values.tobytes().hex()]
    return _hash([*segment, nbest.feature_names, numbers, sparse])


def _hash(part: object) -> bytes:
    text = json.dumps(part, ensure_ascii=False, sort_keys=True).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=16).digest()


def column_names(label: str, components: Iterable[str]) -> tuple[str, ...]:
    """The names of a feature's columns: `label.component`, or the label alone for a component without a name."""
    return tuple(f"{label}.{part}" if part else label for part in components)


def names_of(features: Iterable[Feature]) -> tuple[str, ...]:
    """The names of all columns, in order."""
    return tuple(name for feature in features for name in feature.names)


def columns_of(features: Iterable[Feature]) -> dict[str, list[str]]:
    """By label, the names of the columns of each feature."""
    return {feature.label: list(feature.names) for feature in features}


def check_label(label: str) -> None:
    """Raise ConfigError for a label that does not fit into files of lists and weights."""
    if fault := fault_of_components((label,)):
        raise ConfigError(f"feature {label!r}: its label is no name of a feature: {fault}")


def check_names(features: Sequence[Feature], taken: Sequence[str] = ()) -> None:
    """Raise ConfigError for two columns of one name, of which `taken` are the decoder's.

    Names go to files of lists and weights: PluginError is raised for components whose names do not fit there, and
    ConfigError for such a label.
    """
    for feature in features:
        kind = type(feature.extractor)
        if fault := fault_of_components(feature.extractor.components):
            raise PluginError(f"feature {feature.label!r} ({class_name(kind)}{owner_of(kind)}): {fault}")
        check_label(feature.label)
    for name, times in Counter([*taken, *names_of(features)]).items():
        if times > 1:
            other = "the decoder has" if name in taken else "another extractor makes"
            raise ConfigError(f"{other} a feature {name!r} too: give the extractor another label")
