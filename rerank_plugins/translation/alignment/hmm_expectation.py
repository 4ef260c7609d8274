"""The E step of the HMM alignment model (Vogel, Ney and Tillmann 1996), with NULL as in Och and Ney (2003).

A state is a position i' = 0 … l, and whether the word is aligned to it or to NULL: a word that is aligned to NULL, with
the probability p₀, leaves the position as it was. As what follows depends on the position alone, forward and backward
values are those of positions (forward ones scaled to a sum of 1 after each word):

    a_j(i) = (1 - p₀) t(f_j | e_i) Σ_i' s_{j-1}(i') p(i | i')        aligned to i
    n_j(i) = p₀ t(f_j | NULL) s_{j-1}(i)                             aligned to NULL
    s_j(i) = (a_j(i) + n_j(i)) / z_j                                 z_j = Σ_i a_j(i) + n_j(i)

and ln p = Σ ln z_j. Time is O(m l²).
"""

from __future__ import annotations

from math import log
from typing import Any

from rerank_plugins.kit.kernels import filling_kernel, part
from rerank_plugins.translation.alignment.expectation import ONE


@part
def forward(
    given: int, generated: int, t: Any, t_null: Any, null: float, shares: Any, start: int, states: Any, scales: Any
) -> float:
    """Fill in s and z, and return ln p. `t` (m, l) and `t_null` (m) are the translation probabilities of the pair."""
    states[0, 0] = 1.0
    states[0, 1 : given + 1] = 0.0
    total = 0.0
    for j in range(generated):
        states[j + 1, : given + 1] = 0.0
        at = start
        for before in range(given + 1):
            weight = states[j, before]
            for i in range(given):
                states[j + 1, i + 1] += weight * shares[at + i]
            at += given
        scale = 0.0
        of_null = null * t_null[j]
        for i in range(given + 1):
            word = (1.0 - null) * t[j, i - 1] * states[j + 1, i] if i > 0 else 0.0
            states[j + 1, i] = word + of_null * states[j, i]
            scale += states[j + 1, i]
        for i in range(given + 1):
            states[j + 1, i] /= scale
        scales[j] = scale
        total += log(scale)
    return total


@filling_kernel
def expect_hmm(
    first: int, last: int, given_offsets: Any, offsets: Any, tokens: Any, link_starts: Any, links: Any,
    given_is_source: bool, t: Any, t_null: Any, null: float, shares: Any, share_starts: Any, pair_t: Any,
    pair_null: Any, states: Any, scales: Any, future: Any, weighted: Any, moves: Any, counts: Any, null_counts: Any,
    share_counts: Any, ln_p: Any,
) -> None:  # fmt: skip
    """Add up the expected counts of the sentence pairs `first` … `last`, and fill in their ln p(generated | given).

    The arguments are those of `expect_independent`; `shares` are transitions. With at most l given and m generated
    words, the space for work is `pair_t` (m, l), `pair_null` (m), `states` (m + 1, l + 1), `scales` (m), `future` and
    `weighted` (l + 1), `moves` (l · (l + 1)).
    """
    for sentence in range(first, last):
        given = given_offsets[sentence + 1] - given_offsets[sentence]
        generated = offsets[sentence + 1] - offsets[sentence]
        to_given, to_next = (generated, 1) if given_is_source else (1, given)
        base, at_token, share = link_starts[sentence], offsets[sentence], share_starts[sentence]
        for j in range(generated):
            pair_null[j] = t_null[tokens[at_token + j]]
            for i in range(given):
                pair_t[j, i] = t[links[base + i * to_given + j * to_next]]
        ln_p[sentence] = forward(given, generated, pair_t, pair_null, null, shares, share, states, scales)
        future[: given + 1] = 1.0
        moves[: given * (given + 1)] = 0.0
        for j in range(generated - 1, -1, -1):
            # weighted(i) = (1 - p₀) t b / z, with which the transitions to i from all i' are multiplied.
            for i in range(given):
                weighted[i] = (1.0 - null) * pair_t[j, i] * future[i + 1] / scales[j]
            of_null = null * pair_null[j] / scales[j]
            null_total = 0.0
            at = 0
            for i in range(given):
                pair_t[j, i] = 0.0  # from here on, the posterior of the link
            for before in range(given + 1):
                weight = states[j, before]
                ahead = 0.0
                for i in range(given):
                    way = shares[share + at + i] * weighted[i]
                    ahead += way
                    way *= weight
                    moves[at + i] += way
                    pair_t[j, i] += way
                null_total += weight * of_null * future[before]
                future[before] = ahead + of_null * future[before]
                at += given
            null_counts[tokens[at_token + j]] += int(null_total * ONE + 0.5)
            for i in range(given):
                counts[links[base + i * to_given + j * to_next]] += int(pair_t[j, i] * ONE + 0.5)
        for at in range(given * (given + 1)):
            share_counts[share + at] += int(moves[at] * ONE + 0.5)
