"""An incremental syntactic language model inside the search, beside the n-gram model (Schwartz et al. 2011, section 3).

A hypothesis carries two states: that of the n-gram model and a beam of stores, the paper's τ. Words of a phrase are
added one by one (its δ). Hypotheses are recombined where coverage, n-gram state and likeliest store agree; asking for
equal beams would hardly ever find two. Of recombined hypotheses the one that came first passes its beam on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from decoder.kneser_ney import Gram
from decoder.language_model import LanguageModel
from decoder.language_model import State as NgramState


@dataclass(frozen=True)
class State:
    """What the two models know; equal where the n-gram states and the likeliest stores are."""

    ngram: NgramState
    store: tuple[int, ...]
    beam: Any = field(compare=False)


class Syntactic:
    """Two models in the place of one: ln p by n-grams plus `ratio` times ln p by an incremental language model.

    `ratio` is the weight of the second over that of the first; `model` has start, advance and finish (see
    rerank_plugins.interfaces.IncrementalLM), and its states have `best`, a store.
    """

    def __init__(self, ngrams: LanguageModel, model: Any, ratio: float) -> None:
        self.ngrams, self.model, self.ratio = ngrams, model, ratio
        first = model.start()
        self.START = State(ngrams.START, first.best, first)
        self._known: dict[tuple[int, str], tuple[float, Any]] = {}

    def reset(self) -> None:
        """Forget the beams of a sentence that is done."""
        self._known.clear()

    def extend(self, state: State | tuple[()], words: Gram) -> tuple[float, State | NgramState]:
        """Score of the words after the state, and the state after them; without a state (), by n-grams alone."""
        if not isinstance(state, State):
            return self.ngrams.extend(state, words)
        total, after = self.ngrams.extend(state.ngram, words)
        beam = state.beam
        for word in words:
            if word == "</s>":
                total += self.ratio * self.model.finish(beam)
            else:
                ln_p, beam = self._advance(beam, word)
                total += self.ratio * ln_p
        return total, State(after, beam.best, beam)

    def _advance(self, beam: Any, word: str) -> tuple[float, Any]:
        """The model's step, remembered for this beam object: phrases with the same first words share them."""
        key = (id(beam), word)
        if key not in self._known:
            self._known[key] = (*self.model.advance(beam, word), beam)  # the beam is kept, so its id stays its own
        ln_p, after, _ = self._known[key]
        return ln_p, after
