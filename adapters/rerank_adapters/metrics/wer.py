"""Word and character error rate: the Levenshtein distance (1966) per word or character of the reference, by rapidfuzz.

With one reference the rates equal jiwer's for texts whose white space is single spaces. With several, the distance to
the closest one is divided by their mean length (`edit_rate.py`). Time is O(n ⌈m / 64⌉) per pair of texts.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rerank_adapters.metrics.edit_rate import EditRate
from rerank_adapters.metrics.layout import Layout
from rerank_adapters.metrics.signatures import join_signature
from rerank_plugins import __version__
from rerank_plugins.arrays import LongArray
from rerank_plugins.interfaces import option


class LevenshteinRate(EditRate):
    """A rate of insertions, deletions and substitutions, computed on strings with one character per unit."""

    @abstractmethod
    def units(self, texts: Sequence[str]) -> list[str]:
        """A string for each text with one character per unit, such that equal units have equal characters."""

    def edits(self, layout: Layout) -> tuple[LongArray, LongArray]:
        """The fewest edits to any reference, and the lengths of the references in units."""
        fewest = np.zeros(layout.distinct, np.int64)
        lengths = np.zeros(layout.references[-1] - layout.distinct, np.int64)
        for h, h_end, r, r_end in layout.merged_jobs().tolist():
            units = self.units(layout.texts[h:h_end] + layout.texts[r:r_end])
            lengths[r - layout.distinct : r_end - layout.distinct] = [len(text) for text in units[h_end - h :]]
            if h < h_end:
                fewest[h:h_end] = _distances(units[h_end - h :], units[: h_end - h]).min(axis=0)
        return fewest, lengths

    def edit_matrix(self, hypotheses: Sequence[str]) -> tuple[LongArray, LongArray]:
        """(n, n) the edits between all pairs of texts, and (n) their lengths in units."""
        units = self.units(hypotheses)
        return _distances(units, units), np.array([len(text) for text in units], np.int64)


@dataclass
class WER(LevenshteinRate):
    """Word error rate: edits per word of the reference."""

    lowercase: bool = option(False, doc="compare lower-cased texts")

    def units(self, texts: Sequence[str]) -> list[str]:
        """The white-space words, numbered in the order of their appearance."""
        character: dict[str, str] = {}
        strings = []
        for text in texts:
            words = (text.lower() if self.lowercase else text).split()
            strings.append("".join([character.setdefault(word, chr(len(character))) for word in words]))
        return strings

    def signature(self) -> str:
        """The signature in sacrebleu's form."""
        return join_signature(__version__, case="lc" if self.lowercase else "mixed", tok="none")


@dataclass
class CER(LevenshteinRate):
    """Character error rate: edits per character of the reference, with single spaces between words."""

    lowercase: bool = option(False, doc="compare lower-cased texts")
    whitespace: bool = option(True, doc="count the spaces between words")

    def units(self, texts: Sequence[str]) -> list[str]:
        """The characters of the texts."""
        space = " " if self.whitespace else ""
        return [space.join((text.lower() if self.lowercase else text).split()) for text in texts]

    def signature(self) -> str:
        """The signature in sacrebleu's form."""
        return join_signature(__version__, case="lc" if self.lowercase else "mixed", tok="char", space=self.whitespace)


def _distances(rows: Sequence[str], columns: Sequence[str]) -> LongArray:
    """(rows, columns): the Levenshtein distances."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    distances = cdist(rows, columns, scorer=Levenshtein.distance, dtype=np.int32, workers=1)
    return np.asarray(distances, np.int64)
