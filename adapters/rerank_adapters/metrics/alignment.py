"""The alignment of the words of a hypothesis with a reference: correct, substituted, deleted and inserted words.

Two costs are in use. The Levenshtein distance counts every edit once, as jiwer does. NIST's sclite gives a substitution
the cost 4, an insertion or a deletion 3, so that words which are not alike are less often paired; its error rate can be
a little higher. `word_networks.py` finds the cheapest alignment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

Costs = Literal["levenshtein", "sclite"]
COSTS: tuple[Costs, ...] = ("levenshtein", "sclite")
CORRECT, SUBSTITUTION, DELETION, INSERTION = "C", "S", "D", "I"
OPERATIONS = CORRECT + SUBSTITUTION + DELETION + INSERTION


@dataclass(frozen=True)
class Alignment:
    """The operations that turn a reference into a hypothesis, in order, with the words that they concern.

    `operations` has a letter of "CSDI" for each; `reference` and `hypothesis` have a word for each, None where there is
    none: a deletion has no word of the hypothesis, an insertion none of the reference.
    """

    operations: str
    reference: tuple[str | None, ...]
    hypothesis: tuple[str | None, ...]

    def count(self, operation: str) -> int:
        """How often an operation occurs."""
        return self.operations.count(operation)

    @property
    def errors(self) -> int:
        """The number of substitutions, deletions and insertions."""
        return len(self.operations) - self.count(CORRECT)


@runtime_checkable
class Aligning(Protocol):
    """A metric that counts the errors of alignments."""

    def align(self, hypothesis: str, references: Sequence[str]) -> Alignment:
        """The alignment with the closest reference, the first of equally close ones."""
