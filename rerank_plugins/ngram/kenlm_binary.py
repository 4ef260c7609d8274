"""KenLM's binary files of n-gram models.

A KenLM binary is queried through the package kenlm (Heafield 2011), the extra `kenlm`, which lists no n-grams: there
are neither samples nor unigrams. KenLM stores log10 p in float32, so that sums over a sentence agree with those of a
double-precision reader of the same ARPA file to about 1e-4. Its vocabulary rules apply: an unknown word has the
probability of `<unk>`, or log10 p = -100 where the file has no `<unk>`. `<s>` and `</s>` are unknown as words of a
sentence, whereas KenLM's own `query` scores them as the marks that they look like. A word with an apostrophe that it
does not know is looked up with the other apostrophes. A query costs about 0.4 µs a word.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from rerank_plugins import FloatArray, LanguageModel, ModelError, PickledFields, Sentence
from rerank_plugins.core.brackets_and_quotes import has_apostrophe, other_apostrophes
from rerank_plugins.core.interfaces import minus_unknown
from rerank_plugins.core.logarithms import LN10
from rerank_plugins.kit.vocabulary.unigrams import MARKS
from rerank_plugins.kit.vocabulary.unknown_types import divide_unknown

UNKNOWN_WORD = "<unk>"


@dataclass(frozen=True)
class KenlmBinary(LanguageModel, PickledFields):
    """A file that is read by KenLM. Natural logs; states are `kenlm.State` objects.

    Words that it does not know share the probability of `<unk>` as so many `unknown_types`. The file is loaded on first
    use; a pickled copy holds only the path. Raises ModelError for a file that is missing, cut short or of another kind,
    and where the package kenlm is missing.
    """

    model: Path
    unknown_types: int = 1

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
        return self._known_as(word) in self._kenlm

    def _known_as(self, word: str) -> str:
        """The spelling by which KenLM is asked for a word of a sentence."""
        if word in MARKS:
            return UNKNOWN_WORD
        if has_apostrophe(word) and word not in self._kenlm:
            return next((form for form in other_apostrophes(word) if form in self._kenlm), word)
        return word

    def _joined(self, sentence: Sentence) -> str:
        """The words as KenLM's Python module takes them."""
        return " ".join(map(self._known_as, sentence))

    def score(self, sentences: Sequence[Sentence]) -> list[FloatArray]:
        """Ln p of each word given the words before it from `<s>` on, and of `</s>` last."""
        full_scores = self._kenlm.full_scores
        scores = []
        for sentence in sentences:
            values = [*full_scores(self._joined(sentence))]
            ln_p = LN10 * np.array([log10 for log10, _, _ in values], np.float64)
            divide_unknown(ln_p, np.array([is_unknown for _, _, is_unknown in values], np.bool_), self.unknown_types)
            scores.append(ln_p)
        return scores

    def totals(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n) ln p of each sentence, `</s>` included; summed by KenLM itself, in float32."""
        score = self._kenlm.score
        totals = LN10 * np.array([score(self._joined(sentence)) for sentence in sentences], np.float64)
        if self.unknown_types > 1:
            totals += minus_unknown(sentences, self) * math.log(self.unknown_types)
        return totals

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
        ln_p, next_state = self._step(state, self._known_as(word))
        if self.unknown_types > 1 and word not in self:
            ln_p -= math.log(self.unknown_types)
        return ln_p, next_state

    def _step(self, state: Any, word: str) -> tuple[float, Any]:
        next_state = state.__class__()
        return LN10 * self._kenlm.BaseScore(state, word, next_state), next_state

    def finish(self, state: Any) -> float:
        """Ln p(</s> | state)."""
        return self._step(state, "</s>")[0]
