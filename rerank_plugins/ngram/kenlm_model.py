"""KenLM's binary files, queried through the package kenlm (Heafield 2011), which is the extra `kenlm`.

KenLM stores log10 p in float32: sums over a sentence agree with those of a double-precision reader of the same ARPA
file to about 1e-4. KenLM's vocabulary rules apply: an unknown word has the probability of `<unk>`, or log10 p = -100
where the file has no `<unk>`. Estimation is not supported, nor is access to the words and n-grams, which KenLM's
Python module does not list. A query costs O(order) per word, about 0.4 µs. ARPA files need no KenLM: language_model.py
reads them.
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

from rerank_plugins.core.arrays import FloatArray, LongArray
from rerank_plugins.core.errors import ModelError
from rerank_plugins.core.interfaces import LanguageModel, Sentence
from rerank_plugins.core.pickling import PickledFields

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

    def matches(self, sentences: Sequence[Sentence]) -> list[LongArray]:
        """The length (1 to the order) of the longest n-gram in the model that ends at each word, and at `</s>` last."""
        full_scores = self._kenlm.full_scores
        return [np.array([length for _, length, _ in full_scores(" ".join(s))], np.int64) for s in sentences]

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
