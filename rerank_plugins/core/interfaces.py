"""The interfaces that plugins implement. All are ordinary classes: they know no pluggy, no TOML and no command line.

A plugin is a dataclass whose fields are its options (`option(default, doc=…)`). Its constructor only stores them; model
files and large libraries are loaded on first use, so that listing plugins is instant and objects can be pickled and
sent to other processes.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar, Literal, Protocol, TypeVar, runtime_checkable

import numpy as np

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.brackets_and_quotes import Words
from rerank_plugins.core.contracts import checked_scores, checked_totals
from rerank_plugins.core.nbest import NBestList
from rerank_plugins.core.parse import Parse
from rerank_plugins.core.sentences import ChecksSentences
from rerank_plugins.core.trained_on import TrainedOn
from rerank_plugins.core.words import model_words

State = TypeVar("State")
Sentence = Sequence[str]


def option(
    default: Any = dataclasses.MISSING,
    *,
    doc: str,
    changes_results: bool = True,
    short: str = "",
    metavar: str = "",
    writes: bool = False,
) -> Any:
    """A dataclass field with a one-line description, which `rerank plugins` shows; required if it has no default.

    `changes_results` is false for the size of a batch and the like: what was computed with another value is used again.
    The type may have constraints, which pydantic checks: `order: Annotated[int, Field(ge=1, le=6)] = option(…)`. The
    options of trainers may have, on the command line, a `short` letter and a `metavar`; `writes` is true of a path that
    training writes.
    """
    command_line = {"short": short, "metavar": metavar, "writes": writes}
    return dataclasses.field(default=default, metadata={"doc": doc, "changes_results": changes_results, **command_line})


class FeatureExtractor(ChecksSentences, ABC):
    """An extractor of feature values for the hypotheses of an n-best list. Higher is better; logs are natural.

    `scope` is what a value depends on: "text" if it is only the text of the hypothesis and the source, so that each
    distinct text of a list is extracted once; "list" if it is also the other hypotheses, their order, scores or
    features.

    `cached` is whether values are kept on disk for later runs, under the identity of the extractor (core/identity.py):
    its options, its `resources`, the code of its package or, in a plugin file, that of the file and of the modules
    beside it. False is for an extractor whose values depend on anything else.

    `by_row` is true of a value that depends, besides the options, on the number of the hypothesis in the files of
    the lists alone (`NBestList.rows`).

    `one_process` is true where worker processes are not worth their cost, as where the model fills the memory, or a
    library uses all cores or a GPU: its values are then extracted in the main process.
    """

    scope: ClassVar[Literal["text", "list"]] = "text"
    file_kind: ClassVar[str] = ""  # of the model files that the option `model` names, as their header has it
    cached: ClassVar[bool] = True
    by_row: ClassVar[bool] = False
    one_process: ClassVar[bool] = False

    @property
    def components(self) -> tuple[str, ...]:
        """The names of the values, appended to the extractor's label; ("",) for a single value without a suffix."""
        return ("",)

    @property
    def vocabulary(self) -> Words | None:
        """The words that the extractor's model knows, for the warnings of `rerank check`; None if it has no model."""
        return None

    @property
    def parsers(self) -> tuple[Parser, ...]:
        """The parsers whose trees the values depend on, which `rerank explain` shows; () if there are none."""
        return ()

    @property
    def reads_totals(self) -> bool:
        """Whether the values depend on the decoder's totals where lists have them, and on something else elsewhere."""
        return False

    def check_lists(self, nbests: Sequence[NBestList]) -> None:
        """Raise a RerankError for the lists of a set, all of them, that the extractor does not fit."""

    def word_scores(self, nbest: NBestList) -> list[FloatArray] | None:  # noqa: ARG002
        """What each word adds to the values, for `rerank explain`; None (the default) if it has no parts by word.

        One array for each hypothesis, of the number of its words or, with a value for `</s>`, one more: ln p of each
        word by a language model, or another score that the words sum to.
        """
        return None

    @abstractmethod
    def extract(self, nbest: NBestList) -> FloatArray:
        """The values: float64, (len(nbest), len(components)), finite. An empty or unusable hypothesis gets a floor.

        The extractor's documentation states the floor. An empty list, which may have no source, gives an array of shape
        (0, len(components)).
        """

    def extract_all(self, nbests: Sequence[NBestList]) -> list[FloatArray]:
        """One array per list. Override it to process several lists in one batch."""
        return [self.extract(nbest) for nbest in nbests]


