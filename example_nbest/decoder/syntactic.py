"""An incremental syntactic language model for the search (Schwartz et al. 2011, section 3).

A hypothesis carries a beam of stores, the paper's τ; the words of a phrase are added one by one, its δ. Hypotheses are
recombined where coverage, n-gram state and likeliest store agree: asking for equal beams would hardly ever find two.
"""

from __future__ import annotations

from typing import Any

from decoder.beam import Store
from decoder.phrase_table import Phrase


class Syntactic:
    """Ln p of phrases by an incremental language model; steps that were taken before in the sentence are remembered.

    `model` has start, advance and finish (see rerank_plugins.core.interfaces.IncrementalLM); its states have `best`, a
    store.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.start = model.start()
        self.asked = self.computed = 0  # steps
        self._known: dict[tuple[int, str], tuple[float, Any, Any]] = {}

    def reset(self) -> None:
        """Forget the beams of a sentence that is done."""
        self._known.clear()

    def extend(self, beam: Any, words: Phrase) -> tuple[float, Any, Store]:
        """Ln p of the words after the beam, the beam after them, and its likeliest store."""
        total = 0.0
        for word in words:
            key = (id(beam), word)
            self.asked += 1
            if key not in self._known:
                self.computed += 1
                self._known[key] = (*self.model.advance(beam, word), beam)  # kept with its beam: the id stays its own
            ln_p, beam, _ = self._known[key]
            total += ln_p
        return total, beam, beam.best

    def finish(self, beam: Any) -> float:
        """Ln p(</s>) after the beam."""
        ln_p: float = self.model.finish(beam)
        return ln_p
