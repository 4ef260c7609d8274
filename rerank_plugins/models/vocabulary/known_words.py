"""Words of a model by number, in lower case unless it was trained otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from rerank_plugins.trees.penn import known_spelling, normal_form


class KnownWords:
    """What models with `words` and the setting "lowercase" share."""

    words: tuple[str, ...]
    settings: Mapping[str, Any]

    @cached_property
    def number(self) -> dict[str, int]:
        """Number of each word."""
        return {word: i for i, word in enumerate(self.words)}

    def form(self, word: str) -> str:
        """The word as the model has it: in normal form (trees/penn.py), in lower case if it was trained so."""
        fold = str.lower if self.settings["lowercase"] else str
        return known_spelling(word, self.number, fold) or fold(normal_form(word))

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self.form(word) in self.number
