"""SRILM's three forms of n-best lists (nbest-format(5), SRILM 1.7.3), one file for each utterance.

    NBestList1.0                                   NBestList2.0
    (-5340) so it is                               (-5340) so ( st: 0.1 et: 0.4 g: -210 a: -1890 ) it ( …

    -11043.7 -21.4 3 so it is                      no header: acoustic and LM log10, number of words, words

The utterance is the name of the file; the folders of the nbest-scripts, one (compressed) file for each utterance, are
read as a whole. Bytelogs (logarithms to base 1.0001, divided by 1024) and log10 become natural logarithms: the features
are `score` in the first form; `score`, `acoustic` and `lm` in the second (the sums over the words; phones and states,
whose times lie within a word, are skipped); `acoustic`, `lm` and `words` in the third. The words of `drop` are not part
of the text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from rerank_adapters.formats.line_lists import OrderFormat, line_end, lists_in, stem, without
from rerank_plugins import FormatError, Hypothesis, NBestList, open_text, option
from rerank_plugins.core.nbest import NO_SPARSE
from rerank_plugins.kit.elementary_functions import LN10
from rerank_plugins.kit.files.text import finite_value

BYTELOG = 1024 * math.log(1.0001)  # one bytelog as a natural logarithm
SCORED = re.compile(r"\(([^()\s]+)\)\s*(.*)")
WORD = re.compile(r"(?<!\S)(\S+) \( st: (\S+) et: (\S+) g: (\S+) a: (\S+) \)")
FEATURES = {"1.0": ("score",), "2.0": ("score", "acoustic", "lm"), "": ("acoustic", "lm", "words")}
PAUSES = ("<s>", "</s>", "-pau-")


@dataclass(frozen=True)
class SrilmFormat(OrderFormat):
    """SRILM n-best lists: NBestList1.0, NBestList2.0 or `acoustic lm words text`; one file for each utterance."""

    drop: tuple[str, ...] = option(PAUSES, doc="words that are not part of the text, such as pauses")

    one_list_per_file: ClassVar[bool] = True

    def read_folder(self, folder: str) -> Iterator[NBestList]:
        """Yield the list of each file of a folder, in the order of their names, but of those with another ending."""
        for path in lists_in(folder):
            with open_text(path) as lines:
                yield from self.read(lines, str(path))

    def read(self, lines: Iterable[str], path: str) -> Iterator[NBestList]:
        """Yield the one list of a file. Raises FormatError with the path and the line."""
        form, header = "", ""
        hypotheses: list[Hypothesis] = []
        for number, line in enumerate(lines, 1):
            if line.startswith("NBestList"):
                form, header = line.strip().removeprefix("NBestList"), line
                if number > 1 or form not in FEATURES or not form:
                    wanted = "NBestList1.0 or NBestList2.0 on line 1 alone: one list a file"
                    raise FormatError(f"found {line.strip()!r}, expected {wanted}", path=path, line=number)
                continue
            words, values = self._plain(line, path, number) if not form else self._decipher(line, form, path, number)
            text = without(words, self.drop)
            hypotheses.append(Hypothesis(text, values, values[0] if form else None, NO_SPARSE, header + line))
            header = ""
        if hypotheses:
            yield NBestList(stem(path), tuple(hypotheses), FEATURES[form], line=1)

    def compose(self, nbest: NBestList, hypotheses: Iterable[Hypothesis]) -> Iterator[str]:
        """Yield the header, where the list has one, and the hypotheses."""
        raw = nbest[0].raw
        header = raw[: raw.index("\n") + 1] if raw.startswith("NBestList") else ""
        if not raw and nbest.feature_names[:1] == ("score",):
            header = f"NBestList1.0{line_end(nbest)}"
        yield from [header] if header else []
        for hypothesis in hypotheses:
            line = hypothesis.raw
            if line.startswith("NBestList"):
                line = line[line.index("\n") + 1 :]
            yield line.rstrip("\r\n") + line_end(nbest) if line else _composed(nbest, hypothesis)

    def _plain(self, line: str, path: str, number: int) -> tuple[list[str], tuple[float, ...]]:
        fields = line.split()
        if len(fields) < 3:
            wanted = "an NBestList header, or acoustic score, LM score, number of words and the words"
            raise FormatError(f"found {line.strip()!r}, expected {wanted}", path=path, line=number)
        names = ("the acoustic score", "the LM score", "the number of words")
        acoustic, lm, words = (finite_value(t, name, path, number) for t, name in zip(fields, names, strict=False))
        return fields[3:], (acoustic * LN10, lm * LN10, words)

    def _decipher(self, line: str, form: str, path: str, number: int) -> tuple[list[str], tuple[float, ...]]:
        match = SCORED.fullmatch(line.strip())
        if match is None:
            raise FormatError(f"found {line.strip()!r}, expected (score) and words", path=path, line=number)
        score = finite_value(match[1], "the score", path, number) * BYTELOG
        if form == "1.0":
            return match[2].split(), (score,)
        words, acoustic, lm, end = [], 0.0, 0.0, -math.inf
        for match_of_word in WORD.finditer(" ".join(match[2].split())):
            word, *texts = match_of_word.groups()
            start, stop, g, a = (finite_value(t, f"a number of {word!r}", path, number) for t in texts)
            if stop <= end and start < end:  # a phone or state of the word before it
                continue
            end = stop
            words.append(word)
            lm, acoustic = lm + g, acoustic + a
        if not words and match[2].strip():
            raise FormatError("expected `word ( st: t et: t g: score a: score )`", path=path, line=number)
        return words, (score, acoustic * BYTELOG, lm * BYTELOG)


def _composed(nbest: NBestList, hypothesis: Hypothesis) -> str:
    named = dict(zip(nbest.feature_names, hypothesis.features, strict=True))
    if "score" in named:
        return f"({named['score'] / BYTELOG:.0f}) {hypothesis.text}\n"
    acoustic, lm = (named.get(name, 0.0) / LN10 for name in ("acoustic", "lm"))
    return f"{acoustic!r} {lm!r} {len(hypothesis.words)} {hypothesis.text}\n"
