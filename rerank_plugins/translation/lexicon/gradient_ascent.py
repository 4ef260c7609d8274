"""The kernel of training: stochastic gradient ascent over sentence pairs, for a block of target words."""

from __future__ import annotations

import math

import numpy as np

from rerank_plugins.kit.kernels import filling_kernel

LEAST = np.float32(-8.0)  # log odds below this have p < 3.4e-4, which is left out of the gradient


@filling_kernel
def visit_pairs(  # type: ignore[no-untyped-def]
    order, sources, source_starts, targets, target_starts, rate, weights, log_odds, active
):
    """Move `weights` (source words, block) along the gradient of each pair of `order`; return the log-likelihood.

    Pair s has the distinct source words sources[source_starts[s]:source_starts[s + 1]] (0, the bias, is one of them)
    and, of the block, the distinct target words targets[target_starts[s]:target_starts[s + 1]]. `rate` is the step;
    with 0 nothing is changed. `log_odds` (block) and `active` (block) are scratch.
    """
    width = weights.shape[1]
    likelihood = 0.0
    for s in order:
        for t in range(width):
            log_odds[t] = 0
        for i in range(source_starts[s], source_starts[s + 1]):
            row = weights[sources[i]]
            for t in range(width):
                log_odds[t] += row[t]
        size = 0
        for t in range(width):
            if log_odds[t] > LEAST:
                active[size] = t
                size += 1
        for i in range(target_starts[s], target_starts[s + 1]):
            t = targets[i]
            likelihood += log_odds[t]
            if log_odds[t] <= LEAST:
                active[size] = t
                size += 1
        for k in range(size):  # ln(1 + e^z) and p = 1 / (1 + e^-z), without overflow
            z = log_odds[active[k]]
            small = math.exp(-abs(z))
            likelihood -= max(z, np.float32(0)) + math.log1p(small)
            log_odds[active[k]] = 1 / (1 + small) if z >= 0 else small / (1 + small)
        if rate > 0:
            for i in range(target_starts[s], target_starts[s + 1]):
                log_odds[targets[i]] -= 1  # p - 1 for words that are there, p for others
            for i in range(source_starts[s], source_starts[s + 1]):
                row = weights[sources[i]]
                for k in range(size):
                    row[active[k]] -= rate * log_odds[active[k]]
    return likelihood
