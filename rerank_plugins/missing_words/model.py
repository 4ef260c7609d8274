"""A model of missing words: vocabulary, counts and tuned weights; its locations and fillings of gaps.

There are three methods of location. `ngram` and `distance` are those of Song (2016): the score of the two words beside
a gap, and the weighted scores of all pairs of a window. `odds`, ours, weighs the log-odds of the same counts instead of
their scores, as naive Bayes would.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import ConfigError, FloatArray, IntArray, LongArray
from rerank_plugins.kit.files.array_values import ContentsError
from rerank_plugins.kit.files.model_schema import Array, Contents, ModelFile, Part, Setting, WordList
from rerank_plugins.kit.vocabulary.word_ids import EOS, UNK, Vocabulary, check_special
from rerank_plugins.missing_words.gap_words import COMPONENTS, FIRST, Filled, Gaps, best_words, contexts_of_gaps
from rerank_plugins.missing_words.tables import (
    CONTEXTS,
    KEYS,
    ContextTable,
    PairTable,
    gap_offsets,
    log_odds,
    vote_scores,
)

Method = Literal["ngram", "distance", "odds"]
METHODS: tuple[Method, ...] = ("ngram", "distance", "odds")
Words = Sequence[str]


def ln_posteriors(scores: FloatArray, offsets: LongArray) -> FloatArray:
    """(gaps) ln of the softmax of the scores within each sentence; no sentence may be without a gap."""
    sizes = np.diff(offsets)
    shifted = scores - np.repeat(np.maximum.reduceat(scores, offsets[:-1]), sizes)
    ln_sums = np.log(np.add.reduceat(np.exp(shifted), offsets[:-1]))
    posteriors: FloatArray = shifted - np.repeat(ln_sums, sizes)
    return posteriors


@dataclass(frozen=True)
class Location:
    """How gaps are scored: by which function of the votes of a pair, and with which weights v(a, b) of the pairs.

    `function` is that of tables.py, and `constant` its last argument: γ of `vote_scores`, or what `log_odds` adds
    to each count. With `edges`, `<s>` and `</s>` count as words.
    """

    function: Literal["votes", "log-odds"]
    constant: float
    weights: FloatArray
    edges: bool

    @property
    def half(self) -> int:
        """Half of the window."""
        return len(self.weights)

    def features(self, votes_for: NDArray[Any], against: NDArray[Any]) -> FloatArray:
        """(gaps, half, half) the values that the weights multiply."""
        function = vote_scores if self.function == "votes" else log_odds
        return function(votes_for, against, self.constant)


class HashedWords(WordList):
    """The words of a vocabulary, and their hash table as the array `hashes`."""

    def write(self, value: Vocabulary, name: str, contents: Contents) -> None:
        """Add both arrays to the contents."""
        super().write(value.words, name, contents)
        contents.arrays["hashes"] = value.table

    def read(self, hint: Any, name: str, contents: Contents) -> Vocabulary:
        """Return the vocabulary. Raises an error of DAMAGE."""
        words = super().read(hint, name, contents)
        check_special(name, words)
        return Vocabulary(words, contents.arrays["hashes"])


@dataclass(frozen=True, eq=False)
class MissingWordsModel:
    """The counts of a text and the weights tuned on held-out sentences.

    `counts` (V) are those of the words of `vocabulary`; `tables` has the words of each of the five contexts by its
    name; `locations` has the settings of each of METHODS; `mixture` (6) are the weights of gap_words.COMPONENTS.
    """

    vocabulary: Annotated[Vocabulary, HashedWords("V", name="words")]
    counts: Annotated[LongArray, Array("V", values="not negative")]
    pairs: Annotated[PairTable, Part("pairs.", V="V")]
    tables: Annotated[Mapping[str, ContextTable], Part(keys=CONTEXTS, V="V")]
    locations: Annotated[Mapping[str, Location], Setting(keys=METHODS)]
    mixture: Annotated[FloatArray, Setting()]
    settings: Annotated[Mapping[str, Any], Setting("training")]

    @cached_property
    def unigrams(self) -> FloatArray:
        """(V) the relative frequency of each word, 0 for `<s>` and `</s>`."""
        counts = self.counts.astype(np.float64)
        counts[UNK + 1 : FIRST] = 0.0
        frequencies: FloatArray = counts / max(counts.sum(), 1.0)
        return frequencies

    @property
    def candidates(self) -> int:
        """The number of words that can be filled in."""
        return len(self.vocabulary) - FIRST

    def encode(self, sentences: Sequence[Words]) -> IntArray:
        """(n) the numbers of all words, each sentence ended by `</s>`; unknown words are `<unk>`."""
        return self.vocabulary.encode(sentences)

    def gap_scores(self, tokens: IntArray, method: Method) -> FloatArray:
        """(gaps) Σ v(a, b) S(a, b), the score of each gap by a method. A sentence of n words has n - 1 gaps."""
        location = self.locations[method]
        votes = self.pairs.votes(tokens, location.half, edges=location.edges)
        scores: FloatArray = np.einsum("gab,ab->g", location.features(*votes), location.weights)
        return scores

    def locate(self, sentences: Sequence[Words], method: Method = "odds") -> list[FloatArray]:
        """Ln p of each gap of each sentence, given that one word is missing: one array of len(sentence) - 1 each.

        Gap g is between the words g and g + 1 (from 0). A sentence of fewer than two words has no gap.
        """
        tokens = self.encode(sentences)
        offsets = gap_offsets(tokens)
        if offsets[-1] == 0:
            return [np.zeros(0) for _ in sentences]
        scores = self.gap_scores(tokens, method)
        with_gaps = np.flatnonzero(np.diff(offsets))
        ln_p = ln_posteriors(scores, np.append(offsets[with_gaps], offsets[-1]))
        return np.split(ln_p, offsets[1:-1])

    def fill(self, gaps: Gaps, k: int, candidates: int | None = None) -> Filled:
        """The k most probable words of each gap, among the `candidates` most frequent ones (all by default).

        Raises ConfigError for more candidates than words.
        """
        end = FIRST + self.checked_candidates(candidates)
        return best_words(self.tables, self.unigrams, contexts_of_gaps(self.tables, gaps), self.mixture, k, end)

    def checked_candidates(self, candidates: int | None) -> int:
        """The number of candidates. Raises ConfigError for more than the model has words."""
        if candidates is not None and candidates > self.candidates:
            raise ConfigError(f"{candidates:,} candidates are more than the {self.candidates:,} words of the model")
        return self.candidates if candidates is None else candidates

    def neighbours(self, sentences: Sequence[Words], gaps: Sequence[int]) -> Gaps:
        """The neighbours of one gap of each sentence (gap g is between the words g and g + 1, from 0)."""
        tokens = self.encode(sentences)
        starts = np.append(0, np.flatnonzero(tokens == EOS)[:-1] + 1) if len(sentences) else np.zeros(0, np.int64)
        padded = np.append(np.int32(EOS), tokens)
        at = starts + np.asarray(gaps, np.int64) + 1  # the position of a1 in `padded`
        a2 = padded[at - 1]
        return Gaps(np.where(a2 == EOS, np.int32(1), a2), padded[at], padded[at + 1], padded[at + 2])


def parts_fit(model: MissingWordsModel) -> bool:
    """Whether contexts have what they need, and all places of weights fit into the window. Raises ContentsError."""
    for name, table in model.tables.items():
        wanted = (len(table.totals), len(table.totals)) if len(KEYS[name]) == 2 else (0, len(model.vocabulary))
        if (len(table.seconds), len(table.totals)) != wanted:
            has = f"{name} has {len(table.totals)} contexts and {len(table.seconds)} second neighbours"
            raise ContentsError(f"{has}, wanted {wanted[1]} and {wanted[0]}")
        table.check(name)
    widest = max(location.half for location in model.locations.values())
    return len(model.mixture) == len(COMPONENTS) and 1 <= widest <= model.pairs.window // 2


FILE = ModelFile(MissingWordsModel, "missing-words", "model of missing words", check=parts_fit)
read_model, write_model = FILE.read, FILE.write
