"""Similarity of hypotheses to other text by structured vectors of sentences and phrases (Wu et al. 2013, eqs 6, 7).

The model itself parses the hypotheses, each distinct one once in a process. A hypothesis without words, without a tree,
or longer than `longest` has the zero vector, and similarity 0 to everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar
from weakref import WeakValueDictionary

import numpy as np

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.brackets_and_quotes import Words
from rerank_plugins.core.interfaces import option
from rerank_plugins.core.paths import content_hash
from rerank_plugins.similarity import structured_vectors
from rerank_plugins.similarity.similarity_feature import SimilarityFeature

if TYPE_CHECKING:
    from rerank_plugins.svs.parsing import SvsParser

REMEMBERED = 200_000  # sentences whose vectors are kept, three for each


@dataclass(frozen=True, kw_only=True)
class SvsSimilarityFeature(SimilarityFeature):
    """Similarity by structured vectors of sentence and phrases: consensus, or to a source, a context or a file.

    Raises ModelError for a file that is missing, cut short, of another version or kind.
    """

    measures: ClassVar[tuple[str, ...]] = ("top", "phrase")

    model: Path | None = option(None, doc="model from `rerank train svs`; default: the embedded English one")
    threshold: float = option(
        1e-3, doc="categories that a coarse grammar finds less probable than this are pruned; 0: none"
    )
    longest: int = option(80, doc="words in the longest sentence that is parsed")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.threshold < 1:
            raise ValueError(f"threshold is {self.threshold}, wanted 0 or more and less than 1")
        if self.longest < 1:
            raise ValueError(f"longest is {self.longest}, wanted 1 or more words")

    @cached_property
    def _sentences(self) -> SentenceVectors:
        from rerank_plugins.svs.model import EMBEDDED

        path = self.model or EMBEDDED
        key = (path, content_hash(path) if path.is_file() else None, self.threshold, self.longest)
        return _in_use.setdefault(key, SentenceVectors(path, self.threshold, self.longest))

    @property
    def vocabulary(self) -> Words:
        """The words that the model knows."""
        return self._sentences.parser.model.lexicon

    def vectors(self, sentences: Sequence[Sequence[str]]) -> FloatArray:
        """(n, 3, K) vectors of the sentence, its left and its right phrase, each of length 1 or 0."""
        return self._sentences.of(sentences)

    def similarities(self, a: FloatArray, b: FloatArray) -> tuple[FloatArray, ...]:
        """The (n, m) matrices sim_top and sim_phr."""
        return structured_vectors.between(a, b)


class SentenceVectors:
    """A cache of the vectors of sentences by a model; features of a process with the same options share one."""

    def __init__(self, path: Path, threshold: float, longest: int) -> None:
        self.path, self.threshold, self.longest = path, threshold, longest
        self.known: dict[tuple[str, ...], FloatArray] = {}

    @cached_property
    def parser(self) -> SvsParser:
        """The parser over the model, loaded on first use."""
        from rerank_plugins.svs.model import read_or_embedded
        from rerank_plugins.svs.parsing import SvsParser

        return SvsParser(read_or_embedded(self.path), self.threshold)

    def of(self, sentences: Sequence[Sequence[str]]) -> FloatArray:
        """(n, 3, K) vectors; 0 for a sentence without a tree."""
        keys, known, concepts = [tuple(sentence) for sentence in sentences], self.known, self.parser.model.concepts
        if len(known) > REMEMBERED:
            known.clear()
        new = [key for key in dict.fromkeys(keys) if key not in known]
        parsed = [key for key in new if len(key) <= self.longest]
        vectors = structured_vectors.parsed_vectors(self.parser, parsed)
        known.update(dict.fromkeys(new, np.zeros((structured_vectors.PARTS, concepts))))
        known.update(zip(parsed, vectors, strict=True))
        return np.array([known[key] for key in keys]).reshape(-1, structured_vectors.PARTS, concepts)


_in_use: WeakValueDictionary[tuple[object, ...], SentenceVectors] = WeakValueDictionary()
