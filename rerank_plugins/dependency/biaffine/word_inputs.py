"""Computes the inputs of the network for words: the sum of a word's pieces, then its fixed vector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rerank_plugins.dependency.biaffine.lstm import Float32
from rerank_plugins.dependency.biaffine.network import sum_pieces
from rerank_plugins.dependency.biaffine.pieces import piece_rows
from rerank_plugins.dependency.biaffine.word_vectors import text_form

if TYPE_CHECKING:
    from rerank_plugins.dependency.biaffine.parser_file import BiaffineModel

KEPT = 20_000  # words, of 768 bytes each with the widths of the embedded model


class WordInputs:
    """Looks up the inputs of words, and computes those of words that it has not seen lately.

    In running text, nearly all words of a batch have occurred before, and spelling out the pieces of a word takes as
    long as a tenth of its parsing. When `KEPT` words are in the table, it is emptied.
    """

    def __init__(self, model: BiaffineModel) -> None:
        self._model = model
        self._row: dict[str, int] = {}
        self._table = np.empty((0, 0), np.float32)

    def __call__(self, words: Sequence[str]) -> Float32:
        """(words, width) the inputs of distinct words."""
        if len(words) > KEPT:
            return word_inputs(self._model, words)
        new = [word for word in words if word not in self._row]
        if len(self._row) + len(new) > KEPT:
            self._row.clear()
            new = list(words)
        if new:
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
