"""N-gram models: in this package's file format or ARPA, which score many sentences at a time, or KenLM's binaries.

As a feature: total = sum_{i=1}^{|e|+1} ln p(e_i | e_1 .. e_{i-1}) with e_{|e|+1} = `</s>`, as SRILM's and KenLM's
`query` count; per_word = total / (|e| + 1), which is minus the log of the perplexity; oovs = -#{i : e_i not in V}. For
an empty hypothesis the first two are ln p(</s>) and oovs is 0. An unknown word has the probability that the model gives
`<unk>`: keep `oovs`, so that a tuner can weight unknown words by itself.

One compiled call numbers the words of all sentences (0.05 µs a word), and another scores them (0.2 to 0.5 µs a word, by
the size of the model). The scores are KenLM's, except that KenLM splits a sentence at ASCII white space alone, and that
a bracket or quotation mark which the model lacks is read in another spelling. An ARPA file is read into memory, at
about half a microsecond an n-gram.

A KenLM binary is queried through the package kenlm (Heafield 2011), the extra `kenlm`, which lists no n-grams: there
are neither samples nor unigrams. KenLM stores log10 p in float32, so that sums over a sentence agree with those of a
double-precision reader of the same ARPA file to about 1e-4. Its vocabulary rules apply: an unknown word has the
probability of `<unk>`, or log10 p = -100 where the file has no `<unk>`. A query costs about 0.4 µs a word.
"""

from __future__ import annotations

import math
import re
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
from rerank_plugins.kit.vocabulary.word_numbers import BOS, EOS, UNK
from rerank_plugins.ngram.arpa_files import is_kenlm_binary

if TYPE_CHECKING:
    from rerank_plugins.ngram.model import NgramModel
    from rerank_plugins.ngram.sampling import NgramSampler

LN10 = math.log(10.0)


@dataclass(frozen=True)
class KenlmBinary(LanguageModel, PickledFields):
    """A file that is read by KenLM. Natural logs; states are `kenlm.State` objects.

    The file is loaded on first use; a pickled copy holds only the path. Raises ModelError for a file that is missing,
    cut short or of another kind, and where the package kenlm is missing.
    """

    model: Path

    @cached_property
    def _kenlm(self) -> Any:
        try:
            import kenlm
        except ImportError:
            raise ModelError(
                f"{self.model}: a KenLM binary needs KenLM: pip install 'rerank-plugins[kenlm]' (docs/models/ngram.md "
                "says how for Python 3.13), or give the ARPA file that it was built from"
            ) from None
        config = kenlm.Config()
        config.show_progress = False
        config.arpa_complain = kenlm.ARPALoadComplain.NONE
        try:
            return kenlm.Model(str(self.model), config)
        except (OSError, UnicodeDecodeError) as error:  # UnicodeDecodeError: KenLM's message quotes undecodable bytes
            reason = " ".join(str(error).split()) if isinstance(error, OSError) else "not a KenLM binary"
            reason = reason.removeprefix(f"Cannot read model '{self.model}' (").removesuffix(")")
            # Strip KenLM's own source file and line.
            reason = re.sub(r"^\S+\.cc:\d+ in .*? threw \w+( because `.*?')?[. ]*", "", reason)
            raise ModelError(f"{self.model}: not a language model that KenLM can read ({reason})") from None

    @property
    def order(self) -> int:
        """Length of the longest n-grams."""
        return int(self._kenlm.order)

    def __contains__(self, word: str) -> bool:
        return word in self._kenlm

    def score(self, sentences: Sequence[Sentence]) -> list[FloatArray]:
        """Ln p of each word given the words before it from `<s>` on, and of `</s>` last."""
        full_scores = self._kenlm.full_scores
        return [
            LN10 * np.array([log10 for log10, _, _ in full_scores(" ".join(sentence))], np.float64)
            for sentence in sentences
        ]

    def totals(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n) ln p of each sentence, `</s>` included; summed by KenLM itself, in float32."""
        score = self._kenlm.score
        return LN10 * np.array([score(" ".join(sentence)) for sentence in sentences], np.float64)

    def unigram(self, word: str) -> float:
        """Ln p(word) without context."""
        model = self._kenlm  # before the import, which it explains if it fails
        import kenlm

        empty = kenlm.State()
        model.NullContextWrite(empty)
        return LN10 * float(model.BaseScore(empty, word, kenlm.State()))

    def start(self) -> Any:
        """The state after `<s>`."""
        model = self._kenlm
        import kenlm

        state = kenlm.State()
        model.BeginSentenceWrite(state)
        return state

    def advance(self, state: Any, word: str) -> tuple[float, Any]:
        """Ln p(word | state), and the state after the word, a new object."""
        next_state = state.__class__()
        log10 = self._kenlm.BaseScore(state, word, next_state)
        return LN10 * log10, next_state

    def finish(self, state: Any) -> float:
        """Ln p(</s> | state)."""
        return self.advance(state, "</s>")[0]


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
        from rerank_plugins.ngram.model import NgramModel

        return shared_if_embedded(self.model or EMBEDDED, NgramModel.load)

    @property
    def order(self) -> int:
        """Length of the longest n-grams."""
        return self._binary.order if self._binary else self.ngrams.stored.order

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

        return score_text(self.ngrams.stored, self.ngrams.vocabulary.encode(sentences))[0]

    @property
    def _counts(self) -> FloatArray:
        """(V) the count of each word, of `</s>`, and of `<unk>`, which is 1 or more. Raises ModelError without counts.

        The model's own 1-grams are no unigram model: those of Kneser–Ney count the words that a word follows.
        """
        if self.ngrams.counts is None:
            raise ModelError(
                f"{self.model}: holds no counts of words, as an ARPA file or a model of an earlier version: name a "
                "unigram model of its text with the option 'unigram', or train the model again"
            )
        counts = self.ngrams.counts.astype(np.float64)
        counts[UNK], counts[BOS] = max(1.0, counts[UNK]), 0.0
        return counts

    @cached_property
    def _ln_unigrams(self) -> FloatArray:
        """(V) ln p of each word by its count, of `</s>`, and of all unknown words together."""
        counts = self._counts
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(counts / counts.sum()), np.float64)

    def ln_frequencies(self) -> dict[str, float]:
        """Ln of the relative frequency of each word, of `</s>`, and, as `<unk>`, of a word that occurs once.

        Raises ModelError for a model without counts.
        """
        counts, words = self._counts, self.ngrams.vocabulary.words
        total, counts[UNK] = counts.sum(), 1.0
        return {words[number]: math.log(counts[number] / total) for number in np.flatnonzero(counts).tolist()}

    def unigram_scores(self, sentences: Sequence[Sentence]) -> list[FloatArray]:
        """Ln p of each word, `</s>` last, by its count in the training text; an unknown word has that of `<unk>`.

        Raises ModelError for a model without counts.
        """
        return _cut(self._ln_unigrams[self.ngrams.vocabulary.encode(sentences)], sentences)

    def start(self) -> State:
        """The state after `<s>`."""
        if self._binary:
            return self._binary.start()
        from rerank_plugins.kit.backoff.scoring import context_after

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
        from rerank_plugins.kit.backoff.scoring import score_steps

        contexts, lengths = np.array(states, np.int64).reshape(-1, 2).T.copy()
        ln_p, _, after = score_steps(self.ngrams.stored, contexts, lengths, np.array(numbers, np.int64))
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
