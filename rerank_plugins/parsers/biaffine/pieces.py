"""Words as bags of pieces: the lower-cased form, its first and last letters, and its shape.

A word that training never saw still has its endings, beginnings and shape, as in fastText (Bojanowski et al. 2017);
each piece is a row of one embedding table, and a word is the sum of its rows. Digits count as one digit.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from rerank_plugins.trees import penn

AFFIXES = (2, 3, 4)  # lengths of the first and last letters that are pieces
FREQUENT_FORM, FREQUENT_AFFIX = 2, 5  # rarer ones have no row of their own
LONGEST = 60  # letters of a word that are looked at
FORMS = penn.PLAIN | {"“": '"', "”": '"', "’": "'", "‘": "'", "`": "'", "n’t": "n't", "’s": "'s", "–": "-", "—": "--"}


def normal_form(word: str) -> str:
    """The form that has an embedding: lower case, every digit a 0.

    >>> normal_form("In-1984")
    'in-0000'
    """
    return re.sub(r"\d", "0", word[:LONGEST].lower())


def plain_form(word: str) -> str:
    """The word with its bracket in normal form (trees/penn.py), and with the quotation mark or dash that is typed.

    >>> plain_form("-lrb-"), plain_form("``"), plain_form("—")
    ('(', '"', '--')
    """
    word = penn.normal_form(word)
    return FORMS.get(word, word)


def shape(word: str) -> str:
    """Upper and lower case, digits and the rest, each run at most two long.

    >>> shape("McDonald's"), shape("1,000"), shape("...")
    ('XxXxx.x', '0.00', '..')
    """
    kinds = ("X" if c.isupper() else "x" if c.isalpha() else "0" if c.isdigit() else "." for c in word[:LONGEST])
    return re.sub(r"(.)\1+", r"\1\1", "".join(kinds))


def pieces(word: str) -> list[str]:
    """The pieces of a word, its form first.

    >>> pieces("Dogs")
    ['dogs', 'do^', '^gs', 'dog^', '^ogs', '|Xxx']
    """
    word = plain_form(word)
    form = normal_form(word)
    lengths = [n for n in AFFIXES if n < len(form)]
    return [form, *(p for n in lengths for p in (form[:n] + "^", "^" + form[-n:])), "|" + shape(word)]


def frequent_pieces(words: Iterable[str]) -> list[str]:
    """The pieces of a corpus that get a row, frequent ones first."""
    counts: Counter[str] = Counter()
    for word, n in Counter(words).items():
        for piece in pieces(word):
            counts[piece] += n
    kept = [p for p, n in counts.items() if n >= (FREQUENT_AFFIX if set(p) & {"^", "|"} else FREQUENT_FORM)]
    return sorted(kept, key=lambda p: (-counts[p], p))


def piece_rows(words: Sequence[str], table: dict[str, int]) -> tuple[list[int], list[int]]:
    """Which rows of the table each word sums: flat rows, and for each of them the position of its word."""
    rows: list[int] = []
    owners: list[int] = []
    for position, word in enumerate(words):
        known = [table[p] for p in pieces(word) if p in table]
        rows += known
        owners += [position] * len(known)
    return rows, owners
