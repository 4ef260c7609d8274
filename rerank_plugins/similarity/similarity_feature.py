"""Base of the similarity features: cosines of a hypothesis's vectors with those of its list, source, context or a file.

A model gives each sentence a vector of length 1 (or the zero vector, where it knows none of its words), and the
similarity is the cosine s(e, e') = e · e', so all similarities of a list are one matrix product. (A sentence may also
have several vectors, and a pair several similarities.) Consensus is the posterior-weighted mean similarity to the rest
of the list,

    c(e) = Σ_{e' ≠ e} P(e') s(e, e') / Σ_{e' ≠ e} P(e')

which is minimum-Bayes-risk reranking with the similarity as its gain (Kumar and Byrne 2004), except that the similarity
of a hypothesis to itself is left out. A repeated hypothesis counts each time, since it stands for another derivation.
In a list of one hypothesis the consensus is 0.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.errors import ConfigError
from rerank_plugins.core.interfaces import FeatureExtractor, option
from rerank_plugins.core.nbest import NBestList
from rerank_plugins.core.pickling import PickledFields
from rerank_plugins.kit.nbest_lists import Posterior, posteriors, source_of

To = Literal["list", "source", "context", "file"]
LEAST = 1e-12  # the least posterior, so that the mean is defined even where one hypothesis has all the mass


def consensus(similarities: FloatArray, posterior: FloatArray) -> FloatArray:
    """(n) posterior-weighted means of the similarities (n, n) of each hypothesis to the others; 0 where n is 1."""
    others = 1.0 - np.eye(len(posterior))
    mass = np.maximum(posterior, LEAST)
    return np.asarray((similarities * others) @ mass / np.maximum(others @ mass, LEAST), np.float64)


@dataclass(frozen=True, kw_only=True)
class SimilarityFeature(FeatureExtractor, PickledFields):
    """The common part of the features over sentence vectors: a subclass computes the vectors."""

    scope: ClassVar[Literal["text", "list"]] = "list"
    measures: ClassVar[tuple[str, ...]] = ("",)  # the names of the similarities, where a pair has several

    to: tuple[To, ...] = option(
        ("list",), doc="compare with the rest of the list (consensus), with its source, its context, a line of `file`"
    )
    file: Path | None = option(None, doc="text file whose line i + 1 is compared with the segment that has id i")
    back: int = option(0, doc="compare with the line of an earlier segment, this many back: 1 is the previous one")
    posterior: Posterior = option(
        "score", doc="posterior of the hypotheses in the list: score, spread, rank or uniform, as for `consensus`"
    )
    scale: float = option(0.5, doc="flat (towards 0) or peaked (above 1) posterior")

    def __post_init__(self) -> None:
        if not self.to or len(set(self.to)) < len(self.to):
            raise ValueError("`to` must name one or more of list, source, context and file, each only once")
        if ("file" in self.to) != (self.file is not None):
            raise ValueError('`to = ["file"]` and `file` go together')
        if self.back < 0:
            raise ValueError(f"back is {self.back}, wanted 0 or more segments")

    @property
    def components(self) -> tuple[str, ...]:
        """The texts compared with, in the order of `to`; `to.measure` for each where there are several measures."""
        return tuple(f"{to}.{measure}" if measure else to for to in self.to for measure in self.measures)

    @abstractmethod
    def vectors(self, sentences: Sequence[Sequence[str]]) -> FloatArray:
        """(n, dimensions) vectors of the sentences, each of length 1 or 0."""

    def similarities(self, a: FloatArray, b: FloatArray) -> tuple[FloatArray, ...]:
        """For each measure, the (n, m) similarities of n sentences to m others, by their vectors."""
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
        """(n, components) similarities, or their weighted means for `list`; 0 for a text without known words.

        Raises ConfigError for a list without the source or context that `to` names, and for an id without a line.
        """
        if not len(nbest):
            return np.zeros((0, len(self.components)))
        own = self.vectors([hypothesis.words for hypothesis in nbest])
        return np.column_stack([column for to in self.to for column in self._columns(nbest, own, to)])

    def _columns(self, nbest: NBestList, own: FloatArray, to: To) -> list[FloatArray]:
        if to == "list":
            posterior = posteriors(nbest, self.posterior, self.scale)
            return [consensus(matrix, posterior) for matrix in self.similarities(own, own)]
        other = self.vectors([self._text(nbest, to).split()])
        return [matrix[:, 0] for matrix in self.similarities(own, other)]

    def _text(self, nbest: NBestList, to: To) -> str:
        if to == "source":
            return source_of(nbest, "the similarity")
        if to == "context":
            if nbest.context is None:
                raise ConfigError(f"segment {nbest.segment_id} has no context to compare with: use a `file` instead")
            return nbest.context
        if not nbest.segment_id.isdecimal() or int(nbest.segment_id) - self.back >= len(self._lines):
            problem = f"no line for segment id {nbest.segment_id!r}"
            raise ConfigError(f"{self.file}: {problem}: the file has {len(self._lines)} lines, for ids from 0")
        line = int(nbest.segment_id) - self.back
        return self._lines[line] if line >= 0 else ""
