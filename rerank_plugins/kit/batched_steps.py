"""Takes steps of an incremental language model for many states: in one call if the model can, else one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.interfaces import BatchedLM, IncrementalLM


def advance_all(model: IncrementalLM[Any], states: Sequence[Any], words: Sequence[str]) -> tuple[FloatArray, list[Any]]:
    """(n) states and their next words -> (n) ln p(word | state), and the (n) states after them."""
    if isinstance(model, BatchedLM):
        return model.advance_all(states, words)
    ln_p, after = np.empty(len(states)), []
    for i, (state, word) in enumerate(zip(states, words, strict=True)):
        ln_p[i], next_state = model.advance(state, word)
        after.append(next_state)
    return ln_p, after


def finish_all(model: IncrementalLM[Any], states: Sequence[Any]) -> FloatArray:
    """(n) states -> (n) ln p(</s> | state)."""
    if isinstance(model, BatchedLM):
        return model.finish_all(states)
    return np.array([model.finish(state) for state in states], np.float64)
