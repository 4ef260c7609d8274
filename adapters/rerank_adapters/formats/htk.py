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

HTK's standard lattice format (The HTK Book 3.4, chapter 20), one file for each utterance; a folder of them is read.

    VERSION=1.0
    UTTERANCE=utt-07
    lmscale=12.0 wdpenalty=-4.0
    N=3 L=2
    I=0 t=0.00
    I=1 t=0.31 W=so                 the words stand on the nodes that arcs lead to, or on the arcs
    I=2 t=0.58 W=it
    J=0 S=0 E=1 a=-1203.2 l=-2.31   natural logarithms, unless `base` says otherwise
    J=1 S=1 E=2 a=-810.5 l=-0.72

The total of a path is acscale · a + lmscale · l + wdpenalty for each word. The scales are those of the header (1, 1 and
0 where it has none) unless options replace them. Nodes without arcs into them or out of them are the start and the end,
unless `start` and `end` name them. The id is UTTERANCE, or the name of the file.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import fsum
from pathlib import PurePosixPath

from rerank_adapters.formats.lattices import NOTHING, Arc, Lattice, LatticeFormat, Scales
from rerank_adapters.formats.line_lists import OrderFormat, files_in, line_end, stem, without
from rerank_plugins import FormatError, Hypothesis, NBestList, open_text, option
from rerank_plugins.core.nbest import NO_SPARSE
from rerank_plugins.kit.files.text import finite, finite_value, shortest

FIELD = re.compile(r"""([A-Za-z_][\w-]*)=("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\S*)""")
NAMES = {  # the long names of fields that have a short one
    "NODES": "N", "LINKS": "L", "START": "S", "END": "E", "WORD": "W", "time": "t", "acoustic": "a", "language": "l",
    "UTTERANCE": "U", "VERSION": "V",
}  # fmt: skip
BEFORE_START = -1  # a node before the start, from which an arc with the word of the start node leads
HEADER = "#!MLF!#"
SILENCES = (*NOTHING, "SENT-START", "SENT-END", "<s>", "</s>", "sil", "sp")
OCTAL = re.compile(rb"\\([0-7]{3})|\\(.)", re.DOTALL)


@dataclass
class _Slf:
    """A lattice while it is being read."""

    line: int
    header: dict[str, str] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)  # by node
    links: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    raw: str = ""


