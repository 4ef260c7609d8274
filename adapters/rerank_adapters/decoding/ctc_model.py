"""Any incremental language model as the language model of pyctcdecode.

pyctcdecode (0.5) adds alpha · ln p(word | history) + beta to a beam for each word that ends, with `</s>` after the last
one. Its own KenLM model converts KenLM's log10 to natural logs before it multiplies by alpha; our models give natural
logs. So alpha and beta mean the same in both, and so does `unk_score_offset`, which stays in pyctcdecode's unit, log10.
The two differ in one case: where a beam ends with a space, pyctcdecode scores the empty word at the end, which its
own model scores as an unknown word, and this one as no word at all.

pyctcdecode needs methods, not a base class, so that this module does not import it.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from rerank_adapters.decoding.beam_scorer import BeamScorer, Prefix
from rerank_plugins import IncrementalLM
from rerank_plugins.core.logarithms import LN10
from rerank_plugins.ngram.mixture import MixtureLanguageModel

TYPICAL = 6  # characters of a word: the penalty of an unknown beginning grows with its length beyond this


class CtcLanguageModel:
    """The `language_model` of pyctcdecode's `BeamSearchDecoderCTC`, over any `IncrementalLM`.

    `model`             n-grams, HHMM, referential, a mixture of them, or any `IncrementalLM`; natural logs
    `unigrams`          the known words in the decoder's spelling. With them, a beam is penalised as soon as no known
                        word begins like its unfinished word; without, known words are those that the model contains,
                        and unfinished words are not judged
    `alpha`             weight of ln p
    `beta`              added for each word
    `unk_score_offset`  added to log10 p of an unknown word, and to the score of an unfinished word that can only become
                        one (there times its length / 6 where it has more than 6 characters), as in pyctcdecode
    `score_boundary`    whether ln p(</s>) counts at the end; the model always starts after `<s>`
    `tokens`, `kept`    the words of the model that a decoder's word stands for, and the number of states kept in memory
                        (see `BeamScorer`)
    """

    def __init__(
        self,
        model: IncrementalLM[Any],
        unigrams: Iterable[str] | None = None,
        alpha: float = 0.5,
        beta: float = 1.5,
        unk_score_offset: float = -10.0,
        score_boundary: bool = True,
        *,
        tokens: Callable[[str], Sequence[str]] | None = None,
        kept: int = 10_000,
    ) -> None:
        self.scorer = BeamScorer(model, kept, tokens)
        self._known = None if unigrams is None else frozenset(unigrams)
        self._sorted = sorted(self._known or ())
        self.alpha = alpha
        self.beta = beta
        self.unk_score_offset = unk_score_offset
        self.score_boundary = score_boundary

    @property
    def order(self) -> int:
        """How many words, the next one included, decide its ln p; `sys.maxsize` for a model without that bound.

        pyctcdecode may drop a beam that ends in the same order − 1 words as a better one. It cannot be known how many
        words those are in the model where the decoder's words stand for others, so that there is no bound then.
        """
        return sys.maxsize if self.scorer.tokens is not None else order_of(self.scorer.model)

    def get_start_state(self) -> Prefix:
        """The state before the first word."""
        return self.scorer.start()

    def score(self, prev_state: Prefix, word: str, is_last_word: bool = False) -> tuple[float, Prefix]:
        """The weighted score of a word, with that of `</s>` if it is the last one, and the state after the word."""
        ln_p, state, words = 0.0, prev_state, 0
        if word:
            ln_p, state = self.scorer.advance(prev_state, word)
            words = 1
            if not self.knows(word):
                ln_p += LN10 * self.unk_score_offset
        if is_last_word and self.score_boundary:
            ln_p += self.scorer.finish(state)
        return self.alpha * ln_p + self.beta * words, state

    def knows(self, word: str) -> bool:
        """Whether the word is one of the unigrams or, without these, made of words that the model contains."""
        if self._known is not None:
            return word in self._known
        tokens = (word,) if self.scorer.tokens is None else self.scorer.tokens(word)
        model: Any = self.scorer.model
        return not hasattr(model, "__contains__") or all(token in model for token in tokens)

    def score_partial_token(self, partial_token: str) -> float:
        """The penalty of an unfinished word: 0 where a known word begins like it, or no unigrams were given."""
        if self._known is None:
            return 0.0
        place = bisect_left(self._sorted, partial_token)
        if place < len(self._sorted) and self._sorted[place].startswith(partial_token):
            return 0.0
        return self.unk_score_offset * max(1.0, len(partial_token) / TYPICAL)

    def reset_params(
        self,
        *,
        alpha: float | None = None,
        beta: float | None = None,
        unk_score_offset: float | None = None,
        score_boundary: bool | None = None,
    ) -> None:
        """Change some of the weights, as `BeamSearchDecoderCTC.reset_params` does; None keeps the value."""
        self.alpha = self.alpha if alpha is None else alpha
        self.beta = self.beta if beta is None else beta
        self.unk_score_offset = self.unk_score_offset if unk_score_offset is None else unk_score_offset
        self.score_boundary = self.score_boundary if score_boundary is None else score_boundary

    def save_to_dir(self, filepath: str) -> NoReturn:
        """Raises NotImplementedError: pyctcdecode reads back KenLM models only."""
        raise NotImplementedError(
            f"{filepath}: pyctcdecode can only load decoders with a KenLM model; keep the model's own file, and build "
            "the decoder from it again"
        )


def order_of(model: Any) -> int:
    """The order of an n-gram model, the highest one of a mixture of such models, `sys.maxsize` for others."""
    if isinstance(model, MixtureLanguageModel):
        return max(map(order_of, model.models))
    return int(getattr(model, "order", sys.maxsize))
