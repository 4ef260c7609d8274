"""Kaldi's n-best lists as text: `lattice-to-nbest`, `nbest-to-linear` (latbin, Kaldi 5.5) and `int2sym.pl`.

    utt-07-1 so it is        words_text, or any other name: key `utterance-rank`, words
    utt-07-2 so is it
    utt-07-1 5203.4          ac_cost, lm_cost … beside it: key, cost

An utterance's keys end in its ranks, 1, 2, 3, … without leading zeros. The archives of costs are found beside the text
by the names that the scripts of Kaldi give them (`COSTS`); the option `costs` names others. A feature is the negation
of a cost, so that higher is better, in natural logarithms, without any scale; its name is that of the archive. Where
the words are still integers, `words` names the symbol table.

Kaldi's lattices as text (`lattice-copy ark:1.lats ark,t:-`, Kaldi 5.5), both the compact and the plain ones.

    utt-07                                utt-07
    0 1 so 4.21,120.5,12_13               0 1 12 so 4.21,120.5        from, to, (transition,) word, LM and acoustic cost
    1 0.3,0                               1 0.3,0                     final node and its costs

                                          a blank line ends each lattice
Costs are negative natural logarithms; a weight that is missing is 0. The LM cost of Kaldi holds the cost of the graph,
that is, of pronunciations and transitions, too. Words are symbols (`int2sym.pl -f 3` or `-f 4`), or integers for which
`words` names the symbol table; 0 and <eps> are epsilon. As in Kaldi the acoustic costs count `acoustic_scale` times.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rerank_adapters.formats.lattice_search import Arc, Lattice, Scales
from rerank_adapters.formats.lattices import LatticeFormat
from rerank_adapters.formats.segment_ids import is_number
from rerank_plugins import FormatError, Hypothesis, NBestFormat, NBestList, open_text, option
from rerank_plugins.kit.files.text import STANDARD, finite_value

COSTS = ("ac_cost", "lm_cost", "graph_cost", "acwt", "lmwt.nolm", "lmwt.lmonly", "lmwt.withlm", "graphwt")
KEY = re.compile(r"(.+)-([1-9][0-9]{0,8})")
WANTED = "from, to, word and costs, as `0 1 so 4.21,120.5,12_13`, or a final node and its costs"


def read_symbols(path: Path) -> dict[str, str]:
    """The word of each integer, which is kept as a text. Raises FormatError for a line of another form."""
    symbols: dict[str, str] = {}
    with open_text(path) as lines:
        for number, line in enumerate(lines, 1):
            fields = line.split()
            if len(fields) != 2 or not fields[1].isdigit():
                raise FormatError("expected a word and an integer", path=str(path), line=number)
            symbols[fields[1]] = fields[0]
    return symbols


def spelt(integers: Iterable[str], symbols: Mapping[str, str], path: str, line: int) -> str:
    """The words that the integers mean. Raises FormatError for one that is not in the table."""
    words = []
    for integer in integers:
        if integer not in symbols:
            raise FormatError(f"{integer!r} is not in the symbol table", path=path, line=line)
        words.append(symbols[integer])
    return " ".join(words)


@dataclass(frozen=True)
class KaldiFormat(NBestFormat):
    """Kaldi n-best lists as text, keyed `utterance-rank`; archives of costs beside the file are features."""

    costs: tuple[str, ...] = option((), doc="names of the archives of costs beside the file; default: Kaldi's names")
    words: Path | None = option(None, doc="symbol table (words.txt), where the words are integers")

    def read(self, lines: Iterable[str], path: str) -> Iterator[NBestList]:
        """Yield one list per run of keys of one utterance, by rank. Raises FormatError with the path and the line."""
        costs = self._read_costs(path)
        symbols = read_symbols(self.words) if self.words is not None else None
        utterance, start = "", 0
        ranks: dict[int, Hypothesis] = {}
        for number, line in enumerate(lines, 1):
            key, words = (*line.split(maxsplit=1), "", "")[:2]
            match = KEY.fullmatch(key)
            if match is None:
                found = f"the key {key!r}" if key else "an empty line"
                raise FormatError(f"found {found}, expected a key that ends in a rank: utt-1, utt-2, …",
                                  path=path, line=number)  # fmt: skip
            if match[1] != utterance and ranks:
                yield _list(utterance, ranks, tuple(costs), start)
                ranks = {}
            if not ranks:
                utterance, start = match[1], number
            if int(match[2]) in ranks:
                raise FormatError(f"the key {key!r} occurs twice", path=path, line=number)
            text = words.strip() if symbols is None else spelt(words.split(), symbols, path, number)
            ranks[int(match[2])] = Hypothesis(text, _values(key, costs, path, number))
        if ranks:
            yield _list(utterance, ranks, tuple(costs), start)

    def _read_costs(self, path: str) -> dict[str, Mapping[str, float]]:
        folder = Path(path).parent
        beside = () if path == STANDARD or path == "<stdin>" else COSTS
        names = self.costs or [name for name in beside if (folder / name).is_file() and name != Path(path).name]
        archives: dict[str, Mapping[str, float]] = {}
        for name in names:
            with open_text(folder / name) as lines:
                archives[name] = read_costs(lines, str(folder / name))
        return archives


def read_costs(lines: Iterable[str], path: str) -> dict[str, float]:
    """The negated cost of each key of a file of lines `key cost`. Raises FormatError for a key that occurs twice."""
    values: dict[str, float] = {}
    for number, line in enumerate(lines, 1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 2:
            raise FormatError(f"found {len(fields)} columns, expected a key and a number", path=path, line=number)
        if fields[0] in values:
            raise FormatError(f"the key {fields[0]!r} occurs twice", path=path, line=number)
        values[fields[0]] = -finite_value(fields[1], f"the value of {fields[0]!r}", path, number)
    return values


def _values(key: str, costs: Mapping[str, Mapping[str, float]], path: str, line: int) -> tuple[float, ...]:
    missing = next((name for name, values in costs.items() if key not in values), None)
    if missing is not None:
        raise FormatError(f"no cost for {key!r} in {Path(path).parent / missing}", path=path, line=line)
    return tuple(values[key] for values in costs.values())


def _list(utterance: str, ranks: Mapping[int, Hypothesis], names: tuple[str, ...], line: int) -> NBestList:
    return NBestList(utterance, tuple(ranks[rank] for rank in sorted(ranks)), names, line=line)


@dataclass(frozen=True)
class KaldiLatticeFormat(LatticeFormat):
    """Kaldi lattices as text archives, compact or not: the n best distinct word sequences of each."""

    acoustic_scale: float = option(0.1, doc="weight of the acoustic costs in the search, as in Kaldi")
    lm_scale: float = option(1.0, doc="weight of the LM (graph) costs in the search")
    word_penalty: float = option(0.0, doc="cost of each word in the search (word insertion penalty)")
    words: Path | None = option(None, doc="symbol table (words.txt), where the words are integers")

    def read(self, lines: Iterable[str], path: str) -> Iterator[NBestList]:
        """Yield one list per lattice. Raises FormatError with the path and the line."""
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
                yield self.nbest(lattice, utterance, scales, path, start)
                lattice, start = Lattice(), 0
        if start:
            yield self.nbest(lattice, utterance, scales, path, start)

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