@dataclass(frozen=True)
class HtkSlfFormat(LatticeFormat):
    """HTK standard lattices (SLF): the n best distinct word sequences of each."""

    acoustic_scale: float | None = option(None, doc="weight of the acoustic scores; default: acscale of the header")
    lm_scale: float | None = option(None, doc="weight of the LM scores; default: lmscale of the header")
    word_penalty: float | None = option(None, doc="added to the total for each word; default: wdpenalty of the header")

    def read_folder(self, folder: str) -> Iterator[NBestList]:
        """Yield the list of each lattice of a folder, in the order of the names of the files."""
        for path in files_in(folder, (".lat", ".slf")):
            with open_text(path) as lines:
                yield from self.read(lines, str(path))

    def read(self, lines: Iterable[str], path: str) -> Iterator[NBestList]:
        """Yield the list of each lattice of a file. Raises FormatError with the path and the line."""
        slf: _Slf | None = None
        number = 0
        for number, line in enumerate(lines, 1):
            fields = {NAMES.get(name, name): _plain(text) for name, text in FIELD.findall(line)}
            if "V" in fields and slf is not None and slf.words:
                yield self._list(slf, path)
                slf = None
            slf = slf or _Slf(number)
            slf.raw += line
            if not line.strip() or line.startswith("#"):
                continue
            if not fields:
                raise FormatError(f"found {line.strip()!r}, expected fields NAME=value", path=path, line=number)
            if "I" in fields:
                slf.words[fields["I"]] = fields.get("W", "")
            elif "J" in fields:
                slf.links.append((number, fields))
            else:
                slf.header.update(fields)
        if slf is not None:
            yield self._list(slf, path)

    def paths(self, utterance: str, sequences: list[tuple[list[str], float]]) -> Iterator[str]:
        """Yield a lattice in which each path has its total as the LM score of its first arc."""
        scale = 1.0 if self.lm_scale is None else self.lm_scale
        penalty = self.word_penalty or 0.0
        nodes = ["I=0"]
        links: list[str] = []
        for words, total in sequences:
            score, before = (total - penalty * len(words)) / scale, 0
            for word in words or ["!NULL"]:
                nodes.append(f"I={len(nodes)} W={word}")
                links.append(f"J={len(links)} S={before} E={len(nodes) - 1} a=0 l={shortest(score)}")
                before, score = len(nodes) - 1, 0.0
        yield f"VERSION=1.0\nUTTERANCE={utterance}\nN={len(nodes)} L={len(links)}\n"
        yield from (f"{line}\n" for line in (*nodes, *links))

    def _list(self, slf: _Slf, path: str) -> NBestList:
        if not slf.words:
            raise FormatError("the lattice has no nodes (I=…)", path=path, line=slf.line)
        numbers = {name: position for position, name in enumerate(slf.words)}
        lattice = Lattice()
        into: set[int] = set()
        base = self._header(slf, "base", math.e, path)
        for line, fields in slf.links:
            ends = [numbers.get(fields.get(name, "")) for name in ("S", "E")]
            if ends[0] is None or ends[1] is None:
                message = f"the arc {fields['J']} lacks its start or end node, or the node does not exist"
                raise FormatError(message, path=path, line=line)
            acoustic, lm = (_log(fields.get(name, "0"), base, name, path, line) for name in ("a", "l"))
            word = fields.get("W", slf.words[fields["E"]])
            lattice.add(ends[0], Arc(ends[1], "" if word in self.drop else word, -acoustic, -lm))
            into.add(ends[1])
        self._ends(slf, lattice, numbers, into, path)
        scales = Scales(
            self._header(slf, "acscale", 1.0, path) if self.acoustic_scale is None else self.acoustic_scale,
            self._header(slf, "lmscale", 1.0, path) if self.lm_scale is None else self.lm_scale,
            -(self._header(slf, "wdpenalty", 0.0, path) if self.word_penalty is None else self.word_penalty),
        )
        utterance = stem(slf.header["U"]) if slf.header.get("U") else stem(path)
        return self.nbest(lattice, utterance, scales, slf.raw, path, slf.line)

    def _ends(self, slf: _Slf, lattice: Lattice, numbers: dict[str, int], into: set[int], path: str) -> None:
        """Set the start and the final nodes; an arc before the start has the word of the start node."""
        for name in ("start", "end"):
            if name in slf.header and slf.header[name] not in numbers:
                raise FormatError(f"{name}={slf.header[name]} names no node", path=path, line=slf.line)
        starts = [number for number in numbers.values() if number not in into]
        if "start" in slf.header:
            starts = [numbers[slf.header["start"]]]
        finals = [number for number in numbers.values() if not lattice.arcs.get(number)]
        if "end" in slf.header:
            finals = [numbers[slf.header["end"]]]
        if not starts or not finals:
            missing = "start (every node has an arc into it)" if not starts else "end (every node has an arc out of it)"
            raise FormatError(f"the lattice has a cycle: it has no {missing}", path=path, line=slf.line)
        words = dict(zip(numbers.values(), slf.words.values(), strict=True))
        for start in starts:
            word = words[start]
            lattice.add(BEFORE_START, Arc(start, "" if word in self.drop else word, 0.0, 0.0))
        lattice.start = BEFORE_START
        lattice.finals = dict.fromkeys(finals, (0.0, 0.0))

    @staticmethod
    def _header(slf: _Slf, name: str, default: float, path: str) -> float:
        return finite_value(slf.header[name], name, path, slf.line) if name in slf.header else default


def _plain(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1]
    return re.sub(r"\\(.)", r"\1", text)


def _log(text: str, base: float, name: str, path: str, line: int) -> float:
    """A score as a natural logarithm; base 0 means that the file has probabilities."""
    number = finite_value(text, name, path, line)
    if base == 0:
        if number <= 0:
            raise FormatError(f"{name} is {text}, expected a positive probability (base=0)", path=path, line=line)
        return math.log(number)
    return number if base == math.e else number * math.log(base)


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
