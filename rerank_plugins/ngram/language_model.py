"""N-gram models: in this package's file format or ARPA, which score many sentences at a time, or KenLM's binaries.

As a feature: total = sum_{i=1}^{|e|+1} ln p(e_i | e_1 .. e_{i-1}) with e_{|e|+1} = `</s>`, as SRILM's and KenLM's
`query` count; per_word = total / (|e| + 1), which is minus the log of the perplexity; oovs = -#{i : e_i not in V}. For
an empty hypothesis the first two are ln p(</s>) and oovs is 0. An unknown word has the probability that the model gives
`<unk>`: keep `oovs`, so that a tuner can weight unknown words by itself.

One compiled call numbers the words of all sentences (0.05 µs a word), and another scores them (0.1 µs a word). The
scores are KenLM's, except that KenLM splits a sentence at ASCII white space alone, and that a bracket or quotation mark
which the model lacks is read in another spelling (backoff/vocabulary.py). An ARPA file is read into memory, at about
half a microsecond an n-gram. A KenLM binary is read by KenLM (kenlm_model.py), which lists no n-grams: it gives
neither samples nor unigrams.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.arrays import FloatArray, LongArray
from rerank_plugins.core.errors import ModelError
from rerank_plugins.core.interfaces import LanguageModel, Sentence, option
from rerank_plugins.core.pickling import PickledFields
from rerank_plugins.kit.backoff.tables import BackoffTables
from rerank_plugins.kit.batched_steps import advance_all, finish_all
from rerank_plugins.kit.files.embedded import embedded
from rerank_plugins.kit.vocabulary.word_numbers import BOS, EOS, UNK
from rerank_plugins.ngram.arpa_files import is_kenlm_binary
from rerank_plugins.ngram.kenlm_model import KenlmBinary
from rerank_plugins.ngram.model import NgramModel

if TYPE_CHECKING:
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

    @property
    def resources(self) -> tuple[Path, ...]:
        """The embedded model, if it is used."""
        return () if self.model else (EMBEDDED,)

    @cached_property
    def _binary(self) -> KenlmBinary | None:
        return KenlmBinary(self.model) if self.model and is_kenlm_binary(self.model) else None

    @cached_property
    def ngrams(self) -> NgramModel:
        """The vocabulary and tables, loaded on first use. Raises ModelError for a KenLM binary, which lists neither."""
        if self.model is not None:
            return NgramModel.load(self.model)
        from rerank_plugins.ngram.compact_file import read_embedded

        return read_embedded(EMBEDDED)

    @property
    def order(self) -> int:
        """Length of the longest n-grams."""
        return self._binary.order if self._binary else self.ngrams.stored.order

    def __contains__(self, word: str) -> bool:
        return word in self._binary if self._binary else word in self.ngrams.vocabulary

    def score_flat(self, sentences: Sequence[Sentence]) -> tuple[FloatArray, LongArray]:
        """Ln p of all words and `</s>`s in one array, and the length of the n-gram that matched each."""
        from rerank_plugins.kit.backoff.scoring import matched_lengths
        from rerank_plugins.kit.backoff.text_scoring import score_text

        tokens = self.ngrams.vocabulary.encode(sentences)
        scores, events = score_text(self.ngrams.stored, tokens, BOS, EOS)
        return scores, matched_lengths(self.ngrams.stored, events)

    def score(self, sentences: Sequence[Sentence]) -> list[FloatArray]:
        """Ln p of each word given the words before it from `<s>` on, and of `</s>` last."""
        if self._binary:
            return self._binary.score(sentences)
        return _cut(self._scores(sentences), sentences)

    def matches(self, sentences: Sequence[Sentence]) -> list[LongArray]:
        """The length (1 to the order) of the longest n-gram in the model that ends at each word, and at `</s>` last."""
        if self._binary:
            return self._binary.matches(sentences)
        return _cut(self.score_flat(sentences)[1], sentences)

    def totals(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n) ln p of each sentence, `</s>` included; summed by KenLM itself, in float32, for a binary."""
        if self._binary:
            return self._binary.totals(sentences)
        scores = self._scores(sentences)
        lengths = np.fromiter(map(len, sentences), np.int64, len(sentences)) + 1
        return np.add.reduceat(scores, np.cumsum(lengths) - lengths) if len(lengths) else np.zeros(0)

    def _scores(self, sentences: Sequence[Sentence]) -> FloatArray:
        from rerank_plugins.kit.backoff.text_scoring import score_text

        return score_text(self.ngrams.stored, self.ngrams.vocabulary.encode(sentences), BOS, EOS)[0]

    @cached_property
    def _ln_unigrams(self) -> FloatArray:
        """(V) ln p of each word by its count, and of `</s>`; where no word is unknown, `<unk>` counts as one.

        The model's own 1-grams are no unigram model: those of Kneser–Ney count the words that a word follows.
        """
        if self.ngrams.counts is None:
            raise ModelError(
                f"{self.model}: holds no counts of words, as an ARPA file or a model of an earlier version: name a "
                "unigram model of its text with the option 'unigram', or train the model again"
            )
        counts = self.ngrams.counts.astype(np.float64)
        counts[UNK], counts[BOS] = max(1.0, counts[UNK]), 0.0
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(counts / counts.sum()), np.float64)

    def unigram_scores(self, sentences: Sequence[Sentence]) -> list[FloatArray]:
        """Ln p of each word, `</s>` last, by its count in the training text; an unknown word has that of `<unk>`.

        Raises ModelError for a model without counts.
        """
        return _cut(self._ln_unigrams[self.ngrams.vocabulary.encode(sentences)], sentences)

    def start(self) -> State:
        """The state after `<s>`."""
        if self._binary:
            return self._binary.start()
        from rerank_plugins.kit.backoff.text_scoring import context_after

        return context_after(self.ngrams.stored, BOS), 1

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
        from rerank_plugins.ngram.steps import score_steps

        contexts, lengths = np.array(states, np.int64).reshape(-1, 2).T
        return score_steps(self.ngrams.stored, contexts, lengths, np.array(numbers, np.int64))

    def _step(self, state: State, number: int) -> tuple[float, State]:
        from rerank_plugins.kit.backoff.scoring import score_step

        stored = self.ngrams.stored
        if isinstance(stored, BackoffTables):
            ln_p, context = score_step(stored, state[0], state[1], number)
        else:
            values, contexts = self._steps([state], [number])
            ln_p, context = float(values[0]), int(contexts[0])
        return ln_p, (context, min(state[1] + 1, self.order - 1))


def _cut(values: NDArray[Any], sentences: Iterable[Sentence]) -> list[NDArray[Any]]:
    """One array for each sentence, the values of its words and `</s>`, cut from one array over all sentences."""
    arrays, start = [], 0
    for sentence in sentences:
        end = start + len(sentence) + 1
        arrays.append(values[start:end])
        start = end
    return arrays
