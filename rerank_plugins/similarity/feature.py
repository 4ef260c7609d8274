"""Features that compare hypotheses with their list, source, context or a file, by the cosines of sentence vectors.

Consensus is the posterior-weighted mean similarity to the rest of the list, c(e) = Σ_{e' ≠ e} P(e') s(e, e') / Σ_{e' ≠
e} P(e'): minimum-Bayes-risk reranking with the similarity as its gain (Kumar and Byrne 2004), without that of a
hypothesis to itself. Repeated hypotheses count each time; a list of one has 0. Vectors have length 1 or 0, and are
those of random indexing (Wu et al. 2013, eq. 3) or the structured ones of sentences and phrases (eqs 6 and 7).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.brackets_and_quotes import Words
from rerank_plugins.core.errors import ConfigError
from rerank_plugins.core.files import content_hash
from rerank_plugins.core.interfaces import FeatureExtractor, Parser, option
from rerank_plugins.core.nbest import NBestList
from rerank_plugins.core.pickling import PickledFields
from rerank_plugins.core.words import model_words
from rerank_plugins.kit.files.in_use import shared
from rerank_plugins.kit.files.text import open_text
from rerank_plugins.kit.nbest_lists import OF_TOTALS, Posterior, posteriors, source_of
from rerank_plugins.kit.remembered import MEGABYTE, Remembered
from rerank_plugins.similarity import meaning, structured_vectors
from rerank_plugins.similarity.random_indexing import RandomIndexModel, Space, Weighting

if TYPE_CHECKING:
    from rerank_plugins.similarity.meaning import Meaning
    from rerank_plugins.similarity.sentence_meanings import SentenceMeanings
    from rerank_plugins.svs.parsing import SvsParser

Measure = Literal["top", "phrase", "meaning"]
To = Literal["list", "source", "context", "file"]
LEAST_POSTERIOR = 1e-12  # the least posterior, so that the mean is defined even where one hypothesis has all the mass
REMEMBERED = 32 * MEGABYTE  # of sentences and their vectors


def consensus(similarities: FloatArray, posterior: FloatArray) -> FloatArray:
    """(n) posterior-weighted means of the similarities (n, n) of each hypothesis to the others; 0 where n is 1."""
    others = 1.0 - np.eye(len(posterior))
    mass = np.maximum(posterior, LEAST_POSTERIOR)
    return np.asarray((similarities * others) @ mass / np.maximum(others @ mass, LEAST_POSTERIOR), np.float64)


@dataclass(frozen=True, kw_only=True)
class SimilarityFeature(FeatureExtractor, PickledFields):
    """The common part of the features over sentence vectors: a subclass computes the vectors."""

    scope: ClassVar[Literal["text", "list"]] = "list"

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
        return tuple(f"{to}.{measure}" if measure else to for to in self.to for measure in self._similarity_names)

    @property
    def _similarity_names(self) -> tuple[str, ...]:
        """The names of the similarities, where a pair has several."""
        return ("",)

    @property
    def reads_totals(self) -> bool:
        """Whether the rest of the list is weighted by total scores."""
        return "list" in self.to and self.posterior in OF_TOTALS

    @abstractmethod
    def vectors(self, sentences: Sequence[Sequence[str]]) -> Any:
        """What the sentences are compared by: (n, dimensions) vectors of length 1 or 0, or what a subclass has."""

    def similarities(self, a: Any, b: Any) -> tuple[FloatArray, ...]:
        """For each measure, the (n, m) similarities of n sentences to m others, by their vectors."""
        return (a @ b.T,)

    @cached_property
    def _lines(self) -> list[str]:
        if self.file is None:
            return []
        with open_text(self.file) as lines:
            return [line.rstrip("\r\n") for line in lines]

    def extract(self, nbest: NBestList) -> FloatArray:
        """(n, components) similarities, or their weighted means for `list`; 0 for a text without known words.

        Raises ConfigError for a list without the source or context that `to` names, and for an id without a line.
        """
        if not len(nbest):
            return np.zeros((0, len(self.components)))
        own = self.vectors(list(map(model_words, nbest.texts)))
        return np.column_stack([column for to in self.to for column in self._columns(nbest, own, to)])

    def _columns(self, nbest: NBestList, own: Any, to: To) -> list[FloatArray]:
        if to == "list":
            posterior = posteriors(nbest, self.posterior, self.scale)
            return [consensus(matrix, posterior) for matrix in self.similarities(own, own)]
        other = self.vectors([model_words(self._text(nbest, to))])
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


@dataclass(frozen=True, kw_only=True)
class RandomIndexingFeature(SimilarityFeature):
    """Similarity by random-indexing vectors: consensus with the list, or to a source, a context or a file.

    Raises ModelError for a file that is missing, cut short, of another version or kind, or that lacks the space.
    """

    file_kind: ClassVar[str] = "random-indexing"
    model: Path = option(doc="model from `rerank train random-indexing`")
    space: Space = option("document", doc="word vectors to use: by document, window, direction or position, or by LSA")
    weight: Weighting = option("idf", doc="weight of a word: 1 (none), ln(N / df) (idf) or a / (a + p) (sif)")

    @cached_property
    def _model(self) -> RandomIndexModel:
        from rerank_plugins.similarity.random_indexing import read_model

        return read_model(self.model)

    def vectors(self, sentences: Sequence[Sequence[str]]) -> FloatArray:
        """(n, dimensions) weighted sums of the word vectors, scaled to length 1."""
        return self._model.sentence_vectors(sentences, self.space, self.weight)


@dataclass(frozen=True, eq=False)
class Compared:
    """What sentences are compared by: (n, 3, K) vectors for `top` and `phrase`, and their meanings."""

    vectors: FloatArray | None
    meanings: Sequence[Meaning] | None


@dataclass(frozen=True, kw_only=True)
class SvsSimilarityFeature(SimilarityFeature):
    """Similarity by structured vectors, or by shared meaning: consensus, or to a source, a context or a file.

    Raises ModelError for a file that is missing, cut short, of another version or kind.
    """

    measures: tuple[Measure, ...] = option(
        ("top", "phrase"),
        doc="top, phrase: vectors of the sentence, of its two largest phrases; meaning: words aligned by concepts",
    )
    concepts: Path | None = option(
        None, doc="for `meaning`: model of `rerank train svs-concepts` or `svs`; default: `model`, or embedded concepts"
    )
    parser: Parser | None = option(
        None, doc="for `meaning`: a parser of constituents, by name; default: that of `treelet-lm`"
    )
    model: Path | None = option(None, doc="model from `rerank train svs`; default: the embedded English one")
    threshold: float = option(
        1e-3, doc="categories that a coarse grammar finds less probable than this are pruned; 0: none"
    )
    longest: int = option(80, doc="words in the longest sentence that is parsed")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.measures or len(set(self.measures)) < len(self.measures):
            raise ValueError("`measures` must name one or more of top, phrase and meaning, each only once")
        if not 0 <= self.threshold < 1:
            raise ValueError(f"threshold is {self.threshold}, wanted 0 or more and less than 1")
        if self.longest < 1:
            raise ValueError(f"longest is {self.longest}, wanted 1 or more words")

    @cached_property
    def _sentences(self) -> SentenceVectors:
        from rerank_plugins.svs.model import EMBEDDED

        path = self.model or EMBEDDED
        key = ("vectors", path, content_hash(path) if path.is_file() else None, self.threshold, self.longest)
        return shared(key, lambda: SentenceVectors(path, self.threshold, self.longest))

    @property
    def vocabulary(self) -> Words:
        """The words that the model of vectors knows, or the model of concepts."""
        if {"top", "phrase"} & set(self.measures):
            return self._sentences.parser.model.lexicon
        return self._meanings.concepts

    @property
    def _similarity_names(self) -> tuple[str, ...]:
        return self.measures

    @property
    def parsers(self) -> tuple[Parser, ...]:
        """The parser of the trees for `meaning`."""
        return (self._trees,) if "meaning" in self.measures else ()

    @cached_property
    def _trees(self) -> Parser:
        from rerank_plugins.svs.parser import parser_of_concepts

        return parser_of_concepts(self.concepts or self.model, self.parser)

    @cached_property
    def _meanings(self) -> SentenceMeanings:
        from rerank_plugins.similarity.sentence_meanings import SentenceMeanings, read_concepts

        return SentenceMeanings(self._trees, read_concepts(self.concepts or self.model), self.longest)

    def vectors(self, sentences: Sequence[Sequence[str]]) -> Compared:
        """What the measures compare of the sentences."""
        vectors = self._sentences.of(sentences) if {"top", "phrase"} & set(self.measures) else None
        return Compared(vectors, self._meanings.of(sentences) if "meaning" in self.measures else None)

    def similarities(self, a: Compared, b: Compared) -> tuple[FloatArray, ...]:
        """The (n, m) matrices of the measures, in their order."""
        found: dict[str, FloatArray] = {}
        if a.vectors is not None and b.vectors is not None:
            found["top"], found["phrase"] = structured_vectors.between(a.vectors, b.vectors)
        if a.meanings is not None and b.meanings is not None:
            found["meaning"] = meaning.between(a.meanings, b.meanings)
        return tuple(found[name] for name in self.measures)


class SentenceVectors:
    """A cache of the vectors of sentences by a model; features of a process with the same options share one."""

    def __init__(self, path: Path, threshold: float, longest: int) -> None:
        self.path, self.threshold, self.longest = path, threshold, longest
        self.known: Remembered[tuple[str, ...], FloatArray] = Remembered(REMEMBERED)

    @cached_property
    def parser(self) -> SvsParser:
        """The parser over the model, loaded on first use."""
        from rerank_plugins.svs.model import read_or_embedded
        from rerank_plugins.svs.parsing import SvsParser

        return SvsParser(read_or_embedded(self.path), self.threshold)

    def of(self, sentences: Sequence[Sequence[str]]) -> FloatArray:
        """(n, 3, K) vectors; 0 for a sentence without a tree."""
        keys, known, concepts = [tuple(sentence) for sentence in sentences], self.known, self.parser.model.concepts
        known.make_room()
        new = [key for key in dict.fromkeys(keys) if key not in known]
        parsed = [key for key in new if len(key) <= self.longest]
        vectors = structured_vectors.parsed_vectors(self.parser, parsed)
        without_tree = np.zeros((structured_vectors.PARTS, concepts))
        for key in new:
            if len(key) > self.longest:
                known.keep(key, without_tree)
        for key, parts in zip(parsed, vectors, strict=True):
            known.keep(key, parts)
        return np.array([known[key] for key in keys]).reshape(-1, structured_vectors.PARTS, concepts)
