"""SRILM's n-best lists without times (nbest-format(5), SRILM 1.7.3), one file for each utterance.

    NBestList1.0
    (-5340) so it is                   bytelogs and words

    -11043.7 -21.4 3 so it is          no header: acoustic and LM log10, number of words, words

The utterance is the name of the file; the folders of the nbest-scripts, one (compressed) file for each utterance, are
read as a whole. Bytelogs (logarithms to base 1.0001, divided by 1024) and log10 become natural logarithms: the features
are `score` in the first form; `acoustic`, `lm` and `words` in the second. The words of `drop` are not part of the text.
SRILM's other form, NBestList2.0 with the times of words and phones, is refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rerank_adapters.formats.list_files import lists_in, stem
from rerank_plugins import FormatError, Hypothesis, NBestFormat, NBestList, open_text, option
from rerank_plugins.core.logarithms import LN10
from rerank_plugins.kit.files.text import finite_value

HEADER = "NBestList1.0"
BYTELOG = 1024 * math.log(1.0001)  # one bytelog as a natural logarithm
SCORED = re.compile(r"\(([^()\s]+)\)\s*(.*)")
PAUSES = ("<s>", "</s>", "-pau-")


@dataclass(frozen=True)
class SrilmFormat(NBestFormat):
    """SRILM n-best lists: NBestList1.0, or `acoustic lm words text` without a header; one file for each utterance."""

    drop: tuple[str, ...] = option(PAUSES, doc="words that are not part of the text, such as pauses")

    def read_folder(self, folder: str) -> Iterator[NBestList]:
        """Yield the list of each file of a folder, in the order of their names, but of those with another ending."""
        for path in lists_in(folder):
            with open_text(path) as lines:
                yield from self.read(lines, str(path))

    def read(self, lines: Iterable[str], path: str) -> Iterator[NBestList]:
        """Yield the one list of a file. Raises FormatError with the path and the line."""
        has_header = False
        hypotheses: list[Hypothesis] = []
        for number, line in enumerate(lines, 1):
            if line.startswith("NBestList"):
                if number > 1 or line.strip() != HEADER:
                    wanted = f"{HEADER}, on line 1 alone: one list a file, without times"
                    raise FormatError(f"found {line.strip()!r}, expected {wanted}", path=path, line=number)
                has_header = True
                continue
            words, values = (_with_bytelogs if has_header else _with_log10)(line, path, number)
            text = " ".join(word for word in words if word not in self.drop)
            hypotheses.append(Hypothesis(text, values, values[0] if has_header else None))
        if hypotheses:
            names = ("score",) if has_header else ("acoustic", "lm", "words")
            yield NBestList(stem(path), tuple(hypotheses), names, line=1)


def _with_log10(line: str, path: str, number: int) -> tuple[list[str], tuple[float, ...]]:
    """The words and the features of a line of a file without a header."""
    fields = line.split()
    if len(fields) < 3:
        wanted = "an NBestList header, or acoustic score, LM score, number of words and the words"
        raise FormatError(f"found {line.strip()!r}, expected {wanted}", path=path, line=number)
    names = ("the acoustic score", "the LM score", "the number of words")
    acoustic, lm, words = (finite_value(t, name, path, number) for t, name in zip(fields, names, strict=False))
    return fields[3:], (acoustic * LN10, lm * LN10, words)


def _with_bytelogs(line: str, path: str, number: int) -> tuple[list[str], tuple[float, ...]]:
    """The words and the feature of a line below the header."""
    match = SCORED.fullmatch(line.strip())
    if match is None:
        raise FormatError(f"found {line.strip()!r}, expected (score) and words", path=path, line=number)
    return match[2].split(), (finite_value(match[1], "the score", path, number) * BYTELOG,)
