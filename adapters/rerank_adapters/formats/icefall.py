r"""The recognition files of icefall (`recogs-*.txt`, icefall/utils.py: store_transcripts, 2021 to 2024).

    utt-07:\tref=['so', 'it', 'is']
    utt-07:\thyp=['so', 'it', 'is']        one `hyp` line, or several, best first
    utt-07:\thyp=['so', 'is', 'it']

Lists of words are read; so are plain texts, which older versions of icefall wrote. There are no scores. The references
are those of the same file: name it with -r too. Time stamps (`timestamp_hyp=…`) are not read.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rerank_plugins import FormatError, Hypothesis, NBestFormat, NBestList

LINE = re.compile(r"(\S+):\t(\w+)=(.*)")


@dataclass(frozen=True)
class IcefallFormat(NBestFormat):
    """icefall recognition files, `utterance:<TAB>hyp=[words]`; a run of hypotheses of one utterance is a list."""

    def read(self, lines: Iterable[str], path: str) -> Iterator[NBestList]:
        """Yield one list per run of lines of one utterance. Raises FormatError with the path and the line."""
        utterance, start = "", 0
        hypotheses: list[Hypothesis] = []
        number = 0
        for number, line in enumerate(lines, 1):
            match = LINE.fullmatch(line.rstrip("\r\n"))
            if match is None:
                wanted = "utterance:<TAB>ref=… or utterance:<TAB>hyp=…"
                raise FormatError(f"found {line.strip()!r}, expected {wanted}", path=path, line=number)
            if match[1] != utterance or match[2] == "ref":
                if utterance:
                    yield _list(utterance, hypotheses, start, path, number)
                utterance, start, hypotheses = match[1], number, []
            if match[2] == "hyp":
                hypotheses.append(Hypothesis(words_of(match[3], path, number)))
        if utterance:
            yield _list(utterance, hypotheses, start, path, number)


def _list(utterance: str, hypotheses: list[Hypothesis], start: int, path: str, line: int) -> NBestList:
    if not hypotheses:
        raise FormatError(f"no hyp= line for utterance {utterance!r}", path=path, line=line)
    return NBestList(utterance, tuple(hypotheses), line=start)


def words_of(text: str, path: str, line: int) -> str:
    """The words of a Python list of texts, or the text itself. Raises FormatError for a list that cannot be read."""
    if not text.startswith("["):
        return text.strip()
    try:
        words = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        words = None
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise FormatError(f"found {text!r}, expected a list of words, as ['so', 'it', 'is']", path=path, line=line)
    return " ".join(words)
