"""The word alignment model in plain Python: sums over all alignments one by one."""

from collections import Counter
from itertools import product
from math import exp, log

NULL = None


def diagonal(tension, given, generated, j):
    """δ(i | j), i = 1 … given, as a list."""
    weights = [exp(-tension * abs(i / given - j / generated)) for i in range(1, given + 1)]
    return [weight / sum(weights) for weight in weights]


def all_alignments(given, generated, t, null, tension):
    """Yield each alignment (a position from 1, or 0 for NULL, for each generated word) and p(alignment, words | given).

    `t` is a function of a generated and a given word.
    """
    size = len(given)
    for alignment in product(range(size + 1), repeat=len(generated)):
        p = 1.0
        for j, i in enumerate(alignment, 1):
            word = generated[j - 1]
            if i == 0:
                p *= null * t(word, NULL)
            else:
                p *= (1 - null) * diagonal(tension, size, len(generated), j)[i - 1] * t(word, given[i - 1])
        yield alignment, p


def expected_counts(pairs, t, null, tension):
    """The expected counts of (generated, given) words, and the log-likelihood, by a sum over all alignments.

    The sentence pairs are (given, generated).
    """
    counts, likelihood = Counter(), 0.0
    for given, generated in pairs:
        weighted = list(all_alignments(given, generated, t, null, tension))
        total = sum(p for _, p in weighted)
        likelihood += log(total)
        for alignment, p in weighted:
            for word, i in zip(generated, alignment, strict=True):
                counts[word, given[i - 1] if i else NULL] += p / total
    return counts, likelihood
