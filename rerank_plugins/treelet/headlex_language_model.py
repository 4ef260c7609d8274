"""The head-lexicalised language model HEADLEX, summed over the k best parses of a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from rerank_plugins.core.interfaces import option
from rerank_plugins.treelet.parsed_language_model import ParsedLanguageModel, TreeModel


@dataclass(frozen=True, kw_only=True)
class HeadlexLanguageModel(ParsedLanguageModel):
    """Head-lexicalised language model (Collins' Model 1 with the previous modifier), summed over the k best parses.

    Natural logs. Raises ModelError for a file that is missing, cut short, of another version or kind.
    """

    file_kind: ClassVar[str] = "headlex"
    model: Path = option(doc="model from `rerank train treelet-lm --variant headlex`")

    @cached_property
    def trees(self) -> TreeModel:
        """The tree model, loaded on first use."""
        from rerank_plugins.treelet.headlex_model_file import read_model

        return read_model(self.model)
