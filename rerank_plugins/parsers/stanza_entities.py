"""Named entities by Stanza (Qi et al. 2020), on tokens as they are; the extra `stanza`.

All types that the model knows count, dates and amounts among them where it was trained on such.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from rerank_plugins.errors import ConfigError
from rerank_plugins.interfaces import Sentence, option
from rerank_plugins.parsers.stanza_pipeline import open_pipeline
from rerank_plugins.pickling import PickledFields

LONGEST = 300  # words: a longer sentence has no entities


@dataclass(frozen=True)
class StanzaEntities(PickledFields):
    """Entities by downloaded models, a folder of them, or a model file (one without a character language model).

    Raises ModelError, one line, as Stanza's parser does.
    """

    language: str = option("en", doc="code of the language")
    package: str = option("", doc="the models' package, as ontonotes; Stanza's default if empty")
    folder: Path | None = option(None, doc="folder with Stanza's resources.json and models; nothing is downloaded then")
    model: Path | None = option(None, doc="model file (.pt)")
    vectors: Path | None = option(None, doc="word vectors that it was trained with (.pt)")

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> StanzaEntities:
        """From options as a command line gives them. Raises ConfigError for one that there is not."""
        known = {field.name for field in fields(cls)}
        for name in table:
            if name not in known:
                raise ConfigError(f"entities by stanza have no option {name!r}, only: {', '.join(sorted(known))}")
        if table.get("model") and table.get("folder"):
            raise ConfigError("entities by stanza: give either `folder` or the file `model`, not both")
        paths = ("folder", "model", "vectors")
        given: dict[str, Any] = {name: Path(value) if name in paths else value for name, value in table.items()}
        return cls(**given)

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
        """Those of each sentence in lower case, tokens apart by one space, in order, each once."""
        found: list[tuple[str, ...]] = [()] * len(sentences)
        fit = [i for i, sentence in enumerate(sentences) if 0 < len(sentence) <= LONGEST]
        if fit:
            document = self._pipeline([list(sentences[i]) for i in fit])
            for i, sentence in zip(fit, document.sentences, strict=True):
                names = (" ".join(token.text for token in entity.tokens).lower() for entity in sentence.ents)
                found[i] = tuple(dict.fromkeys(names))
        return found
