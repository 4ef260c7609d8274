"""The common part of the formats of lattices: the options of the search, and lists of word sequences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rerank_adapters.formats.items import Item, Reader
from rerank_adapters.formats.lattices.search import Lattice, Scales, best_sequences
from rerank_plugins import option

NULL_WORDS = ("!NULL", "!SENT_START", "!SENT_END", "!ENTER", "!EXIT")  # HTK's names of nodes and arcs without a word
EPSILONS = ("<eps>", *NULL_WORDS, "<s>", "</s>")


@dataclass(frozen=True)
class Lattices(Reader):
    """A format of lattices, from which n-best lists are taken."""

    n: int = option(100, doc="number of distinct word sequences to take from each lattice")
    drop: tuple[str, ...] = option(EPSILONS, doc="words that are not part of the text, as epsilon is none")

    def best(
        self, lattice: Lattice, utterance: str, scales: Scales, path: str, line: int, names: Sequence[str]
    ) -> Iterator[Item]:
        """Yield the best word sequences of a lattice.

        The features are unscaled natural logarithms, the acoustic ones and those of the language model; an empty name
        stands for scores that the lattice does not have. The total is the scaled sum, if it has any. Raises FormatError
        for a lattice with a cycle, or in which no path leads to a final node.
        """
        sequences = best_sequences(lattice, self.n, scales, path, line)
        for number, best in enumerate(sequences, 1):
            scores = 0.0 - best.acoustic, 0.0 - best.lm  # not -0 for 0
            values = [score for name, score in zip(names, scores, strict=True) if name]
            own = tuple(name for name in names if name)
            total = 0.0 - best.cost if own else None
            yield Item(utterance, line, " ".join(best.words), total, own, values, last=number == len(sequences))
