"""The score of a substitute: the sum of log p over the n-gram windows that contain its position (Yuret 2012, eq. 4, 5).

For a word w between the words x before it and c_1 c_2 … after it, a model of order n scores

    S(w) = log p(w | x) + Σ_{j=1}^{n-1} log p(c_j | x w c_1 … c_{j-1})

with as many of the words x as the window holds, and no further than `</s>`. The score of the whole sentence with w in
this position is S(w) plus a sum that is the same for all w. Scores inside this package are log10, in 64 bits.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from rerank_plugins import FloatArray, IntArray, LongArray
from rerank_plugins.kit.backoff.scoring import look_up, unseen_symbols
from rerank_plugins.kit.kernels import filling_kernel, part


@part
def score_word(
    contexts: NDArray[Any],
    events: NDArray[Any],
    levels: LongArray,
    unseen: float,
    left: int,
    length: int,
    right: IntArray,
    word: int,
) -> float:
    """S(word), where `left` is the longest known context of the `length` tokens before it, `right` c_1 c_2 …."""
    score = 0.0
    context = int(left)
    symbol = int(word)
    for j in range(len(right) + 1):
        if unseen != 0.0:
            score += unseen * unseen_symbols(levels, context, length + j)
        term, event = look_up(contexts, events, context, symbol)
        score += term
        if j < len(right):
            context = int(events[event]["next"])
            symbol = int(right[j])
    return score


@filling_kernel
def step(contexts: NDArray[Any], events: NDArray[Any], context: int, token: int, bos: int) -> int:
    """The longest known context after a token, the start of a sentence included."""
    if token == bos:
        return int(events[bos]["next"])
    _, event = look_up(contexts, events, context, int(token))
    return int(events[event]["next"])


@part
def window_end(tokens: IntArray, place: int, order: int, eos: int) -> int:
    """The end of the last n-gram window that contains the position and lies in its sentence."""
    end = place + 1
    while end < place + order and tokens[end - 1] != eos:
        end += 1
    return end


@part
def begin_of_sentence(tokens: IntArray, place: int, bos: int) -> int:
    """The position of the `bos` with which the sentence of a position begins."""
    while tokens[place] != bos:
        place -= 1
    return place


@part
def read_up_to(
    contexts: NDArray[Any],
    events: NDArray[Any],
    tokens: IntArray,
    place: int,
    bos: int,
    at: int,
    start: int,
    context: int,
) -> tuple[int, int]:
    """Read the tokens from `at` to a position: where its sentence begins, and the longest known context before it."""
    while at < place:
        if tokens[at] == bos:
            start = at
        context = step(contexts, events, context, tokens[at], bos)
        at += 1
    return start, context


@filling_kernel
def score_places(
    contexts: NDArray[Any], events: NDArray[Any], levels: LongArray, unseen: float, tokens: IntArray, places: LongArray,
    bos: int, eos: int, words: IntArray, scores: FloatArray,
) -> None:  # fmt: skip
    """Fill in S of one word at each of some ascending positions in sentences from `bos` to `eos`."""
    order = len(levels) - 1
    start = 0
    context = 0
    at = begin_of_sentence(tokens, places[0], bos) if len(places) > 0 else 0
    for row in range(len(places)):
        place = places[row]
        start, context = read_up_to(contexts, events, tokens, place, bos, at, start, context)
        at = place
        right = tokens[place + 1 : window_end(tokens, place, order, eos)]
        scores[row] = score_word(contexts, events, levels, unseen, context, place - start, right, words[row])
