"""Finds the positions to substitute in a text: every word, one position of each line, or blanks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rerank_plugins import ConfigError, FormatError

WORDS, BLANKS = "words", "blanks"
BLANK = re.compile("_{3,}")  # the whole word


def check_places(text: str) -> str:
    """`words`, `blanks`, or a position from 1 on. Raises ConfigError for anything else.

    >>> check_places("3")
    '3'
    """
    if text not in (WORDS, BLANKS) and not (text.isascii() and text.isdigit() and int(text) > 0):
        raise ConfigError(f"--at {text}: wanted 'words', 'blanks', or a position from 1 on")
    return text


def positions(words: Sequence[str], at: str, path: str, line: int) -> list[int]:
    """The positions (from 0) to substitute in a line, as `check_places` names them.

    Raises FormatError for a line without the position, or without a blank (a word of three or more underscores).

    >>> positions("the ____ barks".split(), "blanks", "text", 1)
    [1]
    """
    if at == WORDS:
        return list(range(len(words)))
    if at == BLANKS:
        blanks = [position for position, word in enumerate(words) if BLANK.fullmatch(word)]
        if not blanks:
            raise FormatError("the line has no blank, a word of underscores (____)", path=path, line=line)
        return blanks
    if int(at) > len(words):
        count = f"{len(words)} word{'' if len(words) == 1 else 's'}" if words else "no words"
        raise FormatError(f"there is no position {at}: the line has {count}", path=path, line=line)
    return [int(at) - 1]
