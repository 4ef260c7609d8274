"""What a plugin implements. Everything here is an ordinary class: no pluggy, no TOML, no command line.

Plugins are dataclasses whose fields are their options (`option(default, doc=…)`): constructors store, methods work,
heavy things load on first use, so that listing plugins is instant and an object can be sent to another process.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np

from rerank_plugins.arrays import BoolArray, FloatArray
from rerank_plugins.errors import FormatError
from rerank_plugins.feature_table import FeatureTable
from rerank_plugins.nbest import NBestList
from rerank_plugins.trees.constituency import Tree
from rerank_plugins.trees.dependency import DependencyTree

State = TypeVar("State")
Sentence = Sequence[str]


def option(default: Any = dataclasses.MISSING, *, doc: str) -> Any:
    """A dataclass field with a one-line description, shown by `rerank plugins`; no default means required."""
    return field(default=default, metadata={"doc": doc})


class FeatureExtractor(ABC):
    """Feature values for the hypotheses of an n-best list. Higher is better; logs are natural.

    `scope` says what a value depends on: "text" (text and source of the hypothesis alone: each distinct text of a list
    is extracted once) or "list" (the other hypotheses, their order, scores or features too).
    """

    scope: ClassVar[Literal["text", "list"]] = "text"

    @property
    def components(self) -> tuple[str, ...]:
        """Suffixes of the values of a multi-valued extractor; ("",) for a single value named by the label alone."""
        return ("",)

    @property
    def vocabulary(self) -> LanguageModel | frozenset[str] | None:
        """The words that the extractor's model knows, so that `rerank check` can warn; None where it has no model."""
        return None

    @abstractmethod
    def extract(self, nbest: NBestList) -> FloatArray:
        """(len(nbest), len(components)) float64, finite. Empty or unusable hypotheses get a documented floor."""

    def extract_all(self, nbests: Sequence[NBestList]) -> list[FloatArray]:
        """One array per list. Override it to batch across segments."""
        return [self.extract(nbest) for nbest in nbests]


class LanguageModel(ABC):
    """Anything that gives each word of a sentence a probability."""

    @abstractmethod
    def score(self, sentences: Sequence[Sentence]) -> list[FloatArray]:
        """Ln p of each word given what precedes it, `</s>` last: one array of len(sentence) + 1 per sentence."""

    def totals(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n) ln p of each sentence, `</s>` included. Override it where that is cheaper than word by word."""
        return np.array([values.sum() for values in self.score(sentences)], np.float64)

    @abstractmethod
    def __contains__(self, word: str) -> bool:
        """Whether the word is in the vocabulary (otherwise it was scored as unknown)."""


class IncrementalLM(Protocol[State]):
    """A language model that goes from left to right. States are values: never changed in place.

    Summed over a sentence, `advance` and `finish` give the sentence's ln p.
    """

    def start(self) -> State:
        """The state before the first word."""
        ...

    def advance(self, state: State, word: str) -> tuple[float, State]:
        """Ln p(word | state), and the state after it."""
        ...

    def finish(self, state: State) -> float:
        """Ln p(</s> | state)."""
        ...


class Sampler(Protocol):
    """Draws sentences from a language model."""

    def sample(self, number: int, rng: np.random.Generator) -> list[tuple[str, ...]]:
        """`number` sentences; the same ones for the same state of `rng`."""
        ...


@runtime_checkable
class GenerativeLM(Protocol):
    """A language model that sentences can be drawn from."""

    def sampler(self, shortest: int, longest: int) -> Sampler:
        """What draws sentences of so many words. Raises ModelError for a model that has scores, not probabilities."""
        ...


@runtime_checkable
class HasUnigrams(Protocol):
    """A language model that says how frequent its words are by themselves, as the syntactic log-odds ratio asks."""

    def unigram_scores(self, sentences: Sequence[Sentence]) -> list[FloatArray]:
        """Ln p of each word without context, `</s>` last: one array of len(sentence) + 1 per sentence.

        The distribution is that of the model's own training corpus over its own vocabulary, which sums to one; an
        unknown word is replaced as in `score`.
        """
        ...


class ScoredTree(NamedTuple):
    """A constituency tree and ln p(tree, words), or ln p(tree | words) where the parser has no model of the words."""

    tree: Tree
    log_probability: float


@dataclass(frozen=True)
class Parse:
    """What a parser says of a sentence; None or () where it does not give that kind of structure, or could not parse.

    `constituents` are the k best trees, best first.
    """

    dependencies: DependencyTree | None = None
    constituents: tuple[ScoredTree, ...] = ()

    @property
    def tree(self) -> Tree | None:
        """The best constituency tree."""
        return self.constituents[0].tree if self.constituents else None

    @property
    def is_empty(self) -> bool:
        """Whether there is no structure of either kind."""
        return self.dependencies is None and not self.constituents


class Parser(ABC):
    """Syntactic structure for tokenised sentences. Extractors name one in a field typed `Parser`."""

    @abstractmethod
    def parse(self, sentences: Sequence[Sentence]) -> list[Parse]:
        """One parse per sentence, over exactly its tokens; `Parse()` where there is none."""


class Metric(ABC):
    """A corpus metric over additive sufficient statistics: statistics of segments sum to those of the corpus."""

    higher_is_better: ClassVar[bool] = True
    decomposes: ClassVar[bool] = False  # corpus score is monotone in a sum over segments: the oracle is exact

    @abstractmethod
    def statistics(self, hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> FloatArray:
        """(rows, S): for each segment its hypotheses in order, each against all references of that segment.

        `hypotheses[s]` are the texts of segment s, `references[s]` its one or more references. Begin with
        `check_texts(hypotheses, references)`, which raises the errors for arguments that have another shape.
        """

    @abstractmethod
    def score(self, totals: FloatArray) -> FloatArray:
        """Corpus scores of summed statistics, over the last axis: (…, S) -> (…)."""

    @abstractmethod
    def sentence_scores(self, statistics: FloatArray) -> FloatArray:
        """(n, S) -> (n): smoothed scores of single hypotheses, on the scale of `score`."""

    @abstractmethod
    def signature(self) -> str:
        """The settings that made a score, in sacrebleu's form (`nrefs` is added by the caller)."""

    def pairwise(self, hypotheses: Sequence[str]) -> FloatArray:
        """(n, n): sentence score of hypothesis i with hypothesis j as its reference. Override it to be fast."""
        columns = [self.statistics([hypotheses], [[other]]) for other in hypotheses]
        return np.stack([self.sentence_scores(column) for column in columns], axis=1)


