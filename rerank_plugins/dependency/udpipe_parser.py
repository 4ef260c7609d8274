"""UDPipe 1 (Straka & Straková 2017): parsers for many languages from a model file, on tokenised sentences.

The model's tagger and parser are used, its tokeniser is not. A model is loaded on first use, once per process, and may
be used by several threads. Not supported: training (use ufal.udpipe), lemmas and morphological features.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from rerank_plugins.core.brackets_and_quotes import normal_form
from rerank_plugins.core.dependency_tree import DependencyTree, tree_fault
from rerank_plugins.core.errors import ModelError
from rerank_plugins.core.interfaces import Parse, Parser, Sentence, option
from rerank_plugins.core.pickling import PickledFields
from rerank_plugins.core.trained_on import TrainedOn, language_code

MAGIC = b"morphodita_parsito"  # a model file begins with the length of this name, and the name


@dataclass(frozen=True)
class UdpipeParser(Parser, PickledFields):
    """Dependency trees by a UDPipe 1 model file.

    Raises ModelError for a file that is missing, cut short, no model, for another language, or lacks tagger or parser.
    """

    engines: ClassVar[tuple[str, ...]] = ("ufal.udpipe",)

    model: Path = option(doc="UDPipe 1 model (.udpipe)")
    language: str = option(
        "", doc="language, such as english: a published model with the name of another one is refused"
    )
    beam: int = option(5, doc="width of the parser's beam; 1: greedy, twice as fast")

    def __post_init__(self) -> None:
        if self.beam < 1:
            raise ValueError(f"beam must be at least 1, found {self.beam}")

    @property
    def _named_language(self) -> str:
        named = re.match(r"([a-z_]+)-[a-z0-9]+-ud-", self.model.name)  # names of published models: english-ewt-ud-2.5-…
        return named[1] if named else ""

    @property
    def trained_on(self) -> TrainedOn:
        """The language that the option or the name of a published model says."""
        return TrainedOn(language_code(self.language or self._named_language))

    @cached_property
    def _model(self) -> Any:
        from ufal.udpipe import Model

        if self._named_language:
            TrainedOn(self._named_language).check_language(self.language, self.model)
        try:
            with open(self.model, "rb") as stream:
                start = stream.read(1 + len(MAGIC))
        except OSError as error:
            raise ModelError(f"{self.model}: the UDPipe model cannot be read ({error.strerror})") from None
        if start != bytes([len(MAGIC)]) + MAGIC:
            raise ModelError(f"{self.model}: not a UDPipe model")
        model = Model.load(str(self.model))
        if model is None:
            raise ModelError(f"{self.model}: the UDPipe model is cut short, or of another version")
        return model

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse]:
        """One parse per sentence; `Parse()` for an empty sentence, and where the model finds no tree with one root."""
        return [self._parse(sentence) for sentence in sentences]

    def _parse(self, sentence: Sentence) -> Parse:
        from ufal import udpipe

        if not sentence:
            return Parse()
        words = udpipe.Sentence()
        try:
            for form in sentence:
                words.addWord(normal_form(form))
        except (TypeError, UnicodeEncodeError):  # lone surrogates, which UTF-8 cannot encode
            return Parse()
        error = udpipe.ProcessingError()
        if not (self._model.tag(words, "", error) and self._model.parse(words, f"beam_search={self.beam}", error)):
            raise ModelError(f"{self.model}: {error.message.strip().rstrip('!')}")
        rows = [words.words[i] for i in range(1, words.words.size())]
        heads = tuple(row.head - 1 for row in rows)
        if tree_fault(heads):
            return Parse()
        relations, tags = tuple(row.deprel for row in rows), tuple(row.upostag for row in rows)
        return Parse(DependencyTree(tuple(sentence), heads, relations, tags))
