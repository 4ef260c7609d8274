"""The common part of the formats of lattices: the options of the search, and n-best lists of word sequences.

The search itself is in lattice_search.py.
"""

from __future__ import annotations

from dataclasses import dataclass

from rerank_adapters.formats.lattice_search import Lattice, Scales, best_sequences
from rerank_plugins import Hypothesis, NBestFormat, NBestList, option

FEATURES = ("acoustic", "lm")
NULL_WORDS = ("!NULL", "!SENT_START", "!SENT_END", "!ENTER", "!EXIT")  # HTK's names of nodes and arcs without a word
EPSILONS = ("<eps>", *NULL_WORDS, "<s>", "</s>")


@dataclass(frozen=True)
class LatticeFormat(NBestFormat):
    """A format of lattices, from which n-best lists are taken."""

    n: int = option(100, doc="number of distinct word sequences to take from each lattice")
    drop: tuple[str, ...] = option(EPSILONS, doc="words that are not part of the text, as epsilon is none")

    def nbest(self, lattice: Lattice, utterance: str, scales: Scales, path: str, line: int) -> NBestList:
        """The n-best list of a lattice; the features are unscaled natural logarithms, the total is the scaled sum.

        Raises FormatError for a lattice with a cycle, or in which no path leads to a final node.
        """
        hypotheses = [
            Hypothesis(" ".join(best.words), (0.0 - best.acoustic, 0.0 - best.lm), 0.0 - best.cost)  # not -0 for 0
            for best in best_sequences(lattice, self.n, scales, path, line)
        ]
        return NBestList(utterance, tuple(hypotheses), FEATURES, line=line)
