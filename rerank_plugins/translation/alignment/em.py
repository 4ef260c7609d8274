"""Steps of EM: expected counts of links, and translation probabilities from them.

Expected counts are summed as whole numbers in units of 1 / ONE. Such sums are the same in any order, so a model does
not depend on how the sentence pairs are divided among threads. Links are independent,

    p(f_j, i) = (1 - p₀) δ(i | j) t(f_j | e_i)        given words i = 1 … l
    p(f_j, NULL) = p₀ t(f_j | NULL)

Estimates of the translation probabilities, by maximum likelihood or variational Bayes with a symmetric Dirichlet prior
over the K(e) words that co-occur with e, as in fast_align (Dyer, Chahuneau and Smith 2013), and their posterior mean:

    c(f, e) / c(e)        exp(ψ(c(f, e) + α) - ψ(c(e) + α K(e)))        (c(f, e) + α) / (c(e) + α K(e))
"""

from __future__ import annotations

from math import exp, lgamma, log
from typing import NamedTuple

from rerank_plugins import FloatArray, IntArray, LongArray
from rerank_plugins.kit.kernels import filling_kernel, part

ONE = float(1 << 38)  # sums up to 33 million; posteriors below 2e-12 count as 0
RATIO, BAYES = range(2)  # (c + α) / (c(e) + α K(e)), and the values of variational Bayes


class SentencePairs(NamedTuple):
    """Sentence pairs as one direction sees them: words of the given side generate those of the generated side."""

    given_offsets: LongArray
    offsets: LongArray  # of the generated side, as are the tokens
    tokens: IntArray
    link_starts: LongArray  # where the links of each sentence pair begin, word by word of the source
    links: IntArray  # the number of each pair of words
    given_is_source: bool


class Tables(NamedTuple):
    """The probabilities of a direction; `place_starts` is where the positions of each sentence pair begin."""

    t: FloatArray
    t_null: FloatArray
    null: float
    place_p: FloatArray
    place_starts: LongArray


class LinkCounts(NamedTuple):
    """Expected counts in units of 1 / ONE: of pairs of words, of words aligned to NULL, and of positions."""

    pairs: LongArray
    null: LongArray
    places: LongArray


@filling_kernel
def expect(
    first: int, last: int, pairs: SentencePairs, tables: Tables, work: FloatArray, sums: LinkCounts, ln_p: FloatArray
) -> None:
    """Add the expected counts of the sentence pairs `first` … `last` to `sums`, and fill in ln p(generated | given).

    `work` has one element for each given word.
    """
    given_offsets, offsets, tokens, links = pairs.given_offsets, pairs.offsets, pairs.tokens, pairs.links
    t, t_null, null, place_p = tables.t, tables.t_null, tables.null, tables.place_p
    for sentence in range(first, last):
        given = given_offsets[sentence + 1] - given_offsets[sentence]
        generated = offsets[sentence + 1] - offsets[sentence]
        to_given, to_next = (generated, 1) if pairs.given_is_source else (1, given)
        first_p = tables.place_starts[sentence]
        start = pairs.link_starts[sentence]
        total = 0.0
        for token in tokens[offsets[sentence] : offsets[sentence + 1]]:
            of_null = null * t_null[token]
            sum_ = of_null
            link = start
            for i in range(given):
                work[i] = (1.0 - null) * place_p[first_p + i] * t[links[link]]
                sum_ += work[i]
                link += to_given
            total += log(sum_)
            unit = ONE / sum_
            sums.null[token] += int(of_null * unit + 0.5)
            link = start
            for i in range(given):
                count = int(work[i] * unit + 0.5)
                sums.pairs[links[link]] += count
                sums.places[first_p + i] += count
                link += to_given
            start += to_next
            first_p += given
        ln_p[sentence] = total


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
def fill_denominators(how: int, alpha: float, totals: LongArray, sizes: FloatArray, denominators: FloatArray) -> None:
    """Fill in what the t of each given word are divided by, from c(e), in the unit of the counts, and K(e)."""
    for word in range(len(totals)):
        total = totals[word] / ONE + alpha * sizes[word]
        denominators[word] = exp(digamma(total)) if how == BAYES else total


@filling_kernel
def estimate(
    first: int,
    last: int,
    how: int,
    alpha: float,
    counts: LongArray,
    given: IntArray,
    denominators: FloatArray,
    t: FloatArray,
) -> None:
    """Fill in t of the pairs `first` … `last` from their counts; pair p has the given word `given[p]`."""
    nothing = exp(digamma(alpha)) if how == BAYES else alpha
    for pair in range(first, last):
        count = counts[pair]
        above = nothing
        if count > 0:
            above = exp(digamma(count / ONE + alpha)) if how == BAYES else count / ONE + alpha
        t[pair] = above / denominators[given[pair]] if above > 0 else 0.0


@filling_kernel
def divergence(alpha: float, counts: LongArray, totals: LongArray, sizes: FloatArray) -> float:
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
