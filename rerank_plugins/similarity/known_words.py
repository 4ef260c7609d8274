"""A mixin that looks up the words of a text in a model of word similarity."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from rerank_plugins.core.brackets_and_quotes import known_spelling, normal_form


class KnownWords:
    """A mixin that gives a model the look-up of its words: `word in model`, `model.form(word)`, `model.number`.

    The model has the fields `words`, in the order of their numbers, and `settings`, whose entry "lowercase" says
    whether it was trained on lower-cased text.
    """

    words: tuple[str, ...]
    settings: Mapping[str, Any]

    @cached_property
    def number(self) -> dict[str, int]:
        """The number of each word."""
        return {word: i for i, word in enumerate(self.words)}

    def form(self, word: str) -> str:
        """The form of the word in the model: the normal form, in lower case if the model was trained so."""
        fold = str.lower if self.settings["lowercase"] else str
        return known_spelling(word, self.number, fold) or fold(normal_form(word))

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self.form(word) in self.number
