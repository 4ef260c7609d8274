"""The similarity of two words by WordNet: that of their most similar senses of the same part of speech.

Let c be a subsumer of two synsets, d the number of nodes from the root down to a synset, len the length of the shortest
path between two synsets through a subsumer, and IC information content (taxonomy.py):

    path   1 / (1 + len)
    wup    max over c of 2 d(c) / (len by c + 2 d(c))                                        Wu and Palmer (1994)
    lch    -ln((1 + len) / 2D), D the nodes of the longest path, over its max. ln 2D         Leacock and Chodorow (1998)
    lin    2 IC(c) / (IC(a) + IC(b)), c the subsumer of greatest IC                          Lin (1998)
    jcn    1 / (1 + IC(a) + IC(b) - 2 IC(c))                                                 Jiang and Conrath (1997)
    resnik IC(c), c the subsumer of greatest IC, divided by the maximum IC of its part of speech
                                                                                             Resnik (1995)

All values are between 0 and 1; for words of one synset they are 1, except for `resnik`. A word that is not in the
database has similarity 0 to any other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from rerank_plugins.core.arrays import FloatArray, LongArray
from rerank_plugins.similarity.wordnet.database import PARTS, read_database
from rerank_plugins.similarity.wordnet.hierarchy_measures import similarities
from rerank_plugins.similarity.wordnet.morphology import lemmas
from rerank_plugins.similarity.wordnet.taxonomy import build_taxonomy

MEASURES = ("path", "wup", "lch", "lin", "jcn", "resnik")


class WordNet:
    """A WordNet database in memory with its similarity measures. Words are in lower case.

    Raises FormatError for files that are not in WordNet's format.
    """

    def __init__(self, folder: Path, frequencies: Mapping[str, float]) -> None:
        self.database = read_database(folder)
        self.taxonomy = build_taxonomy(self.database, frequencies)
        self._senses: dict[str, LongArray] = {}

    def __repr__(self) -> str:
        return f"WordNet of {len(self.database.part):,} synsets"

    def senses(self, word: str) -> LongArray:
        """The synsets of the word and of its lemmas, of all parts of speech, sorted."""
        senses = self._senses.get(word)
        if senses is None:
            database = self.database
            lemmas_by_part = [lemmas(word, part, database) for part in range(len(PARTS))]
            synsets = {
                s for part, forms in enumerate(lemmas_by_part) for form in forms for s in database.senses[part][form]
            }
            senses = self._senses[word] = np.array(sorted(synsets), np.int64)
        return senses

    def similarities(self, left: Sequence[str], right: Sequence[str]) -> FloatArray:
        """The (MEASURES, n, m) similarities of n words with m others."""
        t = self.taxonomy
        (a_starts, a), (b_starts, b) = map(self._joined, (left, right))
        values = similarities(
            a_starts, a, b_starts, b, t.places, t.ancestors, t.distances, t.depth, t.deepest, t.information, t.highest
        )
        return np.asarray(values, np.float64)

    def _joined(self, words: Sequence[str]) -> tuple[LongArray, LongArray]:
        """The (words + 1) positions where the senses of each word begin, and the concatenated senses."""
        senses = [self.senses(word) for word in words]
        return np.cumsum([0, *map(len, senses)], dtype=np.int64), np.concatenate([np.zeros(0, np.int64), *senses])
