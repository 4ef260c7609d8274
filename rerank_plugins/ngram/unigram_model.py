"""Word frequencies as a language model: the embedded English table, the counts of an n-gram model, or its 1-grams.

As a feature, total = sum_i ln p(e_i), and per word = total / |e|. `</s>` is not counted there, so the total falls with
every word, and the per-word value separates common words from rare ones. The empty hypothesis has total 0 and, per
word, ln p(unknown word), the lowest value of all.

kit/vocabulary/unigrams.py defines the probabilities, and how brackets, quotation marks and the model's special
tokens are looked up. Loading reads the table (55,503 words, 0.05 s), or the file up to its 2-grams; a query is a
dictionary look-up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from rerank_plugins import FloatArray, LanguageModel, ModelError, PickledFields, Sentence, option
from rerank_plugins.kit.files.model_file import model_kind
from rerank_plugins.kit.vocabulary.unigrams import Case, UnigramModel, embedded_unigrams
from rerank_plugins.ngram.arpa_files import is_kenlm_binary
from rerank_plugins.ngram.kenlm_binary import KenlmBinary
from rerank_plugins.ngram.language_model import NgramLanguageModel


@dataclass(frozen=True)
class UnigramLanguageModel(LanguageModel, PickledFields):
    """Unigram ln p of the words: total and per word, from embedded English, or the counts or 1-grams of a model.

    Natural logs. Raises ModelError for a file that is missing, cut short or of another kind.
    """

    model: Path | None = option(
        None,
        doc="model of `rerank train ngram`, ARPA file or KenLM binary; default: the embedded English word frequencies",
    )
    case: Case = option(
        "fallback",
        doc="look up the exact form (exact), all casings together (ignore), or these for unknown forms only (fallback)",
    )

    components = ("total", "per_word")

    def __contains__(self, word: str) -> bool:
        return self._unigrams.look_up(word) is not None

    def score(self, sentences: Sequence[Sentence]) -> list[FloatArray]:
        """Ln p of each word, `</s>` last."""
        ln, end = self.ln, self._unigrams.end
        return [np.array([*map(ln, sentence), end]) for sentence in sentences]

    def word_values(self, sentences: Sequence[Sentence]) -> list[FloatArray] | None:
        """Ln p of each word, without `</s>`."""
        return [np.array([self.ln(word) for word in words], np.float64) for words in sentences]

    def values(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n, 2) natural logs, natural logs per word."""
        ln, floor = self.ln, self.ln("<unk>")
        values = np.empty((len(sentences), 2))
        for row, words in enumerate(sentences):
            total = sum(map(ln, words), 0.0)
            values[row] = total, total / len(words) if words else floor
        return values

    def unigram_scores(self, sentences: Sequence[Sentence]) -> list[FloatArray]:
        """The same as `score`."""
        return self.score(sentences)

    def ln(self, word: str) -> float:
        """Ln p(word) of a word of a sentence, where `</s>` and the like are unknown words."""
        return self._unigrams.ln(word)

    def frequencies(self) -> dict[str, float]:
        """Relative frequency of each lower-cased word. Raises ModelError for a KenLM binary, which lists no words."""
        if isinstance(self._unigrams, _BinaryUnigrams):
            raise ModelError(
                f"{self.model}: a KenLM binary cannot list its words: give the ARPA file it was built from"
            )
        return self._unigrams.frequencies()

    @cached_property
    def _unigrams(self) -> UnigramModel:
        if self.model is None:
            return embedded_unigrams(self.case)
        if is_kenlm_binary(self.model):
            return _BinaryUnigrams({}, self.case, KenlmBinary(self.model))
        if model_kind(self.model) is None:
            from rerank_plugins.ngram.arpa_reader import read_unigrams

            return UnigramModel(read_unigrams(self.model), self.case)
        return UnigramModel(NgramLanguageModel(self.model).ln_frequencies(), self.case)


@dataclass(frozen=True)
class _BinaryUnigrams(UnigramModel):
    """The 1-grams of a KenLM binary, which cannot list its words; the first known casing is used."""

    binary: KenlmBinary

    @property
    def unknown(self) -> float:
        """Ln p of an unknown word."""
        return self.binary.unigram("<unk>")

    @property
    def end(self) -> float:
        """Ln p(</s>)."""
        return self.binary.unigram("</s>")

    def cased(self, word: str) -> float | None:
        """Ln p(word) of a word in this spelling, in the casings that `case` allows; None for an unknown one."""
        forms = (word,) if self.case == "exact" else (word, word.lower(), word.capitalize(), word.upper())
        return next((self.binary.unigram(form) for form in forms if form in self.binary), None)