class SentenceFeature(FeatureExtractor):
    """An extractor that depends on the words alone: a subclass computes the values of all lists in one call."""

    @abstractmethod
    def values(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n, components) values, one row for each sentence."""

    def extract(self, nbest: NBestList) -> FloatArray:
        """(hypotheses, components) values, as `values` computes them."""
        return self.values(tuple(tuple(model_words(text)) for text in nbest.texts))

    def extract_all(self, nbests: Sequence[NBestList]) -> list[FloatArray]:
        """One (hypotheses, components) array for each list, from a single call of `values`."""
        if not nbests:
            return []
        values = self.values(tuple(tuple(model_words(text)) for nbest in nbests for text in nbest.texts))
        starts = [0, *np.cumsum([len(nbest) for nbest in nbests])[:-1].tolist(), None]
        return [values[start:end] for start, end in pairwise(starts)]

    def word_values(self, sentences: Sequence[Sentence]) -> list[FloatArray] | None:  # noqa: ARG002
        """What each word adds to the values, as `word_scores` has it; None (the default) if it has no parts by word."""
        return None

    def word_scores(self, nbest: NBestList) -> list[FloatArray] | None:
        """What each word of the hypotheses adds, as `word_values` computes it."""
        return self.word_values(tuple(tuple(model_words(text)) for text in nbest.texts))


class SentenceModel(SentenceFeature):
    """A language model that gives a sentence a probability, and perhaps no more, as a sum over the trees of a sentence.

    It is a feature as well. The values, unless a model has others: `total`, ln p of the sentence and its end;
    `per_word`, which is total / (|e| + 1); and `oovs`, minus the number of unknown words.
    """

    @abstractmethod
    def totals(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n) ln p of each sentence, its end included."""

    @abstractmethod
    def __contains__(self, word: str) -> bool:
        """Whether the word is in the vocabulary; if not, the model takes it for the unknown word."""

    @property
    def vocabulary(self) -> Words | None:
        """The model itself, which knows its words."""
        return self

    @property
    def components(self) -> tuple[str, ...]:
        """The names of the values, `total` and `per_word` first."""
        return ("total", "per_word", "oovs")

    def values(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n, 3) natural logs, natural logs per word and end, minus the number of unknown words."""
        totals = checked_totals(self, sentences)
        return np.column_stack(
            [totals, totals / [len(words) + 1 for words in sentences], minus_unknown(sentences, self)]
        )


def minus_unknown(sentences: Sequence[Sentence], vocabulary: Words) -> FloatArray:
    """(n) minus the number of words of each sentence that are not in the vocabulary."""
    unknown = {word for word in set().union(*sentences) if word not in vocabulary}
    return 0.0 - np.array([sum(word in unknown for word in words) for words in sentences], np.float64)


class LanguageModel(SentenceModel):
    """A model that gives each word of a sentence a probability, from left to right."""

    @abstractmethod
    def score(self, sentences: Sequence[Sentence]) -> list[FloatArray]:
        """Ln p of each word given the words before it, `</s>` last: one array of len(sentence) + 1 per sentence."""

    def totals(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n) ln p of each sentence, `</s>` included. Override it if it is cheaper than the scores of all words."""
        return np.array([values.sum() for values in checked_scores(self, sentences)], np.float64)

    def word_values(self, sentences: Sequence[Sentence]) -> list[FloatArray] | None:
        """The values of `score`."""
        return self.score(sentences)


@runtime_checkable
class IncrementalLM(Protocol[State]):
    """A language model that reads words from left to right. States are values: they are never changed in place.

    The values of `advance` and `finish` over a sentence sum to the sentence's ln p.
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


@runtime_checkable
class BatchedLM(Protocol[State]):
    """An `IncrementalLM` that takes many steps in one call, which is cheaper than as many calls.

    Without these two methods the steps are taken one by one (kit/language_models.py).
    """

    def advance_all(self, states: Sequence[State], words: Sequence[str]) -> tuple[FloatArray, list[State]]:
        """(n) states and their next words -> (n) ln p(word | state), and the (n) states after them."""
        ...

    def finish_all(self, states: Sequence[State]) -> FloatArray:
        """(n) states -> (n) ln p(</s> | state)."""
        ...


class Sampler(Protocol):
    """Draws sentences from a language model."""

    def sample(self, number: int, rng: np.random.Generator) -> list[tuple[str, ...]]:
        """Draw `number` sentences; the same state of `rng` gives the same sentences."""
        ...


@runtime_checkable
class GenerativeLM(Protocol):
    """A language model that sentences can be drawn from."""

    def sampler(self, shortest: int, longest: int) -> Sampler:
        """A sampler of sentences of `shortest` to `longest` words. Raises ModelError if scores are no probabilities."""
        ...


@runtime_checkable
class HasUnigrams(Protocol):
    """A language model that has unigram scores of its own, which the syntactic log-odds ratio needs."""

    def unigram_scores(self, sentences: Sequence[Sentence]) -> list[FloatArray]:
        """Ln p of each word without context, `</s>` last: one array of len(sentence) + 1 per sentence.

        The distribution is that of words in the model's own training corpus over its own vocabulary, and sums to one;
        an unknown word is replaced as in `score`. Raises ModelError where the model's file does not have it.
        """
        ...


class Parser(ChecksSentences, ABC):
    """A parser of tokenised sentences. An extractor gets the one that the config names by a field typed `Parser`."""

    file_kind: ClassVar[str] = ""  # of the model files that the option `model` names, as their header has it
    general: ClassVar[bool] = True  # False where there are trees for the sentences of some files alone

    @property
    def trained_on(self) -> TrainedOn:
        """What the parser was trained on: models of another language refuse it. By default nothing is known."""
        return TrainedOn()

    @property
    def vocabulary(self) -> Words | None:
        """The words that the parser knows, if they are enough to tell whether a text is in its language; else None."""
        return None

    @abstractmethod
    def parse(self, sentences: Sequence[Sentence]) -> list[Parse]:
        """One parse per sentence, over exactly its tokens; `Parse()` for a sentence that cannot be parsed."""
