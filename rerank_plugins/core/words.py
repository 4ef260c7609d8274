"""How a text becomes words.

White space of ASCII separates words, as it does for KenLM and sclite. A no-break space, an ideographic space or a line
separator is part of a word, and whoever wants it to separate words replaces it. Models read words with the apostrophe
of a keyboard, so that `don’t` is `don't` to all of them.
"""

from __future__ import annotations

import re

_WORD = re.compile(r"[^ \t\n\r\v\f]+")
# What `str.split` splits at besides the white space of ASCII: separators, NEL, and spaces of all widths.
_OTHER_SPACES = (
    "\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)


def split_words(text: str) -> list[str]:
    r"""The words of a text as they are written.

    >>> split_words("10\u00a0000  euros\t"), split_words("")
    (['10\xa0000', 'euros'], [])
    """
    if text.isprintable() or not any(map(text.__contains__, _OTHER_SPACES)):  # of all white space, ` ` is printable
        return text.split()
    return _WORD.findall(text)


def straight_apostrophes(text: str) -> str:
    """The text with ' for the apostrophes ’ and ʼ.

    >>> straight_apostrophes("“I don’t”")
    "“I don't”"
    """
    return text if text.isascii() else text.replace("’", "'").replace("ʼ", "'")


def model_words(text: str) -> list[str]:
    """The words of a text as models read them: with straight apostrophes.

    >>> model_words("it’s so")
    ["it's", 'so']
    """
    return split_words(straight_apostrophes(text))
