"""Any incremental language model as the language model of flashlight-text's decoders (also those of torchaudio).

Flashlight's decoders know words by number, and histories as a trie of `LMState` objects: the state after word i is
`state.child(i)`, and beams with the same object are one beam. Scores are natural logs. KenLM's in flashlight are log10,
so that a weight for those is ln 10 = 2.3 times the weight for these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rerank_adapters.decoding.beam_scorer import BeamScorer, Prefix
from rerank_plugins.core.errors import ModelError
from rerank_plugins.core.interfaces import IncrementalLM


class FlashlightModel:
    """The methods of flashlight's `LM` (start, score, finish) over a scorer, for one decoder at a time.

    `scorer`     the language model
    `words`      the word of each number of the decoder's word dictionary
    `new_state`  makes the first state of a sentence: flashlight's class `LMState`, or anything whose `child(number)` is
                 the same object for the same number
    """

    def __init__(self, scorer: BeamScorer, words: Sequence[str], new_state: Callable[[], Any]) -> None:
        self.scorer = scorer
        self.words = words
        self.new_state = new_state
        self._prefixes: dict[Any, Prefix] = {}  # it keeps the states alive, too: flashlight compares objects

    def start(self, start_with_nothing: bool) -> Any:  # noqa: ARG002
        """The state before the first word; the states of the sentence before are forgotten.

        The model starts after `<s>` whatever the value of `start_with_nothing`: an `IncrementalLM` has no other start.
        """
        self._prefixes.clear()
        state = self.new_state()
        self._prefixes[state] = self.scorer.start()
        return state

    def score(self, state: Any, number: int) -> tuple[Any, float]:
        """The state after the word of this number, and ln p(word | state)."""
        ln_p, prefix = self.scorer.advance(self._prefixes[state], self.words[number])
        after = state.child(number)
        self._prefixes[after] = prefix
        return after, ln_p

    def finish(self, state: Any) -> tuple[Any, float]:
        """The same state, and ln p(</s> | state)."""
        return state, self.scorer.finish(self._prefixes[state])


def flashlight_model(
    model: IncrementalLM[Any],
    words: Sequence[str],
    *,
    tokens: Callable[[str], Sequence[str]] | None = None,
    kept: int = 10_000,
) -> Any:
    """An `LM` for the decoders of flashlight-text, whose word dictionary has these words in this order.

    `tokens` and `kept` are those of `BeamScorer`. Raises ModelError where flashlight-text is not installed.
    """
    try:
        from flashlight.lib.text.decoder import LM, LMState
    except ImportError:
        raise ModelError("a model for flashlight's decoders needs the package flashlight-text: install it") from None

    class Model(FlashlightModel, LM):  # type: ignore[misc]
        def __init__(self) -> None:
            LM.__init__(self)
            FlashlightModel.__init__(self, BeamScorer(model, kept, tokens), words, LMState)

    return Model()
