"""Reads sources, references and outputs with markup: NIST's SGML, which mteval reads, and WMT's XML of 2021 and later.

    <refset …><doc docid="a" sysid="ref"><seg id="1">So it is.</seg> …                srcset, refset or tstset
    <dataset …><doc id="a"><src …><p><seg id="1">So ist es.</seg></p></src><ref translator="A">…</ref><hyp system="X">…

A file is read in the role that it is given in: sources, references or outputs. Those of several translators are
several references. Segments are numbered in the order of the file, as lines are, and the documents and numbers of the
segments must be the same in all files that have them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from itertools import islice
from typing import NamedTuple

from rerank_adapters.formats.recognition import MAX_LINES
from rerank_adapters.formats.records import Role
from rerank_plugins import FormatError

TAG = re.compile(r"<(/?)(srcset|refset|tstset|doc|src|ref|hyp|seg)\b([^>]*)>", re.IGNORECASE)
SET = re.compile(r"\s*<(?:\?xml|!doctype|mteval|srcset|refset|tstset|dataset)\b", re.IGNORECASE)
DOCUMENT = re.compile(r"\s*<doc\b", re.IGNORECASE)
SEGMENT = re.compile(r"\s*<seg\b", re.IGNORECASE)
ATTRIBUTE = re.compile(r"""(\w+)\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]+)""")
ENTITY = re.compile(r"&(?:#\d+|#x[\da-fA-F]+|amp|lt|gt|quot|apos);")
ROLES: Mapping[str, Role] = {
    "srcset": "source", "refset": "reference", "tstset": "output", "src": "source", "ref": "reference", "hyp": "output",
}  # fmt: skip
WRITERS = ("translator", "system", "sysid", "refid")  # attributes that name who wrote a text
Place = tuple[str, str]  # the document and the number of a segment


class MarkedTexts(NamedTuple):
    """`columns[i][j]` is the text of `writers[i]` for the segment at `places[j]`."""

    writers: list[str]
    places: list[Place]
    columns: list[list[str]]


def shows_markup(lines: Iterable[str]) -> bool:
    """Whether the first lines are those of a file with markup: of a set, or of a document with segments."""
    head = [line for line in islice(lines, MAX_LINES) if line.strip()]
    return bool(head) and bool(SET.match(head[0]) or (DOCUMENT.match(head[0]) and any(map(SEGMENT.search, head))))


def marked_texts(lines: Sequence[str], path: str, role: Role) -> MarkedTexts:
    """The texts of that role, in the order of the file; white space is single.

    Raises FormatError, with the line, for a segment that is not closed, has no number or occurs twice, and where the
    file has no text of that role, the writers have different segments, or outputs are those of several systems.
    """
    texts_of_all = _Reader("\n".join(lines), path).read()
    of_role = {writer: texts for (own, writer), texts in texts_of_all.items() if own == role}
    if not of_role:
        there = " and ".join(dict.fromkeys(f"{own}s" for own, _ in texts_of_all)) or "no segments"
        raise FormatError(f"the file has {there}, expected {role}s", path=path)
    if len(of_role) > 1 and role == "output":
        raise FormatError(f"the outputs are those of {len(of_role)} systems ({', '.join(of_role)}), expected one",
                          path=path)  # fmt: skip
    places = list(next(iter(of_role.values())))
    first = next(iter(of_role))
    for writer, texts in of_role.items():
        if different := sorted(texts.keys() ^ set(places)):
            lacks, has = (first, writer) if different[0] in texts else (writer, first)
            raise FormatError(f"{lacks!r} has no text for {spelt(different[0])}, but {has!r} has one", path=path)
    return MarkedTexts(list(of_role), places, [[texts[place] for place in places] for texts in of_role.values()])


def without_markup(
    files: Sequence[Sequence[str]], names: Sequence[str], role: Role, all_marked: bool
) -> tuple[list[Sequence[str]], list[str], list[Place]]:
    """The texts of that role in files of which some may have markup, or all must, with a name for each writer.

    Of files without markup these are the lines. The places are those of the files with markup, if there are any.
    Raises FormatError as `marked_texts` does, and where two files have different segments, or in another order.
    """
    columns: list[Sequence[str]] = []
    of_columns: list[str] = []
    places: list[Place] = []
    first = ""
    for lines, name in zip(files, names, strict=True):
        if not (all_marked or shows_markup(lines)):
            columns.append(lines)
            of_columns.append(name)
            continue
        marked = marked_texts(lines, name, role)
        if places:
            check_same_places(marked.places, places, name, first)
        first, places = first or name, places or marked.places
        columns += marked.columns
        of_columns += [f"{name} ({writer})" for writer in marked.writers] if len(marked.writers) > 1 else [name]
    return columns, of_columns, places


def spelt(place: Place) -> str:
    """A place as a message names it."""
    return f"segment {place[1]} of document {place[0]!r}"


def check_same_places(places: Sequence[Place], wanted: Sequence[Place], path: str, other: str) -> None:
    """Raise FormatError unless a file has the segments of the other one, in the same order."""
    for own, place in zip(places, wanted, strict=False):
        if own != place:
            raise FormatError(f"{spelt(own)} stands where {other} has {spelt(place)}", path=path)
    if len(places) != len(wanted):
        raise FormatError(f"{len(places)} segments, but {other} has {len(wanted)}: expected as many", path=path)


@dataclass
class _Reader:
    """Goes through the tags of a file, and keeps whose text they enclose.

    `texts` has the texts of each role and writer by their places; `role`, `writer` and `document` are those of the
    segments that come next. The writer of a set is that of its documents which name none.
    """

    text: str
    path: str
    texts: dict[tuple[Role, str], dict[Place, str]] = field(default_factory=dict)
    role: Role | None = None
    writer: str = ""
    writer_of_set: str = ""
    document: str = ""

    def read(self) -> dict[tuple[Role, str], dict[Place, str]]:
        """The texts of the whole file. Raises FormatError as `marked_texts` does."""
        tags = TAG.finditer(self.text)
        for tag in tags:
            name, attributes = tag[2].lower(), _attributes(tag[3])
            if name == "seg":
                end = next(tags, None)
                if tag[1] or end is None or (end[1], end[2].lower()) != ("/", "seg"):
                    raise self._wrong(tag, "the segment is opened twice" if not tag[1] else "the segment is not opened")
                self._add(tag, attributes.get("id", ""), self.text[tag.end() : end.start()])
            elif tag[1]:
                self.role = None if name in ROLES else self.role
            elif name == "doc":
                self.document = attributes.get("docid", attributes.get("id", ""))
                self.writer = _writer(attributes) or self.writer_of_set
            else:
                self.role, self.writer = ROLES[name], _writer(attributes)
                self.writer_of_set = self.writer if name.endswith("set") else ""
        return self.texts

    def _add(self, tag: re.Match[str], number: str, content: str) -> None:
        if self.role is None:
            raise self._wrong(tag, "the segment is in no set of sources, references or outputs")
        if not number:
            raise self._wrong(tag, "the segment has no id")
        place = self.document, number
        texts = self.texts.setdefault((self.role, self.writer), {})
        if place in texts:
            raise self._wrong(tag, f"{spelt(place)} occurs twice")
        texts[place] = " ".join(ENTITY.sub(lambda entity: unescape(entity[0]), content).split())

    def _wrong(self, tag: re.Match[str], message: str) -> FormatError:
        return FormatError(message, path=self.path, line=self.text.count("\n", 0, tag.start()) + 1)


def _attributes(text: str) -> dict[str, str]:
    return {name.lower(): value.strip("\"'") for name, value in ATTRIBUTE.findall(text)}


def _writer(attributes: Mapping[str, str]) -> str:
    return next((attributes[name] for name in WRITERS if name in attributes), "")
