"""How alike two words are by WordNet: the most similar of their senses, of the same part of speech.

With d the nodes from the topmost synset down to a synset, len the length of the shortest way between two synsets by a
subsumer, c a subsumer, IC information content (taxonomy.py):

    path   1 / (1 + len)
    wup    max over c of 2 d(c) / (len by c + 2 d(c))                                        Wu and Palmer (1994)
    lch    -ln((1 + len) / 2D), D the nodes of the longest way, divided by its maximum ln 2D Leacock and Chodorow (1998)
    lin    2 IC(c) / (IC(a) + IC(b)), c the subsumer of most IC                              Lin (1998)
    jcn    1 / (1 + IC(a) + IC(b) - 2 IC(c))                                                 Jiang and Conrath (1997)
    resnik IC(c), c the subsumer of most IC, divided by the greatest IC of the part of speech  Resnik (1995)

All are between 0 and 1, and but for `resnik` 1 within a synset. Words that the database does not have are like no
other: 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from rerank_plugins.arrays import FloatArray, LongArray
from rerank_plugins.models.wordnet.database import PARTS, read_database
from rerank_plugins.models.wordnet.kernels import similarities
from rerank_plugins.models.wordnet.morphology import lemmas
from rerank_plugins.models.wordnet.taxonomy import build_taxonomy

MEASURES = ("path", "wup", "lch", "lin", "jcn", "resnik")


class WordNet:
    """A database in memory. Words are in lower case.

    Raises FormatError for files that are not as WordNet's are.
    """

    def __init__(self, folder: Path, frequencies: Mapping[str, float]) -> None:
        self.database = read_database(folder)
        self.taxonomy = build_taxonomy(self.database, frequencies)
        self._senses: dict[str, LongArray] = {}

    def __repr__(self) -> str:
        return f"WordNet of {len(self.database.part):,} synsets"

    def senses(self, word: str) -> LongArray:
        """The synsets that the word may stand for, of all parts of speech."""
        found = self._senses.get(word)
        if found is None:
            database = self.database
            every = [lemmas(word, part, database) for part in range(len(PARTS))]
            synsets = {s for part, forms in enumerate(every) for form in forms for s in database.senses[part][form]}
            found = self._senses[word] = np.array(sorted(synsets), np.int64)
        return found

    def similarities(self, left: Sequence[str], right: Sequence[str]) -> FloatArray:
        """(MEASURES, n, m) similarities of n words with m others."""
        t = self.taxonomy
        (a_starts, a), (b_starts, b) = map(self._joined, (left, right))
        found = similarities(
            a_starts, a, b_starts, b, t.places, t.ancestors, t.distances, t.depth, t.deepest, t.information, t.highest
        )
        return np.asarray(found, np.float64)

    def _joined(self, words: Sequence[str]) -> tuple[LongArray, LongArray]:
        """The senses of all words one after the other, and where those of each begin."""
        senses = [self.senses(word) for word in words]
        return np.cumsum([0, *map(len, senses)], dtype=np.int64), np.concatenate([np.zeros(0, np.int64), *senses])
