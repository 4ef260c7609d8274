"""The M step: translation probabilities from expected counts.

    maximum likelihood     t(f | e) = c(f, e) / c(e)
    variational Bayes      t(f | e) = exp(ψ(c(f, e) + α) - ψ(c(e) + α K(e)))

The latter has a symmetric Dirichlet prior with the parameter α over the K(e) words that co-occur with e, as in
fast_align (Dyer, Chahuneau and Smith 2013); its values sum to less than 1. The posterior mean, which sums to 1, is

    (c(f, e) + α) / (c(e) + α K(e))
"""

from __future__ import annotations

from math import exp, lgamma, log
from typing import Any

from rerank_plugins.kit.kernels import filling_kernel, part
from rerank_plugins.translation.alignment.expectation import ONE

RATIO, BAYES = range(2)  # (c + α) / (c(e) + α K(e)), and the values of variational Bayes


@part
def digamma(x: float) -> float:
    """Ψ(x) for x > 0, to 1e-12: the recurrence Ψ(x) = Ψ(x + 1) - 1 / x, and the asymptotic series from 8 on."""
    below = 0.0
    while x < 8.0:
        below += 1.0 / x
        x += 1.0
    square = 1.0 / (x * x)
    series = 1 / 12 - square * (1 / 120 - square * (1 / 252 - square * (1 / 240 - square * (1 / 132))))
    return log(x) - 0.5 / x - square * series - below


@filling_kernel
def fill_denominators(how: int, alpha: float, totals: Any, sizes: Any, denominators: Any) -> None:
    """Fill in what the t of each given word are divided by, from c(e), in the unit of the counts, and K(e)."""
    for word in range(len(totals)):
        total = totals[word] / ONE + alpha * sizes[word]
        denominators[word] = exp(digamma(total)) if how == BAYES else total


@filling_kernel
def estimate(first: int, last: int, how: int, alpha: float, counts: Any, given: Any, denominators: Any, t: Any) -> None:
    """Fill in t of the pairs `first` … `last` from their counts; pair p has the given word `given[p]`."""
    nothing = exp(digamma(alpha)) if how == BAYES else alpha
    for pair in range(first, last):
        count = counts[pair]
        above = nothing
        if count > 0:
            above = exp(digamma(count / ONE + alpha)) if how == BAYES else count / ONE + alpha
        t[pair] = above / denominators[given[pair]] if above > 0 else 0.0


@filling_kernel
def divergence(alpha: float, counts: Any, totals: Any, sizes: Any) -> float:
    """Return the Kullback–Leibler divergence of the posteriors Dir(c + α) from the priors Dir(α), over given words."""
    prior, sum_ = lgamma(alpha), 0.0
    for word in range(len(totals)):
        if totals[word] > 0:
            both = alpha * sizes[word]
            total = totals[word] / ONE
            sum_ += lgamma(total + both) - lgamma(both) - total * digamma(total + both)
    for pair in range(len(counts)):
        if counts[pair] > 0:
            count = counts[pair] / ONE
            sum_ += prior - lgamma(count + alpha) + count * digamma(count + alpha)
    return sum_
