r"""A text as a single line, as files of lines and the columns of lists need it.

A hypothesis in JSON may hold anything, line ends too. Where a text breaks for one program or another it is joined by a
space, and so it is at a tab, which separates columns. Programs break lines at "\n" or "\r", or where Python's
`str.splitlines` does: also at \v, \f, \x1c to \x1e, \x85, U+2028 and U+2029. White space beside the break goes with it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rerank_plugins import ConfigError

BARS = re.compile(r"\|{3,}")


def one_line(text: str) -> str:
    r"""The text without breaks and tabs; a text that has none is returned as it is.

    >>> one_line("so it\n\n is\t"), one_line(" so  it ")
    ('so it is', ' so  it ')
    """
    pieces = text.replace("\t", "\n").splitlines()
    if pieces == [text] or not pieces:
        return text
    return " ".join(stripped for piece in pieces if (stripped := piece.strip()))


def in_lines(texts: Sequence[str]) -> Sequence[str]:
    """Each of the texts as one line; the texts themselves where all of them are lines, which is found out fast."""
    whole = " \n".join([*texts, ""])  # a space keeps the end of a text from joining the break after it
    if "\t" not in whole and len(whole.splitlines()) == len(texts):
        return texts
    return [one_line(text) for text in texts]


def one_column(text: str) -> str:
    """The text as one line without `|||`, whose bars are written as Moses's scripts escape them.

    >>> one_column("oh ||| no | yes")
    'oh &#124;&#124;&#124; no | yes'
    """
    return BARS.sub(lambda bars: "&#124;" * len(bars[0]), one_line(text))


def check_id(segment_id: str, marks: str = "") -> None:
    """Raise ConfigError for an id that a line cannot hold as a word, since it has white space or one of the marks."""
    if segment_id.split() != [segment_id] or any(mark in segment_id for mark in marks):
        wanted = "lines without ids, or lists with other ids (the option id_key of formats in JSON)"
        raise ConfigError(f"the id {segment_id!r} is not a word, so a line cannot have it as its id; wanted {wanted}")
