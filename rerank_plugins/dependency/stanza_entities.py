"""Named entities by Stanza (Qi et al. 2020) on tokenised sentences; this needs the extra `stanza`.

All entity types of the model are used, including dates and amounts if it was trained on them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from rerank_plugins.core.errors import ConfigError
from rerank_plugins.core.interfaces import Sentence, option
from rerank_plugins.core.pickling import PickledFields
from rerank_plugins.dependency.stanza_pipeline import open_pipeline

LONGEST = 300  # words; longer sentences are skipped and have no entities


@dataclass(frozen=True)
class StanzaEntities(PickledFields):
    """Entities by a downloaded model, a folder of models, or a model file (without a character language model).

    Raises ModelError in the same cases as Stanza's parser.
    """

    language: str = option("en", doc="code of the language, such as en")
    package: str = option("", doc="package of the models, such as ontonotes; empty: Stanza's default")
    folder: Path | None = option(None, doc="folder with Stanza's resources.json and models, instead of downloads")
    model: Path | None = option(None, doc="model file (.pt)")
    vectors: Path | None = option(None, doc="word vectors that the model was trained with (.pt)")

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> StanzaEntities:
        """Build it from options given on a command line. Raises ConfigError for an unknown option."""
        known = {field.name for field in fields(cls)}
        for name in table:
            if name not in known:
                raise ConfigError(f"entities by stanza have no option {name!r}, only: {', '.join(sorted(known))}")
        if table.get("model") and table.get("folder"):
            raise ConfigError("entities by stanza: give either `folder` or the file `model`, not both")
        paths = ("folder", "model", "vectors")
        options: dict[str, Any] = {name: Path(value) if name in paths else value for name, value in table.items()}
        return cls(**options)

    def __str__(self) -> str:
        name = self.model.name if self.model else self.package
        return f"entities by stanza ({self.language}{f', {name}' if name else ''})"

    @cached_property
    def _pipeline(self) -> Any:
        package = self.package or "default"
        return open_pipeline(
            "--entities stanza",
            self.language,
            {"tokenize": package, "ner": package},
            {"ner_model_path": self.model, "ner_pretrain_path": self.vectors},
            package=self.package,
            folder=self.folder,
            advice="`folder`, or the file `model`",
        )

    def entities(self, sentences: Sequence[Sentence]) -> list[tuple[str, ...]]:
        """The distinct entities of each sentence in order, lower-cased, with one space between tokens."""
        entities: list[tuple[str, ...]] = [()] * len(sentences)
        fit = [i for i, sentence in enumerate(sentences) if 0 < len(sentence) <= LONGEST]
        if fit:
            document = self._pipeline([list(sentences[i]) for i in fit])
            for i, sentence in zip(fit, document.sentences, strict=True):
                names = (" ".join(token.text for token in entity.tokens).lower() for entity in sentence.ents)
                entities[i] = tuple(dict.fromkeys(names))
        return entities
