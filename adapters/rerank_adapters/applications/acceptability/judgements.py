"""Reads files of judged sentences, each labelled acceptable or not.

The first line shows which of three forms a file has:

    gj04<TAB>0<TAB>*<TAB>sentence      CoLA (Warstadt et al. 2019): source, label, the author's mark, sentence
    1<TAB>sentence                     label and sentence; the first line may be a header `label<TAB>sentence`
    pairs (see data/minimal_pairs.py)      a pair gives two judgements: the good sentence is acceptable, the bad one not

A label is 1 (acceptable) or 0 (unacceptable). Reading takes linear time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rerank_adapters.data.minimal_pairs import holds_pairs, parse_pairs
from rerank_plugins.core.errors import FormatError
from rerank_plugins.core.nbest import Hypothesis, NBestList
from rerank_plugins.kit.files.text import display_name, open_text

LABELS = {"1": True, "0": False}
HEADER = ["label", "sentence"]


@dataclass(frozen=True)
class Judgement:
    """A sentence, whether it is acceptable, and its line in the file; `part` is + or - for the sentences of a pair."""

    text: str
    acceptable: bool
    line: int = 0
    part: str = ""

    def nbest(self) -> NBestList:
        """The sentence as an n-best list of one."""
        return NBestList(f"{self.line}{self.part}", (Hypothesis(self.text),), line=self.line)


def read_judgements(path: str | Path) -> list[Judgement]:
    """Read the judgements of a file.

    Raises FormatError, with path and line, for a row of another form, an unknown label or an empty sentence, and for a
    file in which all sentences have the same label.
    """
    name = display_name(path)
    with open_text(path) as stream:
        lines = list(stream)
    first = next((line for line in lines if line.strip()), "")
    judgements = list((_of_pairs if holds_pairs(first) else _of_rows)(lines, name))
    if len({judgement.acceptable for judgement in judgements}) < 2:
        has = f"all {len(judgements)} sentences have the same label" if judgements else "no sentences"
        raise FormatError(f"{has}, wanted acceptable ones (1) and others (0)", path=name)
    return judgements


def _of_pairs(lines: Iterable[str], name: str) -> Iterator[Judgement]:
    for pair in parse_pairs(lines, name):
        yield Judgement(pair.good, True, pair.line, "+")
        yield Judgement(pair.bad, False, pair.line, "-")


def _of_rows(lines: Iterable[str], name: str) -> Iterator[Judgement]:
    for number, line in enumerate(lines, 1):
        cells = line.rstrip("\r\n").split("\t")
        if not line.strip() or (number == 1 and cells == HEADER):
            continue
        if len(cells) not in (2, 4):
            wanted = "wanted 2 (label, sentence) or 4 (CoLA: source, label, mark, sentence)"
            raise FormatError(f"{len(cells)} columns, {wanted}", path=name, line=number)
        label, text = cells[1 if len(cells) == 4 else 0].strip(), cells[-1].strip()
        if label not in LABELS:
            raise FormatError(f"the label is {label!r}, wanted 1 (acceptable) or 0", path=name, line=number)
        if not text:
            raise FormatError("an empty sentence", path=name, line=number)
        yield Judgement(text, LABELS[label], number)
