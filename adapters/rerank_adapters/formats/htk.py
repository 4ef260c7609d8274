r"""HTK's master label files with alternatives (The HTK Book 3.4, section 6.2), as HVite -n and HLRescore write them.

    #!MLF!#
    "*/utt-07.rec"
    0 3600000 so -1203.2         [start end] name [score] [auxiliary name [auxiliary score]]
    3600000 8200000 it -810.5
    ///
    0 8200000 soit -2034.0       the next alternative
    .

The id of a list is the name of the label file without folder and ending. The text is the names of the labels, or their
auxiliary names where labels have them (the words, where the labels are models). The feature `score`, where every label
has a score, is their sum, a natural logarithm. HTK's escapes (`\'`, `\303`) are read; the names of `drop` are not part
of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import fsum
from pathlib import PurePosixPath

from rerank_adapters.formats.lattices import NULL_WORDS
from rerank_adapters.formats.line_lists import OrderFormat, line_end, without
from rerank_plugins import FormatError, Hypothesis, NBestList, option
from rerank_plugins.core.nbest import NO_SPARSE
from rerank_plugins.kit.files.text import finite, shortest

HEADER = "#!MLF!#"
SILENCES = (*NULL_WORDS, "SENT-START", "SENT-END", "<s>", "</s>", "sil", "sp")
OCTAL = re.compile(rb"\\([0-7]{3})|\\(.)", re.DOTALL)


@dataclass
class _Alternative:
    """The labels of one hypothesis while they are being read."""

    raw: str
    names: list[str] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    levels: bool = False  # whether labels have auxiliary names


@dataclass(frozen=True)
class HtkMlfFormat(OrderFormat):
    """HTK master label files: the alternatives of an utterance are separated by ///."""

    drop: tuple[str, ...] = option(SILENCES, doc="names that are not part of the text, such as silence")

    def read(self, lines: Iterable[str], path: str) -> Iterator[NBestList]:
        """Yield one list per label file. Raises FormatError with the path and the line."""
        name, start, before = "", 0, ""
        names: tuple[str, ...] | None = None
        alternatives: list[_Alternative] = []
        number = 0
        for number, line in enumerate(lines, 1):
            content = line.strip()
            if not start:
                before += line
                if not content or content == HEADER:
                    continue
                if not content.startswith('"'):
                    wanted = f'{HEADER} or the quoted name of a label file, as "*/utt-07.rec"'
                    raise FormatError(f"found {content!r}, expected {wanted}", path=path, line=number)
                name, start = PurePosixPath(content.strip('"')).stem, number
                alternatives, before = [_Alternative(before)], ""
                continue
            alternatives[-1].raw += line
            if content == "///":
                alternatives.append(_Alternative(""))
            elif content == ".":
                nbest = self._list(name, alternatives, start)
                names = nbest.feature_names if names is None else names
                if nbest.feature_names != names:
                    message = f"some labels of {name} have scores and some have none; expected a score everywhere"
                    raise FormatError(message if names else f"{name} has scores, the lists before it have none",
                                      path=path, line=number)  # fmt: skip
                yield nbest
                start = 0
            elif content:
                _read_label(content, alternatives[-1], path, number)
        if start:
            raise FormatError(
                f'the labels of {name} lack the final ".": is the file cut short?', path=path, line=number
            )

    def _list(self, name: str, alternatives: list[_Alternative], line: int) -> NBestList:
        scored = all(len(a.scores) == len(a.names) for a in alternatives) and any(a.names for a in alternatives)
        hypotheses = [
            Hypothesis(
                without(a.names, self.drop),
                (fsum(a.scores),) if scored else (),
                fsum(a.scores) if scored else None,
                NO_SPARSE,
                a.raw,
            )
            for a in alternatives
        ]
        return NBestList(name, tuple(hypotheses), ("score",) if scored else (), line=line)

    def compose(self, nbest: NBestList, hypotheses: Iterable[Hypothesis]) -> Iterator[str]:
        """Yield the name of the label file and its alternatives, each with the labels that it had."""
        end = line_end(nbest)
        head = [line for line in nbest[0].raw.split("\n") if line.strip() == HEADER or line.startswith('"')]
        for line in head or [HEADER, f'"*/{nbest.segment_id}.rec"']:
            yield line.rstrip("\r") + end
        for position, hypothesis in enumerate(hypotheses):
            if position:
                yield f"///{end}"
            yield from (label + end for label in _labels(hypothesis))
        yield f".{end}"


def _labels(hypothesis: Hypothesis) -> list[str]:
    if not hypothesis.raw:
        words = [_escaped(word) for word in hypothesis.words]
        total = hypothesis.score if words else None
        return [f"{word} {shortest(total)}" if i == 0 and total is not None else f"{word} 0" if total is not None
                else word for i, word in enumerate(words)]  # fmt: skip
    lines = [line.strip() for line in hypothesis.raw.split("\n")]
    return [line for line in lines if line and line not in (HEADER, "///", ".") and not line.startswith('"')]


def _escaped(word: str) -> str:
    return f"\\{word}" if word[:1] in "\"'" or word[:1].isdigit() or word in (".", "///") else word


def _unescaped(name: str) -> str:
    if len(name) > 1 and name[0] == name[-1] and name[0] in "\"'":
        name = name[1:-1]
    if "\\" not in name:
        return name
    decoded = OCTAL.sub(lambda match: bytes([int(match[1], 8)]) if match[1] else match[2], name.encode())
    return decoded.decode(errors="replace")


def _read_label(content: str, alternative: _Alternative, path: str, line: int) -> None:
    fields = content.split()
    times = 0
    while times < 2 and times + 1 < len(fields) and fields[times].lstrip("-").isdigit():
        times += 1
    label = fields[times:]
    name, rest = label[0], label[1:]
    score: float | None = None
    if rest and _is_number(rest[0]):
        score, rest = finite(rest[0]), rest[1:]
    if rest and _is_number(rest[0]):
        raise FormatError(f"found {content!r}, expected [start end] name [score]", path=path, line=line)
    if rest:  # an auxiliary name: that of a word, of which this label is the first model
        if not alternative.levels:
            alternative.names, alternative.scores, alternative.levels = [], [], True
        name = rest[0]
        score = finite(rest[1]) if len(rest) > 1 and _is_number(rest[1]) else None
    elif alternative.levels:
        return  # a later model of the same word
    alternative.names.append(_unescaped(name))
    if score is not None:
        alternative.scores.append(score)


def _is_number(text: str) -> bool:
    try:
        finite(text)
    except ValueError:
        return False
    return True
