"""The stores of the best derivation, word by word, as the papers' figures show them."""

from collections.abc import Sequence

from rerank_plugins.hhmm.derivation import Replay, completion, steps
from rerank_plugins.hhmm.model import HhmmModel


def store_sequence(model: HhmmModel, sentence: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the stores of the best complete derivation after each word, as ("S/VP", "VB"); no stores if there is none.

    This is the shaded path in figure 5 of Schwartz et al. (2011). The model must keep derivations.
    """
    beam = model.start()
    for word in sentence:
        beam = model.advance(beam, word)[1]
    complete, row = completion(model, beam)
    if complete is None or beam.unparsed:
        return []
    replay, stores = Replay(model.grammar), []
    for step in steps(model, beam, row):
        replay.take(step, sentence[step.position])
        stores.append(_names(replay))
    return stores


def _names(replay: Replay) -> tuple[str, ...]:
    """The elements as a/b, then the preterminal of the last word where an element of its own holds it."""
    names = replay.grammar.symbols
    elements = [f"{names[active.symbol]}/{names[awaited]}" for active, _, awaited in replay.elements]
    return (*elements, names[replay.done.symbol]) if replay.done and replay.within else tuple(elements)
