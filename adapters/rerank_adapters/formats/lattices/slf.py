r"""HTK's standard lattice format (The HTK Book 3.4, chapter 20), one file for each utterance; a folder of them is read.

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
0 where it has none) unless options replace them. A lattice without `l=` has no feature `lm`. Where it has posterior
probabilities of its arcs (`p=`, as PocketSphinx writes them) the sum of their logarithms is the feature `posterior` and
the total, and acoustic scores count only with the option `acoustic_scale`.

The start and the end are the nodes that `start` and `end` name. Otherwise they are the only node without arcs into it,
and out of it; of several, those that are named as such (`<s>`, `!SENT_END` …) or else the earliest and the latest by
`t`. All others are dead ends. The id is UTTERANCE, or the name of the file.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from rerank_adapters.formats.items import Item
from rerank_adapters.formats.lattices.lists import Lattices
from rerank_adapters.formats.lattices.search import Arc, Lattice, Scales
from rerank_adapters.formats.list_files import files_in, stem
from rerank_plugins import FormatError, open_text, option
from rerank_plugins.kit.files.text import finite_value

logger = logging.getLogger(__name__)
FIELD = re.compile(r"""([A-Za-z_][\w-]*)=("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\S*)""")
NAMES = {  # the long names of fields that have a short one
    "NODES": "N", "LINKS": "L", "START": "S", "END": "E", "WORD": "W", "time": "t", "acoustic": "a", "language": "l",
    "UTTERANCE": "U", "VERSION": "V",
}  # fmt: skip
BEFORE_START = -1  # a node before the start, from which an arc with the word of the start node leads
STARTS, ENDS = ("<s>", "!SENT_START", "!ENTER"), ("</s>", "!SENT_END", "!EXIT")
COLUMNS = {"a": "acoustic", "l": "lm", "p": "posterior"}  # the features of the scores of arcs
MIN_POSTERIOR = 1e-300  # a posterior that was rounded to 0


@dataclass
class _Slf:
    """A lattice while it is being read."""

    line: int
    header: dict[str, str] = field(default_factory=dict)
    nodes: dict[str, dict[str, str]] = field(default_factory=dict)  # the fields of each
    links: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    defined: int = 0  # the number of lines that define a node

    def scores(self) -> tuple[str, ...]:
        """The fields of the arcs' scores: acoustic ones, and those of a language model or else posteriors."""
        there = {name for _, fields in self.links for name in COLUMNS if name in fields}
        return tuple(name for name in COLUMNS if name in there and (name != "p" or "l" not in there))


@dataclass(frozen=True)
class HtkLattices(Lattices):
    """HTK standard lattices (SLF): the n best distinct word sequences of each."""

    acoustic_scale: float | None = option(None, doc="weight of the acoustic scores; default: acscale of the header")
    lm_scale: float | None = option(None, doc="weight of the LM scores; default: lmscale of the header")
    word_penalty: float | None = option(None, doc="added to the total for each word; default: wdpenalty of the header")

    def folder_items(self, folder: str) -> Iterator[Item]:
        """Yield the word sequences of each lattice of a folder, in the order of the names of the files."""
        warned: set[str] = set()
        for path in map(str, files_in(folder, (".lat", ".slf"))):
            with open_text(path) as lines:
                for item in self._items(lines, path, warned):
                    yield item._replace(path=path)

    def items(self, lines: Iterable[str], path: str) -> Iterator[Item]:
        """Yield the word sequences of one lattice after the other. Raises FormatError with the path and the line."""
        return self._items(lines, path, set())

    def _items(self, lines: Iterable[str], path: str, warned: set[str]) -> Iterator[Item]:
        """The same; what `warned` holds has been said."""
        slf: _Slf | None = None
        for number, line in enumerate(lines, 1):
            fields = {NAMES.get(name, name): _unquoted(text) for name, text in FIELD.findall(line)}
            if "V" in fields and slf is not None and slf.nodes:
                yield from self._best(slf, path, warned)
                slf = None
            slf = slf or _Slf(number)
            if not line.strip() or line.startswith("#"):
                continue
            if not fields:
                raise FormatError(f"found {line.strip()!r}, expected fields NAME=value", path=path, line=number)
            if "I" in fields:
                slf.nodes[fields["I"]] = fields
                slf.defined += 1
            elif "J" in fields:
                slf.links.append((number, fields))
            else:
                slf.header.update(fields)
        if slf is not None:
            yield from self._best(slf, path, warned)

    def _best(self, slf: _Slf, path: str, warned: set[str]) -> Iterator[Item]:
        """The word sequences of a lattice."""
        if not slf.nodes:
            raise FormatError("the lattice has no nodes (I=…)", path=path, line=slf.line)
        _check_counts(slf, path)
        numbers = {name: position for position, name in enumerate(slf.nodes)}
        lattice, into = Lattice(), set[int]()
        base = self._header(slf, "base", math.e, path)
        scores = slf.scores()
        for line, fields in slf.links:
            ends = [numbers.get(fields.get(name, "")) for name in ("S", "E")]
            if ends[0] is None or ends[1] is None:
                message = f"the arc {fields['J']} lacks its start or end node, or the node does not exist"
                raise FormatError(message, path=path, line=line)
            acoustic = 0.0 - _log(fields.get("a", "0"), base, "a", path, line)
            if "p" in scores:
                other = _posterior(fields, path, line)
            else:
                other = _log(fields.get("l", "0"), base, "l", path, line)
            word = fields.get("W", slf.nodes[fields.get("E", "")].get("W", ""))
            lattice.add(ends[0], Arc(ends[1], "" if word in self.drop else word, acoustic, 0.0 - other))
            into.add(ends[1])
        self._ends(slf, lattice, numbers, into, path)
        _say_what_lacks(lattice, scores, path, warned)
        utterance = stem(slf.header["U"]) if slf.header.get("U") else stem(path)
        names = [next((COLUMNS[name] for name in those if name in scores), "") for those in ("a", "lp")]
        names = names if slf.links else ["acoustic", "lm"]
        return self.best(lattice, utterance, self._scales(slf, scores, path), path, slf.line, names)

    def _scales(self, slf: _Slf, scores: Collection[str], path: str) -> Scales:
        """The scales of the options, or else of the header; posteriors count alone."""
        names = ("acscale", 1.0), ("lmscale", 1.0), ("wdpenalty", 0.0)
        usual = (0.0, 1.0, 0.0) if "p" in scores else [self._header(slf, *name, path) for name in names]
        options = (self.acoustic_scale, self.lm_scale, self.word_penalty)
        acoustic, lm, penalty = (one if own is None else own for own, one in zip(options, usual, strict=True))
        return Scales(acoustic, lm, -penalty)

    def _ends(self, slf: _Slf, lattice: Lattice, numbers: dict[str, int], into: set[int], path: str) -> None:
        """Set the start and the final nodes; an arc before the start has the word of the start node."""
        starts = _terminal(slf, "start", [name for name in numbers if numbers[name] not in into], STARTS, min, path)
        ends = [name for name in numbers if not lattice.arcs.get(numbers[name])]
        finals = _terminal(slf, "end", ends, ENDS, max, path)
        for start in starts:
            word = slf.nodes[start].get("W", "")
            lattice.add(BEFORE_START, Arc(numbers[start], "" if word in self.drop else word, 0.0, 0.0))
        lattice.start = BEFORE_START
        lattice.finals = {numbers[final]: (0.0, 0.0) for final in finals}

    @staticmethod
    def _header(slf: _Slf, name: str, default: float, path: str) -> float:
        return finite_value(slf.header[name], name, path, slf.line) if name in slf.header else default


