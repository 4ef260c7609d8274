"""The score of a substitute: the sum of log p over the n-gram windows that hold its position (Yuret 2012, eq. 4, 5).

For a word w between the words x before it and c_1 c_2 … after it, a model of order n scores

    S(w) = log p(w | x) + Σ_{j=1}^{n-1} log p(c_j | x w c_1 … c_{j-1})

with as many of the words x as the window holds, and no further than `</s>`. The score of the whole sentence with w in
this place is S(w) plus a sum that is the same for all w. Scores inside this package are log10, in 64 bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from rerank_plugins.models.backoff.scoring import look_up
from rerank_plugins.models.backoff.text_scoring import unseen_symbols


@njit(cache=True, nogil=True)
def contexts_before(contexts: Any, events: Any, tokens: Any) -> Any:
    """(n) the longest known context before each token of a sentence that begins with `<s>` (before `<s>`: 0)."""
    before = np.zeros(len(tokens), np.int64)
    context = np.int64(events[tokens[0]]["next"])
    for i in range(1, len(tokens)):
        before[i] = context
        _, event = look_up(contexts, events, context, tokens[i])
        context = np.int64(events[event]["next"])
    return before


@njit(cache=True, nogil=True)
def score_word(
    contexts: Any, events: Any, levels: Any, unseen: float, left: int, length: int, right: Any, word: int
) -> float:
    """S(word), where `left` is the longest known context of the `length` tokens before it, `right` c_1 c_2 …."""
    score = 0.0
    context = np.int64(left)
    symbol = np.int64(word)
    for j in range(len(right) + 1):
        if unseen != 0.0:
            score += unseen * unseen_symbols(levels, context, length + j)
        term, event = look_up(contexts, events, context, symbol)
        score += term
        if j < len(right):
            context = np.int64(events[event]["next"])
            symbol = np.int64(right[j])
    return score


@njit(cache=True, nogil=True)
def score_every_word(
    contexts: Any, events: Any, levels: Any, unseen: float, left: int, length: int, right: Any, scores: Any
) -> None:
    """Fill in S(w) of every word of the vocabulary."""
    for word in range(len(scores)):
        scores[word] = score_word(contexts, events, levels, unseen, left, length, right, word)
