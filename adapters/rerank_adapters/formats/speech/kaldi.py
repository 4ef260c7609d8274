"""Kaldi's n-best lists as text: `lattice-to-nbest`, `nbest-to-linear` (latbin, Kaldi 5.5) and `int2sym.pl`.

    utt-07-1 so it is        words_text, or any other name: key `utterance-rank`, words
    utt-07-2 so is it
    utt-07-1 5203.4          ac_cost, lm_cost … beside it: key, cost

An utterance's keys end in its ranks, 1, 2, 3, … without leading zeros. The archives of costs are found beside the text
by the names that the scripts of Kaldi give them (`COSTS`); the option `costs` names others. A feature is the negation
of a cost, so that higher is better, in natural logarithms, without any scale; its name is that of the archive. Where
the words are still integers, `words` names the symbol table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rerank_adapters.formats.line_lists import OrderFormat, line_end, read_values
from rerank_adapters.formats.symbols import read_symbols, spelt
from rerank_plugins.core.errors import FormatError
from rerank_plugins.core.interfaces import option
from rerank_plugins.core.nbest import NO_SPARSE, Hypothesis, NBestList
from rerank_plugins.kit.files.text import STANDARD, open_text

COSTS = ("ac_cost", "lm_cost", "graph_cost", "acwt", "lmwt.nolm", "lmwt.lmonly", "lmwt.withlm", "graphwt")
KEY = re.compile(r"(.+)-([1-9][0-9]{0,8})")


@dataclass(frozen=True)
class KaldiFormat(OrderFormat):
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
            ranks[int(match[2])] = Hypothesis(text, _values(key, costs, path, number), None, NO_SPARSE, line)
        if ranks:
            yield _list(utterance, ranks, tuple(costs), start)

    def compose(self, nbest: NBestList, hypotheses: Iterable[Hypothesis]) -> Iterator[str]:
        """Yield a line for each hypothesis, with its new rank in its key."""
        end = line_end(nbest)
        for rank, hypothesis in enumerate(hypotheses, 1):
            yield f"{nbest.segment_id}-{rank} {hypothesis.text}".rstrip(" ") + end

    def _read_costs(self, path: str) -> dict[str, Mapping[str, float]]:
        folder = Path(path).parent
        beside = () if path == STANDARD or path == "<stdin>" else COSTS
        names = self.costs or [name for name in beside if (folder / name).is_file() and name != Path(path).name]
        archives: dict[str, Mapping[str, float]] = {}
        for name in names:
            with open_text(folder / name) as lines:
                archives[name] = read_values(lines, str(folder / name), negative=True)
        return archives


def _values(key: str, costs: Mapping[str, Mapping[str, float]], path: str, line: int) -> tuple[float, ...]:
    missing = next((name for name, values in costs.items() if key not in values), None)
    if missing is not None:
        raise FormatError(f"no cost for {key!r} in {Path(path).parent / missing}", path=path, line=line)
    return tuple(values[key] for values in costs.values())


def _list(utterance: str, ranks: Mapping[int, Hypothesis], names: tuple[str, ...], line: int) -> NBestList:
    return NBestList(utterance, tuple(ranks[rank] for rank in sorted(ranks)), names, line=line)
