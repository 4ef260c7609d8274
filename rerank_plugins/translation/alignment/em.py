"""Steps of EM: expected counts of links by model 1, model 2 and the HMM, and translation probabilities from them.

Expected counts are summed as whole numbers in units of 1 / ONE. Such sums are the same in any order, so a model does
not depend on how the sentence pairs are divided among threads. In models 1 and 2, links are independent,

    p(f_j, i) = δ(i | j) t(f_j | e_i)        given words i = 1 … l, and NULL, with the probability p₀

A state of the HMM (Vogel, Ney and Tillmann 1996; NULL as in Och and Ney 2003) is a position i' = 0 … l, and whether the
word is aligned to it or to NULL: a word that is aligned to NULL, with the probability p₀, leaves the position as it
was. As what follows depends on the position alone, forward and backward values are those of positions (forward ones
scaled to a sum of 1 after each word), in time O(m l²):

    a_j(i) = (1 - p₀) t(f_j | e_i) Σ_i' s_{j-1}(i') p(i | i')        aligned to i
    n_j(i) = p₀ t(f_j | NULL) s_{j-1}(i)                             aligned to NULL
    s_j(i) = (a_j(i) + n_j(i)) / z_j                                 z_j = Σ_i a_j(i) + n_j(i);  ln p = Σ ln z_j

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


class HmmRoom(NamedTuple):
    """Room for the forward and backward passes over sentences of at most l given and m generated words."""

    pair_t: FloatArray  # (m, l)
    pair_null: FloatArray  # (m)
    states: FloatArray  # (m + 1, l + 1)
    scales: FloatArray  # (m)
    future: FloatArray  # (l + 1), like `weighted`
    weighted: FloatArray
    moves: FloatArray  # (l · (l + 1))


@filling_kernel
def expect_independent(
    first: int, last: int, pairs: SentencePairs, tables: Tables, adapts: bool, work: FloatArray, sums: LinkCounts,
    ln_p: FloatArray,
) -> None:  # fmt: skip
    """Add the expected counts of the sentence pairs `first` … `last` to `sums`, and fill in ln p(generated | given).

    A null probability of 0 stands for 1 / (l + 1), as in model 1. With `adapts`, positions have counts. `work` has one
    element for each given word.
    """
    given_offsets, offsets, tokens, links = pairs.given_offsets, pairs.offsets, pairs.tokens, pairs.links
    t, t_null, place_p = tables.t, tables.t_null, tables.place_p
    for sentence in range(first, last):
        given = given_offsets[sentence + 1] - given_offsets[sentence]
        generated = offsets[sentence + 1] - offsets[sentence]
        to_given, to_next = (generated, 1) if pairs.given_is_source else (1, given)
        null = tables.null if tables.null > 0 else 1.0 / (given + 1)
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
                if adapts:
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


@part
def forward(
    given: int, generated: int, t: FloatArray, t_null: FloatArray, null: float, place_p: FloatArray, start: int,
    states: FloatArray, scales: FloatArray,
) -> float:  # fmt: skip
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
                states[j + 1, i + 1] += weight * place_p[at + i]
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
    first: int, last: int, pairs: SentencePairs, tables: Tables, room: HmmRoom, sums: LinkCounts, ln_p: FloatArray
) -> None:
    """Like `expect_independent`; the positions are transitions."""
    given_offsets, offsets, tokens, links = pairs.given_offsets, pairs.offsets, pairs.tokens, pairs.links
    t, t_null, null, place_p = tables.t, tables.t_null, tables.null, tables.place_p
    pair_t, pair_null, states, scales = room.pair_t, room.pair_null, room.states, room.scales
    future, weighted, moves = room.future, room.weighted, room.moves
    for sentence in range(first, last):
        given = given_offsets[sentence + 1] - given_offsets[sentence]
        generated = offsets[sentence + 1] - offsets[sentence]
        to_given, to_next = (generated, 1) if pairs.given_is_source else (1, given)
        base, at_token = pairs.link_starts[sentence], offsets[sentence]
        first_p = tables.place_starts[sentence]
        for j in range(generated):
            pair_null[j] = t_null[tokens[at_token + j]]
            for i in range(given):
                pair_t[j, i] = t[links[base + i * to_given + j * to_next]]
        ln_p[sentence] = forward(given, generated, pair_t, pair_null, null, place_p, first_p, states, scales)
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
                    way = place_p[first_p + at + i] * weighted[i]
                    ahead += way
                    way *= weight
                    moves[at + i] += way
                    pair_t[j, i] += way
                null_total += weight * of_null * future[before]
                future[before] = ahead + of_null * future[before]
                at += given
            sums.null[tokens[at_token + j]] += int(null_total * ONE + 0.5)
            for i in range(given):
                sums.pairs[links[base + i * to_given + j * to_next]] += int(pair_t[j, i] * ONE + 0.5)
        for at in range(given * (given + 1)):
            sums.places[first_p + at] += int(moves[at] * ONE + 0.5)