def check_texts(hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> None:
    """What `Metric.statistics` asks of its arguments.

    Raises TypeError where a text stands in place of a sequence of texts (it would be taken for a list of characters),
    FormatError for different numbers of segments and for a segment without reference.
    """
    for name, groups in (("hypotheses", hypotheses), ("references", references)):
        if isinstance(groups, str):
            raise TypeError(f"{name}: expected a sequence of texts for each segment, found a single text")
        for segment, texts in enumerate(groups, 1):
            if isinstance(texts, str):
                found = f"for segment {segment} a single text, {texts[:40]!r}"
                raise TypeError(f"{name}: expected a sequence of texts for each segment, found {found}")
    if len(hypotheses) != len(references):
        raise FormatError(f"{len(hypotheses)} segments, but references for {len(references)}")
    for segment, texts in enumerate(references, 1):
        if not len(texts):
            raise FormatError(f"segment {segment} of {len(references)} has no reference; wanted one or more")


class TuningStep(NamedTuple):
    """One line of a tuner's progress: `score` is the metric on the tuning set at the current weights."""

    restart: int
    iteration: int
    score: float


@dataclass(frozen=True, eq=False)
class TuningData:
    """What a tuner sees: features and statistics of the same rows, and the constraints on the weights.

    `statistics` (rows, S) of `metric`; `fixed`, `lower` and `upper` have one value per name of `table.all_names`;
    `hypotheses` are the texts the metric saw, per segment (for utilities between hypotheses).
    """

    table: FeatureTable
    statistics: FloatArray
    metric: Metric
    fixed: BoolArray
    lower: FloatArray
    upper: FloatArray
    hypotheses: Sequence[Sequence[str]] = ()


@dataclass(frozen=True, eq=False)
class TuningResult:
    """Tuned weights, one per name of `table.all_names`, and how they came about.

    `score`     of the metric on the tuning set, when the 1-bests by these weights are chosen
    `decision`  "map" takes the highest weighted sum, "mbr" the highest expected utility under softmax(scale * sum),
                where the `evidence` hypotheses of highest sum stand for the list (0: all of them)
    `trace`     score after each iteration; `restarts` the weights that each restart ended with, `restart_scores` theirs
    `notes`     what the user should know (sparse features left fixed, early stop, …)
    """

    weights: FloatArray
    score: float
    decision: Literal["map", "mbr"] = "map"
    scale: float = 1.0
    evidence: int = 0
    trace: tuple[TuningStep, ...] = ()
    restarts: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    restart_scores: tuple[float, ...] = ()
    notes: tuple[str, ...] = ()


class Tuner(ABC):
    """Chooses weights that make the metric of the chosen hypotheses good."""

    @abstractmethod
    def tune(
        self,
        data: TuningData,
        start: FloatArray,
        rng: np.random.Generator,
        report: Callable[[TuningStep], None] = lambda step: None,
    ) -> TuningResult:
        """Weights from `start` (one per name of `table.all_names`); fixed ones keep their start value."""


class Rescored(NamedTuple):
    """What reranking adds to a list: values (n, len(names)) of new features, totals (n), and the new order (n)."""

    names: tuple[str, ...]
    values: FloatArray
    scores: FloatArray
    order: Sequence[int]


class NBestFormat(ABC):
    """A file format of n-best lists. Lines carry their line ends, so that nothing is lost."""

    @abstractmethod
    def read(self, lines: Iterable[str], path: str) -> Iterator[NBestList]:
        """One list per run of lines with the same segment id, streaming. Raises FormatError with path and line."""

    @abstractmethod
    def write(self, nbest: NBestList, rescored: Rescored | None = None) -> Iterator[str]:
        """The lines of a list: byte for byte as read, or in the new order with the new features and totals."""
