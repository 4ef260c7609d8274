"""All measures over pairs of sentences, as columns named `family.measure`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import ModuleType

import numpy as np

from rerank_plugins.feature_table import FloatArray
from rerank_plugins.models.random_indexing.model import RandomIndexModel
from rerank_plugins.models.similarity import entities, ngrams, overlap, shape, strings, tfidf, vectors
from rerank_plugins.models.similarity.text import Lexicon

OF_PAIRS: dict[str, ModuleType] = {
    "overlap": overlap, "ngrams": ngrams, "strings": strings, "entities": entities, "shape": shape,
}  # fmt: skip
Tokens = Sequence[str]


@dataclass(frozen=True)
class Measures:
    """The measures: those of strings and words, and with `model` those of its spaces (family `vectors`).

    Those of the families `tfidf` and `vectors` depend on all the pairs given at once.
    """

    model: RandomIndexModel | None = None
    lexicon: Lexicon = field(default_factory=Lexicon)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns."""
        own = [f"{family}.{name}" for family, module in OF_PAIRS.items() for name in module.NAMES]
        own += [f"tfidf.{name}" for name in tfidf.NAMES]
        return (*own, *(f"vectors.{name}" for name in (vectors.names(self.model) if self.model else ())))

    def columns(self, pairs: Sequence[tuple[Tokens, Tokens]]) -> FloatArray:
        """(pairs, names) finite values; documented 0 where a sentence is empty or none of its words is known."""
        if not pairs:
            return np.zeros((0, len(self.names)))
        texts = [(self.lexicon.text(a), self.lexicon.text(b)) for a, b in pairs]
        found = [
            [value for module in OF_PAIRS.values() for value in module.measure(a, b, self.lexicon)] for a, b in texts
        ]
        blocks = [np.array(found, np.float64), tfidf.columns(texts)]
        return np.hstack([*blocks, vectors.columns(texts, self.model)] if self.model else blocks)
