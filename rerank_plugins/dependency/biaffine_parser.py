"""The project's own dependency parser (biaffine/), with a model file or the embedded English model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rerank_plugins.core.brackets_and_quotes import Words
from rerank_plugins.core.interfaces import Parse, Parser, Sentence, option
from rerank_plugins.core.pickling import PickledFields
from rerank_plugins.core.trained_on import TrainedOn
from rerank_plugins.kit.files.embedded import embedded, shared_if_embedded

if TYPE_CHECKING:
    from rerank_plugins.dependency.biaffine.parser_file import BiaffineModel

LONGEST = 300  # words; longer ones are not parsed: arcs grow with the square, and such "sentences" are none
EMBEDDED = embedded("parser.npz")


@dataclass(frozen=True)
class BiaffineParser(Parser, PickledFields):
    """Dependency trees by a model of the project's own parser (biaffine attention over a BiLSTM).

    Raises ModelError for a file that is missing, cut short, of another kind or version, or for another language.
    """

    model: Path = option(doc="model of `rerank train dependency-parser`")
    language: str = option("", doc="code of the language, such as en: a model for another one is refused")

    @cached_property
    def _model(self) -> BiaffineModel:
        from rerank_plugins.dependency.biaffine.parser_file import read_model

        model = replace(shared_if_embedded(self.model, read_model))  # which remembers words of its own
        TrainedOn(model.language).check_language(self.language, self.model)
        return model

    @property
    def trained_on(self) -> TrainedOn:
        """The language of the model."""
        return TrainedOn(self._model.language)

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse]:
        """One parse per sentence; `Parse()` for an empty sentence, and for more than 300 words."""
        from rerank_plugins.dependency.biaffine.parsing import parse_all

        fit = [i for i, sentence in enumerate(sentences) if 0 < len(sentence) <= LONGEST]
        parses = [Parse()] * len(sentences)
        for i, tree in zip(fit, parse_all(self._model, [sentences[i] for i in fit]), strict=True):
            parses[i] = Parse(tree)
        return parses


@dataclass(frozen=True)
class EnglishParser(Parser, PickledFields):
    """English dependency trees by the embedded model (Universal Dependencies; no download)."""

    resources: ClassVar[tuple[Path, ...]] = (EMBEDDED,)

    @cached_property
    def _parser(self) -> BiaffineParser:
        return BiaffineParser(EMBEDDED, "en")

    @property
    def trained_on(self) -> TrainedOn:
        """English."""
        return TrainedOn("en")

    @property
    def vocabulary(self) -> Words:
        """The words that the model has vectors of."""
        return self._parser._model

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse]:
        """One parse per sentence; `Parse()` for an empty sentence, and for more than 300 words."""
        return self._parser.parse(sentences)
