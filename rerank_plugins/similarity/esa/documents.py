"""Reads documents from plain text, in one of three forms.

    lines     each line is a document: `title<TAB>text`, or text alone
    blocks    empty lines separate documents; the first line of a document may be `# title`
    N         every N lines are a document (running text without marked documents)

The title of a document without one is its file and the number of its first line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from rerank_plugins.core.errors import FormatError


@dataclass(frozen=True)
class Document:
    """The title of a document and the lines of its text."""

    title: str
    lines: tuple[str, ...]


def documents(name: str, lines: Iterable[str], form: str) -> Iterator[Document]:
    """Yield the documents of a file that are not empty; `form` is `lines`, `blocks` or a number.

    Raises FormatError for a line that contains the word `<s>` or `</s>`, which are reserved as sentence boundaries.
    """
    numbered = ((number, _plain(line.strip("\r\n"), name, number)) for number, line in enumerate(lines, 1))
    if form == "lines":
        for number, line in numbered:
            title, tab, text = line.partition("\t")
            yield from _document(title.strip() if tab else "", [text if tab else line], name, number)
    elif form == "blocks":
        yield from _blocks(numbered, name)
    else:
        while piece := list(islice(numbered, int(form))):
            yield from _document("", [line for _, line in piece], name, piece[0][0])


def _blocks(numbered: Iterable[tuple[int, str]], name: str) -> Iterator[Document]:
    title, text, first = "", list[str](), 1
    for number, line in numbered:
        if not line.strip():
            yield from _document(title, text, name, first)
            title, text = "", []
        elif line.startswith("# ") and not text:
            title = line[2:].strip()
        else:
            first = first if text else number
            text.append(line)
    yield from _document(title, text, name, first)


def _document(title: str, text: list[str], name: str, first: int) -> Iterator[Document]:
    """Yield the document of these lines, unless all are empty; `first` is the number of its first line."""
    kept = tuple(line for line in text if line.strip())
    if kept:
        yield Document(title or f"{name}:{first}", kept)


def _plain(line: str, name: str, number: int) -> str:
    """Return the line. Raises FormatError if it contains a reserved word."""
    for mark in ("<s>", "</s>"):
        if mark in line and mark in line.split():
            raise FormatError(f"{mark} is a reserved word, which a text may not contain", path=name, line=number)
    return line
