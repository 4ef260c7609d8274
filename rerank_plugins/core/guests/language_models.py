"""The contract of language models: natural logs of probabilities, n + 1 for n words or one for a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rerank_plugins.core.guests.arrays import ROUNDING, finite, logarithms, numbers, several, type_of
from rerank_plugins.core.guests.calls import Call, quoted


def score(call: Call, value: Any) -> Any:
    """One array of n + 1 values, that of `</s>` last, for each sentence."""
    sentences = call.given[0]
    if not isinstance(value, list | tuple) or len(value) != len(sentences):
        raise call.wanted(several(value), f"a list of {len(sentences)} arrays, one for each sentence")
    if _all_right(value, sentences):
        return value
    for sentence, values in zip(sentences, value, strict=True):
        logarithms(call, values, len(sentence) + 1, "(words and </s>)", f"sentence {quoted(sentence)}")
    return value


def _all_right(arrays: Sequence[Any], sentences: Sequence[Sequence[str]]) -> bool:
    """Whether no array need be looked at by itself: a check of all numbers at once takes a quarter of the time."""
    if not all(
        type(values) is np.ndarray and values.dtype == np.float64 and values.shape == (len(sentence) + 1,)
        for sentence, values in zip(sentences, arrays, strict=True)
    ):
        return False
    flat = np.concatenate([np.empty(0), *arrays])
    return bool((flat <= ROUNDING).all() and np.isfinite(flat).all())


def totals(call: Call, value: Any) -> Any:
    """(n) ln p, one for each sentence."""
    sentences = call.given[0]
    values = numbers(call, value, (len(sentences),), "(sentences)")
    finite(call, values, lambda at: f"sentence {quoted(sentences[at[0]])}")
    for sentence, ln_p in zip(sentences, values.tolist(), strict=True):
        if ln_p > ROUNDING * (len(sentence) + 1):
            raise call.wanted(f"ln p = {ln_p:g}", "0 or less", f"sentence {quoted(sentence)}")
    return value


def word_values(call: Call, value: Any) -> Any:
    """None, or for each sentence a finite number for each word and perhaps one for its end."""
    return None if value is None else by_word(call, value, call.given[0])


def by_word(call: Call, value: Any, sentences: Any) -> Any:
    """Finite numbers for the words of each sentence, with or without one for its end."""
    if not isinstance(value, list | tuple) or len(value) != len(sentences):
        raise call.wanted(several(value), f"None, or a list of {len(sentences)} arrays")
    for sentence, values in zip(sentences, value, strict=True):
        where = f"sentence {quoted(sentence)}"
        of_words = numbers(call, values, (None,), "(words) or (words and </s>)", where)
        if len(of_words) - len(sentence) not in (0, 1):
            raise call.wanted(f"{len(of_words)} values", f"{len(sentence)} or {len(sentence) + 1}", where)
        finite(call, of_words, lambda at: f"value {at[0] + 1}", where)
    return value


def values(call: Call, value: Any) -> Any:
    """(n, components) finite numbers."""
    sentences, names = call.given[0], call.plugin.components
    found = numbers(call, value, (len(sentences), len(names)), "(sentences, components)")
    finite(
        call,
        found,
        lambda at: f"{f'component {names[at[1]]!r}, ' if names[at[1]] else ''}sentence {quoted(sentences[at[0]])}",
    )
    return value


def advance(call: Call, value: Any) -> Any:
    """(ln p of the word, the state after it)."""
    if not isinstance(value, tuple) or len(value) != 2:
        raise call.wanted(type_of(value), "the pair (ln p, state)", f"word {call.given[1]!r}")
    _step(call, value[0], f"word {call.given[1]!r}")
    return value


def finish(call: Call, value: Any) -> Any:
    """Ln p of `</s>`."""
    _step(call, value, "</s>")
    return value


def _step(call: Call, ln_p: Any, where: str) -> None:
    if isinstance(ln_p, float) and -float("inf") < ln_p <= ROUNDING:  # np.float64 is a float
        return
    numbers(call, ln_p, (), "()", where)
    raise call.wanted(f"ln p = {ln_p:g}", "a finite number of 0 or less", where)


def advance_all(call: Call, value: Any) -> Any:
    """((n) ln p, the (n) states after them)."""
    number = len(call.given[0])
    if not isinstance(value, tuple) or len(value) != 2:
        raise call.wanted(type_of(value), "the pair (array of ln p, states)")
    _steps(call, value[0], number)
    if not hasattr(value[1], "__len__") or len(value[1]) != number:
        raise call.wanted(several(value[1]), f"{number} states")
    return value


def finish_all(call: Call, value: Any) -> Any:
    """(n) ln p of `</s>`."""
    _steps(call, value, len(call.given[0]))
    return value


def _steps(call: Call, value: Any, number: int) -> None:
    logarithms(call, value, number, "(states)", f"{number} states")
