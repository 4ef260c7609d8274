"""The treelet language model (Pauls & Klein 2012), summed over the k best parses of a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.interfaces import Sentence, option
from rerank_plugins.kit.files.embedded import embedded, shared_if_embedded
from rerank_plugins.treelet.parsed_language_model import ParsedLanguageModel

if TYPE_CHECKING:
    from rerank_plugins.treelet.model import TreeletModel
    from rerank_plugins.treelet.sampling import TreeletSampler

EMBEDDED = embedded("treelet-lm.zst")


@dataclass(frozen=True, kw_only=True)
class TreeletLanguageModel(ParsedLanguageModel):
    """Treelet language model: each tree is scored by windows of tree context, summed over the k best parses.

    Natural logs. Raises ModelError for a file that is missing, cut short, of another version or kind.
    """

    file_kind: ClassVar[str] = "treelet"
    model: Path | None = option(None, doc="model from `rerank train treelet-lm`; default: the embedded English one")

    def sampler(self, shortest: int, longest: int) -> TreeletSampler:
        """A sampler of sentences and their trees that have `shortest` to `longest` words."""
        from rerank_plugins.treelet.sampling import TreeletSampler

        return TreeletSampler(self.trees, shortest, longest)

    def word_scores(self, sentences: Sequence[Sentence]) -> list[FloatArray] | None:
        """What each word adds to ln p of the best tree, which the words of a sentence sum to; without `</s>`.

        In a derivation from the left, the rules between a word and the next one are applied for the next one.
        """
        best = [parse.tree for parse in self._parser.parse(sentences)]
        return self.trees.score_words(best, sentences)

    @cached_property
    def trees(self) -> TreeletModel:
        """The tree model, loaded on first use."""
        from rerank_plugins.treelet.model_file import read_model

        return replace(shared_if_embedded(self.model or EMBEDDED, read_model))  # which remembers words of its own
