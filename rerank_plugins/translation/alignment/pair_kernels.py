"""ln p and best links of a pair of sentences, of whose words the translation probabilities have been looked up.

Both are functions of the given and the generated words of one direction. `t` (m, l) and `t_null` (m) are the
probabilities of the generated words, `shares` the positions (positions.py), which are diagonal unless `is_hmm`.
"""

from __future__ import annotations

from math import log
from typing import Any

from rerank_plugins.kit.kernels import filling_kernel, part, place_of
from rerank_plugins.translation.alignment.hmm_expectation import forward
from rerank_plugins.translation.alignment.positions import fill_diagonal, fill_transitions

NO_LINK = -1


@part
def fill_positions(is_hmm: bool, tension: float, jumps: Any, given: int, generated: int, shares: Any) -> None:
    """Fill in the position probabilities of a pair."""
    if is_hmm:
        fill_transitions(jumps, given, shares, 0)
    else:
        fill_diagonal(tension, given, generated, shares, 0)


@part
def ln_pair(
    is_hmm: bool, given: int, generated: int, t: Any, t_null: Any, null: float, shares: Any, states: Any, scales: Any
) -> float:
    """Return ln p(generated | given)."""
    if is_hmm:
        return forward(given, generated, t, t_null, null, shares, 0, states, scales)
    total = 0.0
    for j in range(generated):
        sum_ = 0.0
        for i in range(given):
            sum_ += shares[j * given + i] * t[j, i]
        total += log(null * t_null[j] + (1.0 - null) * sum_)
    return total


@part
def best_links(
    is_hmm: bool, given: int, generated: int, t: Any, t_null: Any, null: float, shares: Any, states: Any, came: Any,
    links: Any, start: int,
) -> None:  # fmt: skip
    """Fill in the given word that each generated word is aligned to, or NO_LINK, in the most probable alignment.

    `states` (m + 1, l + 1) and the whole numbers `came` (m, l + 1) are space for work; `came` gets the position before
    position i, or NO_LINK where the word is aligned to NULL.
    """
    if not is_hmm:
        for j in range(generated):
            best, links[start + j] = null * t_null[j], NO_LINK
            for i in range(given):
                value = (1.0 - null) * shares[j * given + i] * t[j, i]
                if value > best:
                    best, links[start + j] = value, i
        return
    states[0, 0] = 1.0
    states[0, 1 : given + 1] = 0.0
    for j in range(generated):
        highest = 0.0
        for i in range(given + 1):
            states[j + 1, i] = null * t_null[j] * states[j, i]
            came[j, i] = NO_LINK
            if i > 0:
                of_word = (1.0 - null) * t[j, i - 1]
                for before in range(given + 1):
                    value = states[j, before] * shares[before * given + i - 1] * of_word
                    if value > states[j + 1, i]:
                        states[j + 1, i] = value
                        came[j, i] = before
            highest = max(highest, states[j + 1, i])
        for i in range(given + 1):
            states[j + 1, i] /= highest
    at = 0
    for i in range(given + 1):
        if states[generated, i] > states[generated, at]:
            at = i
    for j in range(generated - 1, -1, -1):
        links[start + j] = NO_LINK
        if came[j, at] != NO_LINK:
            links[start + j] = at - 1
            at = came[j, at]


@filling_kernel
def look_up(
    starts: Any, targets: Any, t_forward: Any, t_backward: Any, source: Any, distinct: Any, floor: float,
    forward_t: Any, backward_t: Any,
) -> None:  # fmt: skip
    """Fill in t(target | source), (l, D), and t(source | target), of source tokens and distinct target words.

    An unknown word is -1. No probability is below `floor`.
    """
    for i in range(len(source)):
        for word in range(len(distinct)):
            forward_t[i, word] = backward_t[i, word] = floor
            if source[i] >= 0 and distinct[word] >= 0:
                place = place_of(targets, starts[source[i]], starts[source[i] + 1], distinct[word])
                if place >= 0:
                    forward_t[i, word] = max(floor, t_forward[place])
                    backward_t[i, word] = max(floor, t_backward[place])
