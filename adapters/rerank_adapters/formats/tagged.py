r"""Reads lists of programs whose lines say by their form what they hold: fairseq, WeNet, Julius, icefall, SRILM.

A pattern names what a line tells by its groups:

    opens            begins a list; its text, if any, is the id of the segment
    id               the id of the segment; another one than on the line before begins a list
    named            the file of the next list, whose name is the id
    text             begins a hypothesis; what stands in its own place begins at rank 1, where there is a rank
    total, source    of the hypothesis and of the segment
    of, ranked       the id, and the rank, of the hypothesis that the line belongs to
    alone            says that hypotheses of this form stand in no list that a line opens
    wrong            a line that has the beginning of another kind, and is damaged

All other groups belong to the hypothesis and make its features.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import fsum, log, nan
from typing import Any, NamedTuple, NoReturn

from rerank_adapters.formats.items import SCORE, Item, Reader
from rerank_adapters.formats.list_files import lists_in, stem
from rerank_plugins import FormatError, option
from rerank_plugins.core.logarithms import LN10
from rerank_plugins.core.nbest import NO_SPARSE
from rerank_plugins.kit.files.text import MAX_SCORE, ordinary

LN2 = log(2)
BYTELOG = 1024 * log(1.0001)  # one bytelog of SRILM as a natural logarithm
KINDS = ("opens", "id", "named", "text", "alone", "wrong")  # groups that say what a line does
OF_SEGMENT = ("opens", "id", "named", "source")
Groups = Mapping[str, str]


@dataclass(frozen=True)
class Tagged(Reader):
    """Lists in lines that patterns tell apart.

    `features` makes each feature of the groups of a hypothesis: natural logarithms, or None where the lines do not have
    it. The total is that of its group, or else the feature `score`. `spelt` makes the text of what the file has in its
    place. `logs` says that other lines may stand among those of the patterns, and `per_file` that a file has one list,
    whose id is the name of the file. `layout` shows the lines to users.
    """

    patterns: tuple[str, ...]
    layout: str
    features: Mapping[str, Callable[[Groups], float | None]] = field(default_factory=dict)
    spelt: Callable[[str], str] = str.strip
    logs: bool = False
    per_file: bool = False
    drop: tuple[str, ...] = option((), doc="words that are not part of the text, such as pauses and sentence ends")

    def folder_items(self, folder: str) -> Iterator[Item]:
        """Yield the hypotheses of each file of a folder, in the order of their names, but of those with another ending.

        Raises FormatError where lists are never in files of their own.
        """
        return self.items_of_files(lists_in(folder)) if self.per_file else super().folder_items(folder)

    def items(self, lines: Iterable[str], path: str) -> Iterator[Item]:
        """Yield a hypothesis as soon as the next one begins. Raises FormatError."""
        kinds = [_Kind.of(pattern) for pattern in self.patterns]
        lists = _Lists(self, path)
        number = 0
        for number, line in enumerate(lines, 1):
            whole = line.rstrip("\r\n")
            for kind in kinds:
                if (match := kind.match(whole)) is not None:
                    break
            else:
                if self.logs:
                    continue
                raise FormatError(f"found {whole.strip()!r:.60}, expected {self.layout}", path=path, line=number)
            if kind.is_wrong:
                raise FormatError(f"found {whole.strip()!r:.60}, expected {self.layout}", path=path, line=number)
            item = lists.take(kind, match.groupdict(), number)
            if item is not None:
                yield item
        item = lists.finished()
        if item is not None:
            yield item
        lists.check_full(number)


class _Kind(NamedTuple):
    """A kind of lines: what matches them, and which groups they have."""

    match: Callable[[str], re.Match[str] | None]
    opens: bool
    has_id: bool
    is_named: bool
    has_text: bool
    is_alone: bool
    is_wrong: bool
    of_hypothesis: tuple[str, ...]

    @classmethod
    def of(cls, pattern: str) -> _Kind:
        """The kind of the lines that a pattern matches."""
        compiled = re.compile(pattern)
        names = compiled.groupindex
        opens, has_id, named, text, alone, wrong = (name in names for name in KINDS)
        others = tuple(name for name in names if name not in OF_SEGMENT)
        return cls(compiled.fullmatch, opens, has_id, named, text, alone, wrong, others)


class _Lists:
    """The segment and the hypothesis that lines belong to, while a file is read."""

    def __init__(self, form: Tagged, path: str) -> None:
        self._form, self._path = form, path
        self._id = ""  # as the lines have it
        self._own = ""  # of the list: the id of the lines, the name of a file, or the number of the list
        self._named = stem(path) if form.per_file else ""
        self._source: str | None = None
        self._said: dict[str, str] = {}  # of the present hypothesis
        self._line = self._lists = self._ranks = 0
        self._opened = False  # whether a line has opened the present list

    def take(self, kind: _Kind, groups: Mapping[str, Any], number: int) -> Item | None:
        """Take the groups of a line; return the hypothesis that it ends, if any."""
        finished = None
        has_text = kind.has_text
        opens = kind.opens or (kind.has_id and groups["id"] != self._id) or (has_text and groups.get("rank") == "1")
        if opens or has_text or kind.is_named:
            finished = self.finished()
        if kind.is_named:
            self._named = stem(groups["named"])
        if has_text and not opens and kind.is_alone == self._opened:
            self._fail("the line is no part of a list, or of one in another form", number)
        if opens or (has_text and not self._own):
            self._open(groups.get("opens") or groups.get("id") or "", number, opened=opens)
        if "source" in groups:
            self._source = groups["source"]
        if has_text:
            self._said, self._line, self._ranks = {}, number, self._ranks + 1
            if groups.get("rank", str(self._ranks)) != str(self._ranks):
                self._fail(f"found rank {groups['rank']}, expected {self._ranks}", number)
        if kind.of_hypothesis:
            if not self._line:
                self._fail("the line stands before the hypothesis that it belongs to", number)
            if groups.get("of", self._id) != self._id or groups.get("ranked", str(self._ranks)) != str(self._ranks):
                self._fail("the line is of another hypothesis than the lines before it", number)
            for name in kind.of_hypothesis:
                if name in self._said and name not in ("of", "ranked"):
                    self._fail(f"the hypothesis has a second line with its {name}", number)
                if groups[name] is not None:
                    self._said[name] = groups[name]
        return finished

    def _open(self, id_: str, number: int, *, opened: bool) -> None:
        """Begin a list."""
        self.check_full(number)
        if self._form.per_file and self._lists:
            self._fail("the file has a second list, expected one list a file", number)
        self._id = id_
        self._own = id_ or self._named or str(self._lists)
        self._named, self._source, self._ranks = "", None, 0
        self._lists += 1
        self._opened = opened

    def finished(self) -> Item | None:
        """The present hypothesis, if there is one."""
        if not self._line:
            return None
        said, line, self._line = self._said, self._line, 0
        names, values = list[str](), list[float]()
        total: Any = said.get("total")
        for name, make in self._form.features.items():
            try:
                value = make(said)
            except ValueError as error:
                self._fail(f"feature {name!r} {error}", line)
            if value is not None:
                names.append(name)
                values.append(value)
                total = value if name == SCORE and total is None else total
        try:
            text = self._form.spelt(said["text"])
        except ValueError as error:
            self._fail(str(error), line)
        if self._form.drop:
            text = " ".join(word for word in text.split() if word not in self._form.drop)
        return Item(self._own, line, text, total, tuple(names), values, NO_SPARSE, self._source)

    def check_full(self, number: int) -> None:
        """Raise FormatError, with the number of a line, for a list without hypotheses."""
        if self._own and not self._ranks:
            self._fail(f"segment {self._own} has no hypothesis: is the file cut short?", number)

    def _fail(self, message: str, line: int) -> NoReturn:
        raise FormatError(message, path=self._path, line=line)


@dataclass(frozen=True)
class Number:
    """The sum of the numbers in a group, times a factor; None where the lines do not have the group."""

    group: str
    factor: float = 1.0

    def __call__(self, said: Groups) -> float | None:
        """The value for a hypothesis. Raises ValueError for another text."""
        text = said.get(self.group)
        if text is None:
            return None
        numbers = text.split()
        try:
            total = fsum(map(float, numbers))
        except (ValueError, OverflowError):
            total = nan
        if not abs(total) <= MAX_SCORE or not text.isascii() or "_" in text:  # nan is not, either
            total = fsum(map(ordinary, numbers))  # which says what is wrong
        return self.factor * total


FAIRSEQ = Tagged(
    (
        r"S-(?P<id>[^\t\s]+)\t(?P<source>.*)",
        r"T-(?P<id>[^\t\s]+)\t.*",
        r"H-(?P<id>[^\t\s]+)\t(?P<total>[^\t]*)\t(?P<text>.*)",
        r"D-(?P<of>[^\t\s]+)\t.*",
        r"P-(?P<of>[^\t\s]+)\t(?P<parts>.*)",
        r"(?P<wrong>H-[^\t\s]+\t.*)",
    ),
    "H-id, score and text, separated by tabs",
    {"score": Number("total", LN2), "logprob": Number("parts", LN2)},
    logs=True,
)
WENET = Tagged(
    (r"wav\s+(?P<opens>\S+)\s*", r"candidate\s+(?P<total>\S+)(?P<text>.*)"),
    "`wav utterance`, then `candidate score words`",
)
JULIUS = Tagged(
    (
        r"(?i:(?:.*\s)?input\s+\S*\s?file\S*:\s*(?P<named>\S+)\s*)",
        r"sentence(?P<rank>[1-9]\d{0,8}):\s?(?P<text>.*)",
        r"(?:wseq|phseq|cmscore)(?P<ranked>[1-9]\d{0,8}):.*",
        r"score(?P<ranked>[1-9]\d{0,8}):\s*(?P<total>\S+)(?:\s+\(AM:\s*(?P<am>\S+)\s+LM:\s*(?P<lm>\S+)\))?\s*",
        r"(?P<wrong>score[1-9]\d{0,8}:.*)",
    ),
    "sentence1, its score1 and so on",
    {"score": Number("total"), "acoustic": Number("am"), "lm": Number("lm")},
    logs=True,
    drop=("<s>", "</s>", "silB", "silE", "sp"),
)
SRILM = Tagged(
    (
        r"(?P<opens>)NBestList1\.0\s*",
        r"\((?P<bytelogs>[^()\s]+)\)\s*(?P<text>.*)",
        r"\s*(?P<alone>)(?P<am>[^\s(]\S*)\s+(?P<lm>\S+)\s+(?P<words>\S+)(?P<text>.*)",
    ),
    "an NBestList1.0 header and lines `(score) words`, or acoustic score, LM score, number of words and the words",
    {
        "score": Number("bytelogs", BYTELOG),
        "acoustic": Number("am", LN10),
        "lm": Number("lm", LN10),
        "words": Number("words"),
    },
    per_file=True,
    drop=("<s>", "</s>", "-pau-"),
)


def words_of(text: str) -> str:
    """The words of a Python list of texts, or the text itself. Raises ValueError for a list that cannot be read.

    >>> words_of("['so', 'it']"), words_of(" so it")
    ('so it', 'so it')
    """
    if not text.startswith("["):
        return text.strip()
    try:
        words = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        words = None
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise ValueError(f"found {text!r}, expected a list of words, as ['so', 'it', 'is']")
    return " ".join(words)


ICEFALL = Tagged(
    (r"(?P<opens>\S+):\tref=.*", r"(?P<id>\S+):\thyp=(?P<text>.*)", r"(?P<id>\S+):\t\w+=.*"),
    "utterance:<TAB>ref=… or utterance:<TAB>hyp=…",
    spelt=words_of,
)
