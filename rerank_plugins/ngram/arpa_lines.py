"""A compiled parser for the lines of an ARPA file in their common form.

Uncommon lines (unknown words, numbers of more than 15 digits, `-inf`, errors) are left to the reader, which is thirty
times as slow and words the error messages. Decimal numbers of up to 15 digits are read exactly: their digits and the
power of ten are exact in double precision, and one division rounds once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.arrays import IntArray, LongArray
from rerank_plugins.kit.kernels import filling_kernel, part
from rerank_plugins.kit.vocabulary.word_hash import EMPTY, NEWLINE, SPACE, next_word, slot_of

BLANKS = bytes.maketrans(b"\t\r\v\f", b"    ")
MINUS, PLUS, POINT, ZERO, NINE, BIG_E, SMALL_E = b"-+.09Ee"
DIGITS, POWER = 15, 22  # 10**22 is the largest power of ten that is exact
Parsed = tuple[IntArray, NDArray[np.float32], NDArray[np.float32]]


def parse_lines(lines: list[bytes], order: int, table: LongArray) -> Parsed | None:
    """(n, order) words by number, (n) log10 p, (n) log10 back-off (0 if absent); None for uncommon lines.

    The lines may not be empty, nor begin or end with white space.
    """
    text = np.frombuffer(b"\n".join(lines).translate(BLANKS), np.uint8)
    words = np.empty((len(lines), order), np.int32)
    log10, backoff = np.empty(len(lines), np.float32), np.zeros(len(lines), np.float32)
    return (words, log10, backoff) if fill_lines(text, table, words, log10, backoff) else None


@part
def skip_blanks(text: Any, at: int) -> int:
    """The next position that holds no space."""
    while at < len(text) and text[at] == SPACE:
        at += 1
    return at


@part
def read_number(text: Any, at: int) -> tuple[float, int]:
    """A decimal number and where it ends; -1 instead if its form is uncommon."""
    negative = at < len(text) and text[at] == MINUS
    if negative:
        at += 1
    # The digits as one integer, and how many of them are after the point.
    digits = 0
    places = 0
    whole = 0
    fraction = False
    while at < len(text):
        byte = text[at]
        if ZERO <= byte <= NINE:
            whole = whole * 10 + (byte - ZERO)
            digits += 1 if whole > 0 else 0
            places += 1 if fraction else 0
        elif byte == POINT and not fraction:
            fraction = True
        else:
            break
        at += 1
        if digits > DIGITS:
            return 0.0, -1
    # The exponent moves the point.
    if at < len(text) and (text[at] == SMALL_E or text[at] == BIG_E):
        at += 1
        sign = 1
        if at < len(text) and (text[at] == MINUS or text[at] == PLUS):
            sign = -1 if text[at] == MINUS else 1
            at += 1
        exponent = 0
        start = at
        while at < len(text) and ZERO <= text[at] <= NINE and exponent < 1000:
            exponent = exponent * 10 + (text[at] - ZERO)
            at += 1
        if at == start:
            return 0.0, -1
        places -= sign * exponent
    # One exact multiplication or division by a power of ten.
    if not -POWER <= places <= POWER:
        return 0.0, -1
    value = whole / 10.0**places if places >= 0 else whole * 10.0**-places
    return (-value if negative else value), at


@filling_kernel
def fill_lines(text: Any, table: Any, words: Any, log10: Any, backoff: Any) -> bool:
    """Fill in the n-grams of the lines; returns whether all of them have the common form."""
    at = 0
    for line in range(len(words)):
        # log10 p
        start = skip_blanks(text, at)
        value, at = read_number(text, start)
        if at <= start or at >= len(text) or text[at] != SPACE or value > 0:
            return False
        log10[line] = value
        # the words
        for column in range(words.shape[1]):
            start = skip_blanks(text, at)
            key, at = next_word(text, start)
            slot = slot_of(table, key)
            if at == start or table[slot, 0] == EMPTY:
                return False
            words[line, column] = table[slot, 1]
        # the back-off weight, if there is one
        start = skip_blanks(text, at)
        if start < len(text) and text[start] != NEWLINE:
            value, at = read_number(text, start)
            if at <= start:
                return False
            backoff[line] = value
            start = skip_blanks(text, at)
        if start < len(text) and text[start] != NEWLINE:
            return False
        at = start + 1
    return at == len(text) + 1
