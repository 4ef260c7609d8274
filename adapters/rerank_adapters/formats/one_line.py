r"""A text as a single line, as files of lines and the columns of lists need it.

A hypothesis in JSON may hold anything, line ends too. Where a text breaks for one program or another it is joined by a
space, and so it is at a tab, which separates columns. Programs break lines at "\n" or "\r", or where Python's
`str.splitlines` does: also at \v, \f, \x1c to \x1e, \x85, U+2028 and U+2029. White space beside the break goes with it.
"""

from __future__ import annotations


def one_line(text: str) -> str:
    r"""The text without breaks and tabs; a text that has none is returned as it is.

    >>> one_line("so it\n\n is\t"), one_line(" so  it ")
    ('so it is', ' so  it ')
    """
    pieces = text.replace("\t", "\n").splitlines()
    if pieces == [text] or not pieces:
        return text
    return " ".join(stripped for piece in pieces if (stripped := piece.strip()))
