"""Splits words into bags of pieces: the lower-cased form, its first and last letters, and its shape.

A word that does not occur in the training data still has known beginnings, endings and a known shape, as in fastText
(Bojanowski et al. 2017). Each piece is a row of one embedding table, and a word is the sum of its rows. All digits are
treated as the same digit.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from rerank_plugins.core import brackets_and_quotes

AFFIXES = (2, 3, 4)  # how many first or last letters make a piece
FREQUENT_FORM, FREQUENT_AFFIX = 2, 5  # occurrences in training; rarer pieces have no row
LONGEST = 60  # letters of a word that are used
FORMS = brackets_and_quotes.PLAIN | {
    "“": '"',
    "”": '"',
    "’": "'",
    "‘": "'",
    "`": "'",
    "n’t": "n't",
    "’s": "'s",
    "–": "-",
    "—": "--",
}


def normal_form(word: str) -> str:
    """The form of a word that has an embedding: lower case, with 0 for every digit.

    >>> normal_form("In-1984")
    'in-0000'
    """
    return re.sub(r"\d", "0", word[:LONGEST].lower())


def plain_form(word: str) -> str:
    """The word with brackets in normal form (brackets_and_quotes.py) and with typewriter quotation marks and dashes.

    >>> plain_form("-lrb-"), plain_form("``"), plain_form("—")
    ('(', '"', '--')
    """
    word = brackets_and_quotes.normal_form(word)
    return FORMS.get(word, word)


def shape(word: str) -> str:
    """The shape of a word: X, x, 0 or . for each upper-case or lower-case letter, digit or other character.

    Runs of one kind are cut to two characters.

    >>> shape("McDonald's"), shape("1,000"), shape("...")
    ('XxXxx.x', '0.00', '..')
    """
    kinds = ("X" if c.isupper() else "x" if c.isalpha() else "0" if c.isdigit() else "." for c in word[:LONGEST])
    return re.sub(r"(.)\1+", r"\1\1", "".join(kinds))


def pieces(word: str) -> list[str]:
    """The pieces of a word, its form first: then beginnings, endings, and the shape.

    >>> pieces("Dogs")
    ['dogs', 'do^', '^gs', 'dog^', '^ogs', '|Xxx']
    """
    word = plain_form(word)
    form = normal_form(word)
    lengths = [n for n in AFFIXES if n < len(form)]
    return [form, *(p for n in lengths for p in (form[:n] + "^", "^" + form[-n:])), "|" + shape(word)]


def frequent_pieces(words: Iterable[str]) -> list[str]:
    """The pieces of a corpus that are frequent enough for a row, by falling frequency."""
    counts: Counter[str] = Counter()
    for word, n in Counter(words).items():
        for piece in pieces(word):
            counts[piece] += n
    kept = [p for p, n in counts.items() if n >= (FREQUENT_AFFIX if set(p) & {"^", "|"} else FREQUENT_FORM)]
    return sorted(kept, key=lambda p: (-counts[p], p))


def piece_rows(words: Sequence[str], table: dict[str, int]) -> tuple[list[int], list[int]]:
    """The rows of the table that each word sums: all rows one after the other, and the position of the word of each."""
    rows: list[int] = []
    owners: list[int] = []
    for position, word in enumerate(words):
        known = [table[p] for p in pieces(word) if p in table]
        rows += known
        owners += [position] * len(known)
    return rows, owners
