"""Similarity of hypotheses to other text, by any vectors of sentences: to the list, the source, a context, a file.

A model gives each sentence a vector of length 1 (or 0, where it knows nothing of it), and similarity is the cosine
s(e, e') = e · e', so that all similarities of a list are one matrix product. (Sentences may also have several vectors
each, and several similarities.) Consensus is the posterior-weighted mean
similarity to the rest of the list,

    c(e) = Σ_{e' ≠ e} P(e') s(e, e') / Σ_{e' ≠ e} P(e')

which is minimum-Bayes-risk reranking with the similarity as its gain (Kumar and Byrne 2004), but for the constant
similarity of a hypothesis to itself. A repeated hypothesis stands for one derivation more. 0 for a list of one.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from rerank_plugins.arrays import FloatArray
from rerank_plugins.errors import ConfigError
from rerank_plugins.features.lexical_overlap import source_of
from rerank_plugins.features.posteriors import Posterior, posteriors
from rerank_plugins.interfaces import FeatureExtractor, option
from rerank_plugins.nbest import NBestList
from rerank_plugins.pickling import PickledFields

To = Literal["list", "source", "context", "file"]
LEAST = 1e-12  # of a posterior: where one hypothesis has all the mass, the others still have a mean


def consensus(similarities: FloatArray, posterior: FloatArray) -> FloatArray:
    """(n) posterior-weighted mean of the similarities (n, n) of each hypothesis to the others; 0 where n is 1."""
    others = 1.0 - np.eye(len(posterior))
    mass = np.maximum(posterior, LEAST)
    return np.asarray((similarities * others) @ mass / np.maximum(others @ mass, LEAST), np.float64)


@dataclass(frozen=True, kw_only=True)
class SimilarityFeature(FeatureExtractor, PickledFields):
    """What features over sentence vectors share: a subclass gives the vectors."""

    scope: ClassVar[Literal["text", "list"]] = "list"
    measures: ClassVar[tuple[str, ...]] = ("",)  # names of the similarities, where there are several

    to: tuple[To, ...] = option(
        ("list",), doc="compare with the rest of the list (consensus), with its source, its context, a line of `file`"
    )
    file: Path | None = option(None, doc="text whose line i + 1 is compared with the segment of id i")
    back: int = option(0, doc="take the line so many segments before instead: 1 is the previous segment")
    posterior: Posterior = option("score", doc="weights of the list: score, spread, rank or uniform, as of `consensus`")
    scale: float = option(0.5, doc="flat (towards 0) or peaked (above 1) posterior")

    def __post_init__(self) -> None:
        if not self.to or len(set(self.to)) < len(self.to):
            raise ValueError("`to` names one or more of list, source, context and file, each once")
        if ("file" in self.to) != (self.file is not None):
            raise ValueError('`to = ["file"]` and `file` go together')
        if self.back < 0:
            raise ValueError(f"back is {self.back}, wanted 0 or more segments")

    @property
    def components(self) -> tuple[str, ...]:
        """What is compared with, in the order of `to`; of several measures `to.measure`."""
        return tuple(f"{to}.{measure}" if measure else to for to in self.to for measure in self.measures)

    @abstractmethod
    def vectors(self, sentences: Sequence[Sequence[str]]) -> FloatArray:
        """(n, dimensions) vectors of length 1, or 0."""

    def similarities(self, a: FloatArray, b: FloatArray) -> tuple[FloatArray, ...]:
        """For each measure the (n, m) similarities of n sentences with m others, by their vectors."""
        return (a @ b.T,)

    @cached_property
    def _lines(self) -> list[str]:
        if self.file is None:
            return []
        try:
            return self.file.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{self.file}: cannot be read as text ({error})") from None

    def extract(self, nbest: NBestList) -> FloatArray:
        """(n, components) similarities, weighted means of them for the list; 0 for what has no known word.

        Raises ConfigError for a list without the source or context that is asked for, and for an id without a line.
        """
        if not len(nbest):
            return np.zeros((0, len(self.components)))
        own = self.vectors([hypothesis.words for hypothesis in nbest])
        return np.column_stack([column for to in self.to for column in self._columns(nbest, own, to)])

    def _columns(self, nbest: NBestList, own: FloatArray, to: To) -> list[FloatArray]:
        if to == "list":
            posterior = posteriors(nbest, self.posterior, self.scale)
            return [consensus(each, posterior) for each in self.similarities(own, own)]
        other = self.vectors([self._text(nbest, to).split()])
        return [each[:, 0] for each in self.similarities(own, other)]

    def _text(self, nbest: NBestList, to: To) -> str:
        if to == "source":
            return source_of(nbest, "the similarity")
        if to == "context":
            if nbest.context is None:
                raise ConfigError(f"segment {nbest.segment_id} has no context to compare with: give a `file` instead")
            return nbest.context
        if not nbest.segment_id.isdecimal() or int(nbest.segment_id) - self.back >= len(self._lines):
            found = f"no line for segment id {nbest.segment_id!r}"
            raise ConfigError(f"{self.file}: {found}: the file has {len(self._lines)} lines, for ids from 0")
        line = int(nbest.segment_id) - self.back
        return self._lines[line] if line >= 0 else ""
