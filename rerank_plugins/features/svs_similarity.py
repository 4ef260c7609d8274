"""Similarity by structured vectors (Wu et al. 2013, equations 6 and 7): of whole sentences and of their two phrases.

Hypotheses are parsed by the model itself, each distinct one once in a process. Without words, without a tree, or longer
than `longest`, a hypothesis has the vector 0, and similarity 0 to everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar
from weakref import WeakValueDictionary

import numpy as np

from rerank_plugins.arrays import FloatArray
from rerank_plugins.features.similarity import SimilarityFeature
from rerank_plugins.interfaces import option
from rerank_plugins.models.svs import similarity
from rerank_plugins.paths import content_hash

if TYPE_CHECKING:
    from rerank_plugins.models.svs.parsing import SvsParser

REMEMBERED = 200_000  # sentences, three vectors each


@dataclass(frozen=True, kw_only=True)
class SvsSimilarityFeature(SimilarityFeature):
    """Similarity by structured vectors of sentence and phrases: consensus, or to a source, a context or a file.

    Raises ModelError for a file that is missing, cut short, of another version or kind.
    """

    measures: ClassVar[tuple[str, ...]] = ("top", "phrase")

    model: Path | None = option(None, doc="model from `rerank train svs`; none: embedded English")
    threshold: float = option(1e-3, doc="categories less probable by a coarse grammar are passed over; 0: none")
    longest: int = option(80, doc="words of a sentence; a longer one is not parsed")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.threshold < 1:
            raise ValueError(f"threshold is {self.threshold}, wanted 0 or more and less than 1")
        if self.longest < 1:
            raise ValueError(f"longest is {self.longest}, wanted 1 or more words")

    @cached_property
    def _sentences(self) -> SentenceVectors:
        from rerank_plugins.models.svs.model_file import EMBEDDED

        path = self.model or EMBEDDED
        key = (path, content_hash(path) if path.is_file() else None, self.threshold, self.longest)
        return _in_use.setdefault(key, SentenceVectors(path, self.threshold, self.longest))

    def vectors(self, sentences: Sequence[Sequence[str]]) -> FloatArray:
        """(n, 3, K) vectors of sentence, left and right phrase, of length 1 or 0."""
        return self._sentences.of(sentences)

    def similarities(self, a: FloatArray, b: FloatArray) -> tuple[FloatArray, ...]:
        """(n, m) sim_top and sim_phr."""
        return similarity.between(a, b)


class SentenceVectors:
    """The vectors of sentences by a model, each parsed once; features of one process that want the same share one."""

    def __init__(self, path: Path, threshold: float, longest: int) -> None:
        self.path, self.threshold, self.longest = path, threshold, longest
        self.known: dict[tuple[str, ...], FloatArray] = {}

    @cached_property
    def parser(self) -> SvsParser:
        """The model, made ready for parsing."""
        from rerank_plugins.models.svs.model_file import read_model
        from rerank_plugins.models.svs.parsing import SvsParser

        return SvsParser(read_model(self.path), self.threshold)

    def of(self, sentences: Sequence[Sequence[str]]) -> FloatArray:
        """(n, 3, K) vectors, those of sentences without a tree 0."""
        keys, known, concepts = [tuple(sentence) for sentence in sentences], self.known, self.parser.model.concepts
        if len(known) > REMEMBERED:
            known.clear()
        new = [key for key in dict.fromkeys(keys) if key not in known]
        fit = [key for key in new if len(key) <= self.longest]
        found = similarity.sentence_vectors(self.parser.parse_all(fit), concepts)
        known.update(dict.fromkeys(new, np.zeros((similarity.PARTS, concepts))) | dict(zip(fit, found, strict=True)))
        return np.array([known[key] for key in keys]).reshape(-1, similarity.PARTS, concepts)


_in_use: WeakValueDictionary[tuple[object, ...], SentenceVectors] = WeakValueDictionary()
