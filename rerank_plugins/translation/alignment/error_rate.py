"""The alignment error rate of links A against sure links S and possible links P ⊇ S (Och and Ney 2003).

    precision = |A ∩ P| / |A|        recall = |A ∩ S| / |S|        AER = 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|)

The numbers of links are those of all sentence pairs together. Lower is better.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self

from rerank_plugins.translation.alignment.links_text import GoldLinks
from rerank_plugins.translation.alignment.model import WordAlignmentModel, Words
from rerank_plugins.translation.alignment.symmetrisation import METHODS, Links, Method, symmetrised


class AlignmentErrors(NamedTuple):
    """|A|, |S|, |A ∩ S| and |A ∩ P| of sentence pairs; they add up."""

    links: int = 0
    sure: int = 0
    right_sure: int = 0
    right_possible: int = 0

    def plus(self, links: Links, gold: GoldLinks) -> Self:
        """The numbers with those of another sentence pair."""
        unique = set(links)
        return self.__class__(
            self.links + len(unique),
            self.sure + len(gold.sure),
            self.right_sure + len(unique & gold.sure),
            self.right_possible + len(unique & gold.possible),
        )

    @property
    def precision(self) -> float:
        """The proportion of the links that are possible, 1 without links."""
        return self.right_possible / self.links if self.links else 1.0

    @property
    def recall(self) -> float:
        """The proportion of the sure links that were found, 1 without sure links."""
        return self.right_sure / self.sure if self.sure else 1.0

    @property
    def error_rate(self) -> float:
        """AER, 0 without any links."""
        number = self.links + self.sure
        return 1.0 - (self.right_sure + self.right_possible) / number if number else 0.0

    def __str__(self) -> str:
        return f"AER {self.error_rate:.4f}, precision {self.precision:.4f}, recall {self.recall:.4f}"


def alignment_errors(
    model: WordAlignmentModel, pairs: Iterable[tuple[Words, Words]], gold: Sequence[GoldLinks]
) -> dict[Method, AlignmentErrors]:
    """The errors of a model's links by each method of symmetrisation; a pair for each element of `gold`."""
    errors = dict.fromkeys(METHODS, AlignmentErrors())
    for (source, target), right in zip(pairs, gold, strict=True):
        aligned = model.align(source, [target], ln_p=False) if source and target else None
        for method in METHODS:
            links = symmetrised(aligned.forward, aligned.backward[0], method) if aligned else []
            errors[method] = errors[method].plus(links, right)
    return errors
