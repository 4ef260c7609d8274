"""Words of a model by number, in lower case unless it was trained otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any


class KnownWords:
    """What models with `words` and the setting "lowercase" share."""

    words: tuple[str, ...]
    settings: Mapping[str, Any]

    @cached_property
    def number(self) -> dict[str, int]:
        """Number of each word."""
        return {word: i for i, word in enumerate(self.words)}

    def form(self, word: str) -> str:
        """The word as the model has it."""
        return word.lower() if self.settings["lowercase"] else word

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self.form(word) in self.number
