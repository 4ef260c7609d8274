"""The kernel that aligns a source sentence with the target sentences of a list: ln p of both directions, and links."""

from __future__ import annotations

from typing import Any

from rerank_plugins.kit.kernels import filling_kernel
from rerank_plugins.translation.alignment.pair_kernels import best_links, fill_positions, ln_pair


@filling_kernel
def align_list(
    is_hmm: bool, null: float, tensions: Any, jumps: Any, backward_jumps: Any, tokens: Any, offsets: Any,
    forward_t: Any, backward_t: Any, forward_null: Any, backward_null: Any, with_ln_p: bool, with_forward: bool,
    with_backward: bool, pair_t: Any, pair_null: Any, shares: Any, back_shares: Any, states: Any, scales: Any,
    came: Any, ln_p: Any, forward_links: Any, backward_links: Any,
) -> None:  # fmt: skip
    """Fill in ln p of both directions, (n, 2), and the best links of each.

    The words of target sentence h are `tokens[offsets[h] : offsets[h + 1]]`, columns of `forward_t` and `backward_t`
    (l, D) and indices into `forward_null` (D); `backward_null` (l) is that of the source words. `forward_links` has a
    source word for each token, `backward_links` (n, l) a target word for each source word. A null probability of 0
    stands for 1 / (words + 1), as in model 1. The other arguments are space for work.
    """
    length = len(forward_t)
    if is_hmm:
        fill_positions(is_hmm, 0.0, jumps, length, 0, shares)
    for h in range(len(offsets) - 1):
        start, size = offsets[h], offsets[h + 1] - offsets[h]
        if with_ln_p or with_forward:
            if not is_hmm:
                fill_positions(is_hmm, tensions[0], jumps, length, size, shares)
            for j in range(size):
                word = tokens[start + j]
                pair_null[j] = forward_null[word]
                for i in range(length):
                    pair_t[j, i] = forward_t[i, word]
            share = null if null > 0 else 1.0 / (length + 1)
            if with_ln_p:
                ln_p[h, 0] = ln_pair(is_hmm, length, size, pair_t, pair_null, share, shares, states, scales)
            if with_forward:
                best_links(
                    is_hmm, length, size, pair_t, pair_null, share, shares, states, came, forward_links, start
                )  # fmt: skip
        if with_ln_p or with_backward:
            fill_positions(is_hmm, tensions[1], backward_jumps, size, length, back_shares)
            for i in range(length):
                for j in range(size):
                    pair_t[i, j] = backward_t[i, tokens[start + j]]
            share = null if null > 0 else 1.0 / (size + 1)
            if with_ln_p:
                ln_p[h, 1] = ln_pair(is_hmm, size, length, pair_t, backward_null, share, back_shares, states, scales)
            if with_backward:
                best_links(
                    is_hmm, size, length, pair_t, backward_null, share, back_shares, states, came, backward_links,
                    h * length,
                )  # fmt: skip
