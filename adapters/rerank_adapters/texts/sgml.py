"""Texts between tags: NIST's SGML, which mteval reads, and WMT's XML of 2021 and later.

    <refset …><doc docid="a" sysid="ref"><seg id="1">So it is.</seg> …                srcset, refset or tstset
    <dataset …><doc id="a"><src …><p><seg id="1">So ist es.</seg></p></src><ref translator="A">…</ref><hyp system="X">…

A file is read in the role that it is given in: sources, references or outputs. Those of several translators are
several references. Segments are numbered in the order of the file, as lines are; two files that both have documents are
matched by the documents and the numbers of their segments.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import unescape

from rerank_adapters.formats.records import Role
from rerank_adapters.texts.texts import Texts
from rerank_plugins import FormatError

TAG = re.compile(r"<(/?)(srcset|refset|tstset|doc|src|ref|hyp|seg)\b([^>]*)>", re.IGNORECASE)
SET = re.compile(r"\s*<(?:\?xml|!doctype|mteval|srcset|refset|tstset|dataset)\b", re.IGNORECASE)
DOCUMENT = re.compile(r"\s*<doc\b", re.IGNORECASE)
SEGMENT = re.compile(r"\s*<seg\b", re.IGNORECASE)
ATTRIBUTE = re.compile(r"""(\w+)\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]+)""")
ENTITY = re.compile(r"&(?:#\d+|#x[\da-fA-F]+|amp|lt|gt|quot|apos);")
GAP = re.compile(r"[ \t\r\n]+")
ROLES: Mapping[str, Role] = {
    "srcset": "source", "refset": "reference", "tstset": "output", "src": "source", "ref": "reference", "hyp": "output",
}  # fmt: skip
WRITERS = ("translator", "system", "sysid", "refid")  # attributes that name who wrote a text
Place = tuple[str, str]  # the document and the number of a segment


@dataclass(frozen=True)
class DocumentTexts(Texts):
    """The texts of a file with tags, by their places; `places` are the documents and the numbers of the segments."""

    places: tuple[Place, ...] = ()

    def like(self, other: Texts) -> Texts:
        """The texts with the ids that the same segments have in another file with tags."""
        if not isinstance(other, DocumentTexts):
            return self
        ids = dict(zip(other.places, other.by_id, strict=True))
        named = zip(self.places, self.by_id.values(), strict=True)
        return replace(self, by_id={ids.get(place, spelt(place)): texts for place, texts in named}, counted=False)


def shows_tags(lines: Iterable[str]) -> bool:
    """Whether these lines begin a set, or a document with segments."""
    head = [line for line in lines if line.strip()]
    return bool(head) and bool(SET.match(head[0]) or (DOCUMENT.match(head[0]) and any(map(SEGMENT.search, head))))


def spelt(place: Place) -> str:
    """A place as a message names it."""
    return f"segment {place[1]} of document {place[0]!r}"


def document_texts(lines: Sequence[str], path: str, role: Role) -> DocumentTexts:
    """The texts of that role, in the order of the file; white space is single.

    Raises FormatError, with the line, for a segment that is not closed, has no number or occurs twice, and where the
    file has no text of that role, the writers have different segments, or outputs are those of several systems.
    """
    texts_of_all = _texts("\n".join(lines), path)
    of_role = {writer: texts for (own, writer), texts in texts_of_all.items() if own == role}
    if not of_role:
        there = " and ".join(dict.fromkeys(f"{own}s" for own, _ in texts_of_all)) or "no segments"
        raise FormatError(f"the file has {there}, expected {role}s", path=path)
    if len(of_role) > 1 and role == "output":
        several = f"the outputs are those of {len(of_role)} systems ({', '.join(of_role)}), expected one"
        raise FormatError(several, path=path)
    first, *_ = of_role
    places = list(of_role[first])
    for writer, texts in of_role.items():
        if different := sorted(texts.keys() ^ {*places}):
            lacks, has = (first, writer) if different[0] in texts else (writer, first)
            raise FormatError(f"{lacks!r} has no text for {spelt(different[0])}, but {has!r} has one", path=path)
    by_id = {str(n): tuple(texts[place] for texts in of_role.values()) for n, place in enumerate(places)}
    option = "--system-form" if role == "output" else "--reference-form"
    return DocumentTexts(path, by_id, "sgm", role, role, True, by_place=f"{option} sgm", places=tuple(places))


def _texts(text: str, path: str) -> dict[tuple[Role, str], dict[Place, str]]:
    """The texts of each role and writer by their places. The writer of a set is that of its documents without one."""
    found: dict[tuple[Role, str], dict[Place, str]] = {}
    role: Role | None = None
    writer = writer_of_set = document = ""
    tags = TAG.finditer(text)
    for tag in tags:
        name, attributes = tag[2].lower(), {key.lower(): value.strip("\"'") for key, value in ATTRIBUTE.findall(tag[3])}
        own_writer = next((attributes[key] for key in WRITERS if key in attributes), "")
        if name == "seg":
            end = next(tags, None)
            place = document, attributes.get("id", "")
            texts = found.setdefault((role, writer), {}) if role else {}
            wrong = (
                "the segment is not opened" if tag[1]
                else "the segment is opened twice" if end is None or (end[1], end[2].lower()) != ("/", "seg")
                else "the segment is in no set of sources, references or outputs" if role is None
                else "the segment has no id" if not place[1]
                else f"{spelt(place)} occurs twice" if place in texts
                else ""
            )  # fmt: skip
            if wrong or end is None:
                raise FormatError(wrong, path=path, line=text.count("\n", 0, tag.start()) + 1)
            content = ENTITY.sub(lambda entity: unescape(entity[0]), text[tag.end() : end.start()])
            texts[place] = GAP.sub(" ", content).strip()
        elif tag[1]:
            role = None if name in ROLES else role
        elif name == "doc":
            document, writer = attributes.get("docid", attributes.get("id", "")), own_writer or writer_of_set
        else:
            role, writer = ROLES[name], own_writer
            writer_of_set = own_writer if name.endswith("set") else ""
    return found
