"""Documents in plain text.

    lines     a document a line: `title<TAB>text`, or text alone
    blocks    a document is the lines up to an empty one; `# title` may be its first
    N         so many lines are a document (running text, whose parts nobody marked)

A document without a title is called after its file and first line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from rerank_plugins.errors import FormatError


@dataclass(frozen=True)
class Document:
    """Its title, and its text line by line."""

    title: str
    lines: tuple[str, ...]


def documents(name: str, lines: Iterable[str], form: str) -> Iterator[Document]:
    """The documents of a file that have words; `form` is lines, blocks or a number.

    Raises FormatError for a line with `<s>` or `</s>` in it, which mark ends where text becomes numbers.
    """
    numbered = ((number, _plain(line.strip("\r\n"), name, number)) for number, line in enumerate(lines, 1))
    if form == "lines":
        for number, line in numbered:
            title, tab, text = line.partition("\t")
            yield from _made(title.strip() if tab else "", [text if tab else line], name, number)
    elif form == "blocks":
        yield from _blocks(numbered, name)
    else:
        while piece := list(islice(numbered, int(form))):
            yield from _made("", [line for _, line in piece], name, piece[0][0])


def _blocks(numbered: Iterable[tuple[int, str]], name: str) -> Iterator[Document]:
    title, text, first = "", list[str](), 1
    for number, line in numbered:
        if not line.strip():
            yield from _made(title, text, name, first)
            title, text = "", []
        elif line.startswith("# ") and not text:
            title = line[2:].strip()
        else:
            first = first if text else number
            text.append(line)
    yield from _made(title, text, name, first)


def _made(title: str, text: list[str], name: str, first: int) -> Iterator[Document]:
    kept = tuple(line for line in text if line.strip())
    if kept:
        yield Document(title or f"{name}:{first}", kept)


def _plain(line: str, name: str, number: int) -> str:
    for mark in ("<s>", "</s>"):
        if mark in line and mark in line.split():
            raise FormatError(f"{mark} is a mark of the program and may not be in the text", path=name, line=number)
    return line
