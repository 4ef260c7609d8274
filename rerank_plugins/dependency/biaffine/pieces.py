"""Splits words into bags of pieces: the lower-cased form, its first and last letters, and its shape.

A word that does not occur in the training data still has known beginnings, endings and a known shape, as in fastText
(Bojanowski et al. 2017). Each piece is a row of one embedding table, and a word is the sum of its rows. All digits are
treated as the same digit.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rerank_plugins.core import brackets_and_quotes
from rerank_plugins.dependency.biaffine.lstm import Float32
from rerank_plugins.dependency.biaffine.network import sum_pieces

if TYPE_CHECKING:
    from rerank_plugins.dependency.biaffine.parser_file import BiaffineModel

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


def text_form(word: str) -> str:
    """The form of a word under which its vector is stored."""
    return normal_form(plain_form(word))


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


KEPT = 20_000  # words, of 768 bytes each with the widths of the embedded model
LETTERS = 1 << 21  # of all words that are kept


class WordInputs:
    """Looks up the inputs of words, and computes those of words that it has not seen lately.

    In running text, nearly all words of a batch have occurred before, and spelling out the pieces of a word takes as
    long as a tenth of its parsing. When `KEPT` words, or words with `LETTERS` letters, are in
    the table, it is emptied.
    """

    def __init__(self, model: BiaffineModel) -> None:
        self._model = model
        self._row: dict[str, int] = {}
        self._letters = 0
        self._table = np.empty((0, 0), np.float32)

    def __call__(self, words: Sequence[str]) -> Float32:
        """(words, width) the inputs of distinct words."""
        if len(words) > KEPT:
            return word_inputs(self._model, words)
        new = [word for word in words if word not in self._row]
        if len(self._row) + len(new) > KEPT or self._letters > LETTERS:
            self._row.clear()
            self._letters = 0
            new = list(words)
        if new:
            self._letters += sum(map(len, new))
            inputs = word_inputs(self._model, new)
            if not len(self._table):
                self._table = np.empty((KEPT, inputs.shape[1]), np.float32)
            first = len(self._row)
            self._row.update(zip(new, range(first, first + len(new)), strict=True))
            self._table[first : first + len(new)] = inputs
        return self._table[[self._row[word] for word in words]]


def word_inputs(model: BiaffineModel, words: Sequence[str]) -> Float32:
    """(words, width) the input of the network for each word: the sum of its pieces, then its vector."""
    rows, owners = piece_rows(words, model.piece_rows)
    embedded = sum_pieces(model.params["pieces"], np.array(rows, np.int64), np.array(owners, np.int64), len(words))
    return np.hstack([embedded, vectors_of(model, words)])


def vectors_of(model: BiaffineModel, words: Sequence[str]) -> Float32:
    """(words, width of vectors) the fixed vector of each word, zeros for a word without one."""
    vectors = np.zeros((len(words), model.vectors.shape[1]), np.float32)
    rows = [(i, model.vector_rows.get(text_form(word))) for i, word in enumerate(words)]
    known = [(i, row) for i, row in rows if row is not None]
    if known:
        places, chosen = np.array(known).T
        vectors[places] = model.vectors[chosen]
    return vectors
