"""N-gram models: in this package's file format or ARPA, which score many sentences at a time, or KenLM's binaries.

As a feature: total = sum_{i=1}^{|e|+1} ln p(e_i | e_1 .. e_{i-1}) with e_{|e|+1} = `</s>`, as SRILM's and KenLM's
`query` count; per_word = total / (|e| + 1), which is minus the log of the perplexity; oovs = -#{i : e_i not in V}. For
an empty hypothesis the first two are ln p(</s>) and oovs is 0. An unknown word has one type's share of the probability
of `<unk>` (kit/vocabulary/unknown_types.py). An ARPA file does not record how many types `<unk>` stands for, so that it
is one type there unless the option `unknown_types` gives their number. Keep `oovs`, so that a tuner can weight unknown
words by itself.

One compiled call numbers the words of all sentences (0.05 µs a word), and another scores them (0.2 to 0.5 µs a word, by
the size of the model). The scores are KenLM's, except that KenLM splits a sentence at ASCII white space alone, and that
a bracket or quotation mark which the model lacks is read in another spelling. An ARPA file is read into memory, at
about half a microsecond an n-gram.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import FloatArray, LanguageModel, LongArray, ModelError, PickledFields, Sentence, option
from rerank_plugins.kit.files.languages import embedded, shared_if_embedded
from rerank_plugins.kit.language_models import advance_all, finish_all
from rerank_plugins.kit.vocabulary.unknown_types import check_unknown_types, divide_unknown, unknown_types_option
from rerank_plugins.kit.vocabulary.word_ids import BOS, EOS, UNK
from rerank_plugins.ngram.arpa_files import is_kenlm_binary
from rerank_plugins.ngram.kenlm_binary import KenlmBinary

if TYPE_CHECKING:
    from rerank_plugins.ngram.model import NgramModel
    from rerank_plugins.ngram.sampling import NgramSampler

EMBEDDED = embedded("ngram.zst")
State = Any  # (context, number of words before); of a KenLM binary, its own


@dataclass(frozen=True)
class NgramLanguageModel(LanguageModel, PickledFields):
    """Sentence ln p by an n-gram model, an ARPA file or a KenLM binary: total, per word, and minus the unknown words.

    By default embedded English. An ARPA file may have any order up to 6. Natural logs; with stupid back-off, of scores
    in place of probabilities. It is also an `IncrementalLM`, whose state is the tuple (context, number of words before)
    or KenLM's, and a `BatchedLM`, which takes many steps in one compiled call. A pickled copy holds only the path and
    maps the same file. Raises ModelError for a file that is missing, cut short, of another version or kind.
    """

    file_kind: ClassVar[str] = "ngram"
    model: Path | None = option(
        None, doc="model file, ARPA file (plain or compressed) or KenLM binary; default: the embedded English model"
    )
    unknown_types: int | None = unknown_types_option("as the model file says, and 1 for ARPA files and KenLM binaries")

    def __post_init__(self) -> None:
        check_unknown_types(self.unknown_types)

    @property
    def resources(self) -> tuple[Path, ...]:
        """The embedded model, if it is used."""
        return () if self.model else (EMBEDDED,)

    @cached_property
    def _binary(self) -> KenlmBinary | None:
        if not (self.model and is_kenlm_binary(self.model)):
            return None
        return KenlmBinary(self.model, self.unknown_types or 1)

    @property
    def _types(self) -> int:
        """How many types `<unk>` stands for."""
        return self.unknown_types or self.ngrams.unknown_types

    @cached_property
    def ngrams(self) -> NgramModel:
        """The vocabulary and tables, loaded on first use. Raises ModelError for a KenLM binary, which lists neither."""
        from rerank_plugins.ngram.model import NgramModel

        return shared_if_embedded(self.model or EMBEDDED, NgramModel.load)

    @property
    def order(self) -> int:
        """Length of the longest n-grams."""
        return self._binary.order if self._binary else self.ngrams.tables.order

    def __contains__(self, word: str) -> bool:
        return word in self._binary if self._binary else word in self.ngrams.vocabulary

    def score(self, sentences: Sequence[Sentence]) -> list[FloatArray]:
        """Ln p of each word given the words before it from `<s>` on, and of `</s>` last."""
        if self._binary:
            return self._binary.score(sentences)
        return _cut(self._scores(sentences), sentences)

    def totals(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n) ln p of each sentence, `</s>` included; summed by KenLM itself, in float32, for a binary."""
        if self._binary:
            return self._binary.totals(sentences)
        scores = self._scores(sentences)
        lengths = np.fromiter(map(len, sentences), np.int64, len(sentences)) + 1
        return np.add.reduceat(scores, np.cumsum(lengths) - lengths) if len(lengths) else np.zeros(0)

    def _scores(self, sentences: Sequence[Sentence]) -> FloatArray:
        from rerank_plugins.kit.backoff.scoring import score_text

        tokens = self.ngrams.vocabulary.encode(sentences)
        scores = score_text(self.ngrams.tables, tokens)[0]
        divide_unknown(scores, tokens == UNK, self._types)
        return scores

    @property
    def _counts(self) -> FloatArray:
        """(V) the count of each word, of `</s>`, and of `<unk>`, which is 1 or more. Raises ModelError without counts.

        The model's own 1-grams are no unigram model: those of Kneser–Ney count the words that a word follows.
        """
        if self.ngrams.counts is None:
            raise ModelError(
                f"{self.model}: holds no counts of words, as an ARPA file: name a "
                "unigram model of its text with the option 'unigram', or train the model again"
            )
        counts = self.ngrams.counts.astype(np.float64)
        counts[UNK], counts[BOS] = max(1.0, counts[UNK]), 0.0
        return counts

    @cached_property
    def _ln_unigrams(self) -> FloatArray:
        """(V) ln p of each word by its count, of `</s>`, and of one type of the unknown words."""
        counts = self._counts
        total = counts.sum()
        counts[UNK] /= self._types
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(counts / total), np.float64)

    def ln_frequencies(self) -> dict[str, float]:
        """Ln of the relative frequency of each word, of `</s>`, and, as `<unk>`, of one type of the unknown words.

        Of a model that does not record how many types there are, `<unk>` is a word that occurs once. Raises ModelError
        for a model without counts.
        """
        counts, words = self._counts, self.ngrams.vocabulary.words
        total = counts.sum()
        counts[UNK] = counts[UNK] / self._types if self._types > 1 else 1.0
        return {words[number]: math.log(counts[number] / total) for number in np.flatnonzero(counts).tolist()}

    def unigram_scores(self, sentences: Sequence[Sentence]) -> list[FloatArray]:
        """Ln p of each word, `</s>` last, by its count in the training text; an unknown word is divided as in `score`.

        Raises ModelError for a model without counts.
        """
        return _cut(self._ln_unigrams[self.ngrams.vocabulary.encode(sentences)], sentences)

    def start(self) -> State:
        """The state after `<s>`."""
        if self._binary:
            return self._binary.start()
        from rerank_plugins.kit.backoff.scoring import context_after

        return context_after(self.ngrams.tables, BOS), 1

    def advance(self, state: State, word: str) -> tuple[float, State]:
        """Ln p(word | state), and the state after it."""
        if self._binary:
            return self._binary.advance(state, word)
        return self._step(state, self.ngrams.vocabulary.number_of(word))

    def finish(self, state: State) -> float:
        """Ln p(</s> | state)."""
        if self._binary:
            return self._binary.finish(state)
        return self._step(state, EOS)[0]

    def advance_all(self, states: Sequence[State], words: Sequence[str]) -> tuple[FloatArray, list[State]]:
        """(n) states and their next words -> (n) ln p(word | state), and the (n) states after them."""
        if self._binary:
            return advance_all(self._binary, states, words)
        ln_p, contexts = self._steps(states, list(map(self.ngrams.vocabulary.number_of, words)))
        longest = self.order - 1
        lengths = [min(length + 1, longest) for _, length in states]
        return ln_p, list(zip(contexts.tolist(), lengths, strict=True))

    def finish_all(self, states: Sequence[State]) -> FloatArray:
        """(n) states -> (n) ln p(</s> | state)."""
        if self._binary:
            return finish_all(self._binary, states)
        return self._steps(states, [EOS] * len(states))[0]

    def sampler(self, shortest: int, longest: int) -> NgramSampler:
        """A sampler of sentences that have `shortest` to `longest` words, none of them `<unk>`."""
        from rerank_plugins.ngram.sampling import NgramSampler

        return NgramSampler(self.ngrams, shortest, longest)

    def _steps(self, states: Sequence[State], numbers: Sequence[int]) -> tuple[FloatArray, LongArray]:
        """(n) ln p, and (n) the contexts after the words of these numbers."""
        from rerank_plugins.kit.backoff.scoring import score_steps

        contexts, lengths = np.array(states, np.int64).reshape(-1, 2).T.copy()
        symbols = np.array(numbers, np.int64)
        ln_p, _, after = score_steps(self.ngrams.tables, contexts, lengths, symbols)
        divide_unknown(ln_p, symbols == UNK, self._types)
        return ln_p, after

    def _step(self, state: State, number: int) -> tuple[float, State]:
        ln_p, contexts = self._steps([state], [number])
        return float(ln_p[0]), (int(contexts[0]), min(state[1] + 1, self.order - 1))


def _cut(values: NDArray[Any], sentences: Iterable[Sentence]) -> list[NDArray[Any]]:
    """One array for each sentence, the values of its words and `</s>`, cut from one array over all sentences."""
    arrays, start = [], 0
    for sentence in sentences:
        end = start + len(sentence) + 1
        arrays.append(values[start:end])
        start = end
    return arrays
