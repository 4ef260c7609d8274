"""Kaldi's lattices as text (`lattice-copy ark:1.lats ark,t:-`, Kaldi 5.5), both the compact and the plain ones.

    utt-07                                utt-07
    0 1 so 4.21,120.5,12_13               0 1 12 so 4.21,120.5        from, to, (transition,) word, LM and acoustic cost
    1 0.3,0                               1 0.3,0                     final node and its costs

                                          a blank line ends each lattice
Costs are negative natural logarithms; a weight that is missing is 0. The LM cost of Kaldi holds the cost of the graph,
that is, of pronunciations and transitions, too. Words are symbols (`int2sym.pl -f 3` or `-f 4`), or integers for which
`words` names the symbol table; 0 and <eps> are epsilon. As in Kaldi the acoustic costs count `acoustic_scale` times.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rerank_adapters.formats.folders import read_symbols, spelt
from rerank_adapters.formats.items import Item
from rerank_adapters.formats.lattices.lists import Lattices
from rerank_adapters.formats.lattices.search import Arc, Lattice, Scales
from rerank_adapters.formats.segment_ids import is_number
from rerank_plugins import FormatError, option
from rerank_plugins.kit.files.text import finite_value

FEATURES = ("acoustic", "lm")
WANTED = "from, to, word and costs, as `0 1 so 4.21,120.5,12_13`, or a final node and its costs"


@dataclass(frozen=True)
class KaldiLattices(Lattices):
    """Kaldi lattices as text archives, compact or not: the n best distinct word sequences of each."""

    acoustic_scale: float = option(0.1, doc="weight of the acoustic costs in the search, as in Kaldi")
    lm_scale: float = option(1.0, doc="weight of the LM (graph) costs in the search")
    word_penalty: float = option(0.0, doc="cost of each word in the search (word insertion penalty)")
    words: Path | None = option(None, doc="symbol table (words.txt), where the words are integers")

    def items(self, lines: Iterable[str], path: str) -> Iterator[Item]:
        """Yield the word sequences of one lattice after the other. Raises FormatError with the path and the line."""
        symbols = read_symbols(self.words) if self.words is not None else None
        scales = Scales(self.acoustic_scale, self.lm_scale, self.word_penalty)
        lattice, utterance, start = Lattice(), "", 0
        for number, line in enumerate(lines, 1):
            fields = line.split()
            if not start:
                if len(fields) > 1:
                    raise FormatError(f"found {line.strip()!r}, expected the key of a lattice alone on its line",
                                      path=path, line=number)  # fmt: skip
                if fields:
                    utterance, start = fields[0], number
            elif fields:
                self._add(lattice, fields, symbols, path, number)
            else:
                yield from self.best(lattice, utterance, scales, path, start, FEATURES)
                lattice, start = Lattice(), 0
        if start:
            yield from self.best(lattice, utterance, scales, path, start, FEATURES)

    def _add(
        self, lattice: Lattice, fields: list[str], symbols: Mapping[str, str] | None, path: str, line: int
    ) -> None:
        lm = acoustic = 0.0
        if "," in fields[-1] and len(fields) > 1:
            costs = fields.pop().split(",")
            lm = finite_value(costs[0], "the LM cost", path, line)
            acoustic = finite_value(costs[1], "the acoustic cost", path, line)
        nodes = [int(node) for node in fields[:2] if is_number(node)]
        if len(fields) == 1 and nodes:
            lattice.finals[nodes[0]] = (acoustic, lm)
            if lattice.start is None:
                lattice.start = nodes[0]
            return
        if len(fields) not in (3, 4) or len(nodes) < 2:
            raise FormatError(f"found {' '.join(fields)!r}, expected {WANTED}", path=path, line=line)
        word = fields[-1]
        if word == "0" or word in self.drop:
            word = ""
        elif symbols is not None:
            word = spelt([word], symbols, path, line)
            word = "" if word in self.drop else word
        lattice.add(nodes[0], Arc(nodes[1], word, acoustic, lm))
