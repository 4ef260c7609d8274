"""The common part of the formats of lattices: the options of the search, and n-best lists of word sequences.

The first hypothesis of a list keeps the text of the lattice, so that a list that was not rescored is written as the
lattice that it was read from. A rescored list is written as a lattice with one path for each hypothesis, whose cost is
the negation of its total. The search itself is in lattice_search.py.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rerank_adapters.formats.lattice_search import Lattice, Scales, best_sequences
from rerank_plugins import Hypothesis, NBestFormat, NBestList, Rescored, option
from rerank_plugins.core.nbest import NO_SPARSE

FEATURES = ("acoustic", "lm")
NULL_WORDS = ("!NULL", "!SENT_START", "!SENT_END", "!ENTER", "!EXIT")  # the names in HTK of what is no word
EPSILONS = ("<eps>", *NULL_WORDS, "<s>", "</s>")


@dataclass(frozen=True)
class LatticeFormat(NBestFormat):
    """A format of lattices, from which n-best lists are taken."""

    keeps_features: ClassVar[bool] = False

    n: int = option(100, doc="number of distinct word sequences to take from each lattice")
    drop: tuple[str, ...] = option(EPSILONS, doc="words that are not part of the text, as epsilon is none")

    def nbest(self, lattice: Lattice, utterance: str, scales: Scales, raw: str, path: str, line: int) -> NBestList:
        """The n-best list of a lattice; the features are unscaled natural logarithms, the total is the scaled sum.

        Raises FormatError for a lattice with a cycle, or in which no path leads to a final node.
        """
        hypotheses = [
            Hypothesis(
                " ".join(best.words),
                (0.0 - best.acoustic, 0.0 - best.lm),  # not -0 for 0
                0.0 - best.cost,
                NO_SPARSE,
                "" if rank else raw,
            )
            for rank, best in enumerate(best_sequences(lattice, self.n, scales, path, line))
        ]
        return NBestList(utterance, tuple(hypotheses), FEATURES, line=line)

    def write(self, nbest: NBestList, rescored: Rescored | None = None) -> Iterator[str]:
        """Yield the lattice that a list was read from or, with `rescored`, one with a path for each hypothesis."""
        raw = "".join(hypothesis.raw for hypothesis in nbest)
        if rescored is None and raw:
            yield raw
            return
        totals = [hypothesis.score or 0.0 for hypothesis in nbest] if rescored is None else rescored.scores
        order = range(len(nbest)) if rescored is None else rescored.order
        yield from self.paths(nbest.segment_id, [(nbest[row].words, float(totals[row])) for row in order])

    @abstractmethod
    def paths(self, utterance: str, sequences: list[tuple[list[str], float]]) -> Iterator[str]:
        """Yield the lines of a lattice with a path for each word sequence, whose total under the options is given."""
