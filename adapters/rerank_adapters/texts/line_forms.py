r"""Forms in which a line has the id of an utterance and its text.

    kaldi    utt-07 so it is                    the files `text` of Kaldi
    trn      so it is (utt-07)                  NIST's scoring tools; lines that begin with `;;` are comments
    icefall  utt-07:\tref=['so', 'it', 'is']    the recognition files of icefall; the outputs are its `hyp=` lines
    fairseq  T-07\tso it is                     the output of fairseq; the sources are its S- lines, the outputs its H-

The white space between ids and words is that of ASCII, as in the programs that these forms belong to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rerank_adapters.formats.records import Role
from rerank_adapters.formats.tagged import words_of
from rerank_adapters.texts.texts import Texts
from rerank_adapters.texts.transcript import hypothesis_text, reference_text
from rerank_plugins import FormatError


@dataclass(frozen=True)
class LineForm:
    """A pattern, with the groups `id` and `text`, of the lines of utterances, and one of the lines between them.

    `read` makes a text of what the pattern finds, or raises ValueError. Where lines of an id may come `again`, the
    first one counts; otherwise that is an error.
    """

    name: str
    pattern: re.Pattern[str]
    between: re.Pattern[str]
    wanted: str
    read: Callable[[str], str] = str.strip
    again: bool = False

    def utterance(self, line: str) -> tuple[str, str] | None:
        """The id and the text of a line, as it is written; None for a line without an id."""
        match = self.pattern.fullmatch(line)
        return (match["id"], match["text"]) if match else None

    def texts(self, lines: Sequence[str], path: str, role: Role) -> Texts:
        """The texts of a file by id.

        Raises FormatError, with the line, for a line of another form, for an id that comes again and for wrong markup;
        and for a file without an utterance.
        """
        by_id: dict[str, tuple[str, ...]] = {}
        for number, line in enumerate(lines, 1):
            match = self.pattern.fullmatch(line)
            if match is None:
                if self.between.fullmatch(line):
                    continue
                raise FormatError(f"found {line.strip()!r:.60}, expected {self.wanted}", path=path, line=number)
            if match["id"] in by_id:
                if self.again:
                    continue
                raise FormatError(f"the id {match['id']!r} occurs twice", path=path, line=number)
            try:
                by_id[match["id"]] = (self.read(match["text"]),)
            except ValueError as error:
                raise FormatError(str(error), path=path, line=number) from None
        if not by_id:
            raise FormatError(f"the file has no {role}s: expected {self.wanted}", path=path)
        return Texts(path, by_id, self.name, role, self.wanted)


def _form(
    name: str, pattern: str, between: str, wanted: str, read: Callable[[str], str] = str.strip, *, again: bool = False
) -> LineForm:
    return LineForm(name, re.compile(pattern, re.ASCII), re.compile(between, re.ASCII), wanted, read, again)


def _trn(read: Callable[[str], str]) -> LineForm:
    wanted = "the id at the end of the line, `word word … (utterance-id)`"
    return _form("trn", r"(?!\s*;;)\s*(?P<text>.*?)\s*\((?P<id>[^()\s]+)\)\s*", r"\s*|\s*;;.*", wanted, read)


def _icefall(key: str, *, again: bool) -> LineForm:
    wanted = f"utterance:<TAB>{key}=…"
    return _form("icefall", rf"(?P<id>\S+):\t{key}=(?P<text>.*)", r"\S+:\t\w+=.*|\s*", wanted, words_of, again=again)


def _fairseq(tag: str, between: str = "", *, again: bool = False) -> LineForm:
    return _form("fairseq", rf"{tag}-(?P<id>\S+)\t{between}(?P<text>.*)", ".*", f"{tag}-id<TAB>text", again=again)


KALDI = _form("kaldi", r"\s*(?P<id>\S+)\s*(?P<text>.*?)\s*", r"\s*", "`utterance-id word word …`")
LINE_FORMS: Mapping[str, Mapping[Role, LineForm]] = {
    "kaldi": {"source": KALDI, "reference": KALDI, "output": KALDI},
    "trn": {"source": _trn(reference_text), "reference": _trn(reference_text), "output": _trn(hypothesis_text)},
    "icefall": {
        "source": _icefall("ref", again=False),
        "reference": _icefall("ref", again=False),
        "output": _icefall("hyp", again=True),
    },
    "fairseq": {"source": _fairseq("S"), "reference": _fairseq("T"), "output": _fairseq("H", r"[^\t]*\t", again=True)},
}
