"""A compiled parser for the lines of an ARPA file in their common form.

Uncommon lines (unknown words, numbers of more than 15 digits, `-inf`, errors) are left to the reader, which is ten
times as slow and words the error messages. Decimal numbers of up to 15 digits are read exactly: their digits and the
power of ten are exact in double precision, and one division rounds once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.arrays import IntArray, LongArray
from rerank_plugins.kit.kernels import filling_kernel, part
from rerank_plugins.kit.vocabulary.word_hash import EMPTY, NEWLINE, SPACE, next_word, slot_of

BLANKS = bytes.maketrans(b"\t\r\v\f", b"    ")
MINUS, PLUS, POINT, ZERO, NINE, BIG_E, SMALL_E = b"-+.09Ee"
EXACT, POWER, LONGEST = 10**15, 22, 18  # 10**22 is the largest power of ten that is exact; 18 digits fit into 64 bits
POWERS = 10.0 ** np.arange(POWER + 1)


@part
def skip_blanks(text: NDArray[np.uint8], at: int) -> int:
    """The next position that holds no space."""
    while text[at] == SPACE:
        at += 1
    return at


@part
def read_digits(text: NDArray[np.uint8], at: int, number: int) -> tuple[int, int]:
    """The number with the digits from `at` on appended to it, and where they end."""
    while ZERO <= text[at] <= NINE:
        number = number * 10 + (int(np.int64(text[at])) - ZERO)
        at += 1
    return number, at


@part
def read_number(text: NDArray[np.uint8], at: int) -> tuple[float, int]:
    """A decimal number and where it ends; -1 instead if its form is uncommon."""
    negative = text[at] == MINUS
    if negative:
        at += 1
    # The digits as one integer, and how many of them are after the point.
    begin = at
    whole, at = read_digits(text, at, 0)
    digits = at - begin
    places = 0
    if text[at] == POINT:
        begin = at + 1
        whole, at = read_digits(text, begin, whole)
        places = at - begin
        digits += places
    if not 0 < digits <= LONGEST or whole >= EXACT:
        return 0.0, -1
    # The exponent moves the point.
    if text[at] == SMALL_E or text[at] == BIG_E:
        at += 1
        negative_power = text[at] == MINUS
        if negative_power or text[at] == PLUS:
            at += 1
        begin = at
        exponent, at = read_digits(text, at, 0)
        if not begin < at <= begin + LONGEST:
            return 0.0, -1
        places -= -exponent if negative_power else exponent
    # One exact multiplication or division by a power of ten.
    if not -POWER <= places <= POWER:
        return 0.0, -1
    value = whole / POWERS[places] if places >= 0 else whole * POWERS[-places]
    return (-value if negative else value), at


@filling_kernel
def fill_lines(
    text: NDArray[np.uint8],
    at: int,
    table: LongArray,
    words: IntArray,
    log10: NDArray[np.float32],
    backoff: NDArray[np.float32],
) -> tuple[int, int, int]:
    """Fill in the n-grams of the lines from `at` on, until the arrays are full, the text ends or a line is uncommon.

    (n, order) words by number, (n) log10 p, (n) log10 back-off (0 if absent). Every line of the text has a line end;
    blank lines are skipped. Returns how many n-grams there are, where the next line starts, and how many lines were
    read.
    """
    row = 0
    lines = 0
    while row < len(words) and at < len(text):
        begin = at
        # log10 p
        start = skip_blanks(text, at)
        if text[start] == NEWLINE:
            at = start + 1
            lines += 1
            continue
        value, at = read_number(text, start)
        if at <= start or text[at] != SPACE or value > 0:
            return row, begin, lines
        log10[row] = value
        # the words
        for column in range(words.shape[1]):
            start = skip_blanks(text, at)
            key, at = next_word(text, start)
            slot = slot_of(table, key)
            if at == start or table[slot, 0] == EMPTY:
                return row, begin, lines
            words[row, column] = table[slot, 1]
        # the back-off weight, if there is one
        start = skip_blanks(text, at)
        backoff[row] = 0.0
        if text[start] != NEWLINE:
            value, at = read_number(text, start)
            if at <= start:
                return row, begin, lines
            backoff[row] = value
            start = skip_blanks(text, at)
        if text[start] != NEWLINE:
            return row, begin, lines
        at = start + 1
        row += 1
        lines += 1
    return row, at, lines