def _check_counts(slf: _Slf, path: str) -> None:
    """Raise FormatError where the header promises other numbers of nodes and arcs."""
    for name, what, count in (("N", "nodes", slf.defined), ("L", "arcs", len(slf.links))):
        wanted = slf.header.get(name, str(count))
        if not wanted.isdigit() or int(wanted) != count:
            message = f"found {count} {what}, expected {name}={wanted} of them: is the file cut short?"
            raise FormatError(message, path=path, line=slf.line)
    if len(slf.nodes) < slf.defined:
        raise FormatError("two nodes have the same number", path=path, line=slf.line)


def _terminal(
    slf: _Slf, side: str, candidates: Sequence[str], words: Collection[str], first: Callable[[Iterable[float]], float],
    path: str,
) -> list[str]:  # fmt: skip
    """The start or end nodes among the nodes that no arc leads into or out of; FormatError where it is not known."""
    if side in slf.header:
        if slf.header[side] not in slf.nodes:
            raise FormatError(f"{side}={slf.header[side]} names no node", path=path, line=slf.line)
        return [slf.header[side]]
    arcs = "into" if side == "start" else "out of"
    if not candidates:
        message = f"the lattice has a cycle: it has no {side} (every node has an arc {arcs} it)"
        raise FormatError(message, path=path, line=slf.line)
    if len(candidates) == 1:
        return list(candidates)
    if named := [name for name in candidates if slf.nodes[name].get("W") in words]:
        return named
    times = {name: slf.nodes[name].get("t") for name in candidates}
    if all(time is not None for time in times.values()):
        seconds = {name: finite_value(time or "", "t", path, slf.line) for name, time in times.items()}
        return [name for name in candidates if seconds[name] == first(seconds.values())]
    some = ", ".join(candidates[:3]) + (", …" if len(candidates) > 3 else "")
    message = f"{len(candidates)} nodes have no arc {arcs} them ({some}): expected one, or {side}= with its number"
    raise FormatError(message, path=path, line=slf.line)


def _say_what_lacks(lattice: Lattice, scores: Collection[str], path: str, warned: set[str]) -> None:
    """Warn, once, of scores that the arcs lack, and of scores that are the same on all arcs."""
    arcs = [arc for node, row in lattice.arcs.items() if node != BEFORE_START for arc in row]
    remarks = {}
    if "p" in scores:
        remarks["l"] = "the arcs have no LM scores l=: their posteriors p= give the totals"
    for name in ("a", "l"):
        if name not in {*scores, *remarks} and not (name == "a" and "p" in scores):
            remarks[name] = f"the arcs have no {name}=: there is no feature {COLUMNS[name]!r}"
    for name in scores:
        values = {arc.acoustic if name == "a" else arc.lm for arc in arcs}
        if len(values) == 1:
            remarks[name] = f"{name}= is the same on all arcs: the feature {COLUMNS[name]!r} tells no hypotheses apart"
    for name, remark in remarks.items():
        if len(arcs) > 1 and name not in warned:
            warned.add(name)
            logger.warning("rerank: warning: %s: %s", path, remark)


def _unquoted(text: str) -> str:
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


def _posterior(fields: dict[str, str], path: str, line: int) -> float:
    """Ln p of the posterior probability of an arc."""
    if "p" not in fields:
        raise FormatError(f"the arc {fields['J']} has no posterior p=, as others have", path=path, line=line)
    probability = finite_value(fields["p"], "p", path, line)
    if not 0 <= probability <= 1 + 1e-3:
        raise FormatError(f"p is {fields['p']}, expected a probability", path=path, line=line)
    return min(math.log(max(probability, MIN_POSTERIOR)), 0.0)
