"""Compares two outputs word by word: the words that were kept, deleted and inserted."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Literal, NamedTuple


class Piece(NamedTuple):
    """Adjacent words that were all kept, all deleted or all inserted, joined by spaces."""

    kind: Literal["kept", "deleted", "inserted"]
    text: str


def word_differences(before: str, after: str) -> list[Piece]:
    """The pieces of both texts in order; a replacement is a deletion, then an insertion."""
    old, new = before.split(), after.split()
    pieces = []
    for tag, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            pieces.append(Piece("kept", " ".join(old[i:j])))
            continue
        if j > i:
            pieces.append(Piece("deleted", " ".join(old[i:j])))
        if m > k:
            pieces.append(Piece("inserted", " ".join(new[k:m])))
    return pieces


def marked(before: str, after: str) -> str:
    """Both texts in one line without colours, as `git diff --word-diff` writes it: `a [-red-]{+blue+} house`."""
    marks = {"kept": "{}", "deleted": "[-{}-]", "inserted": "{{+{}+}}"}
    written = ""
    for kind, text in word_differences(before, after):
        glue = "" if not written or (kind == "inserted" and written.endswith("-]")) else " "
        written += glue + marks[kind].format(text)
    return written
