"""Word alignment models in plain Python: EM with dictionaries, and sums over all alignments one by one."""

from collections import Counter, defaultdict
from itertools import product
from math import exp, log

NULL = None
FARTHEST = 20


def diagonal(tension, given, generated, j):
    """δ(i | j), i = 1 … given, as a list."""
    weights = [exp(-tension * abs(i / given - j / generated)) for i in range(1, given + 1)]
    return [weight / sum(weights) for weight in weights]


def transitions(jumps, given, before):
    """p(i | before), i = 1 … given, as a list."""
    weights = [jumps[max(-FARTHEST, min(FARTHEST, i - before)) + FARTHEST] for i in range(1, given + 1)]
    return [weight / sum(weights) for weight in weights]


def all_alignments(given, generated, t, null, *, tension=None, jumps=None):
    """Yield each alignment (a position from 1, or 0 for NULL, for each generated word) and p(alignment, words | given).

    `t` is a function of a generated and a given word. Without `tension` and `jumps` it is model 1.
    """
    size = len(given)
    share = 1 / (size + 1) if tension is None and jumps is None else null
    for alignment in product(range(size + 1), repeat=len(generated)):
        p, at = 1.0, 0
        for j, i in enumerate(alignment, 1):
            word = generated[j - 1]
            if i == 0:
                p *= share * t(word, NULL)
                continue
            row = transitions(jumps, size, at) if jumps is not None else diagonal(tension or 0, size, len(generated), j)
            p *= (1 - share) * row[i - 1] * t(word, given[i - 1])
            at = i
        yield alignment, p


def model_one(pairs, iterations):
    """t of model 1 by maximum likelihood, {(generated, given): t}, and the log-likelihood before each iteration.

    The sentence pairs are (given, generated).
    """
    words = {word for _, generated in pairs for word in generated}
    t = defaultdict(lambda: 1 / len(words))
    likelihoods = []
    for _ in range(iterations):
        counts, totals, likelihood = Counter(), Counter(), 0.0
        for given, generated in pairs:
            with_null = [NULL, *given]
            for word in generated:
                total = sum(t[word, other] for other in with_null)
                likelihood += log(total / len(with_null))
                for other in with_null:
                    counts[word, other] += t[word, other] / total
                    totals[other] += t[word, other] / total
        t = {pair: count / totals[pair[1]] for pair, count in counts.items()}
        likelihoods.append(likelihood)
    return t, likelihoods


def expected_counts(pairs, t, null, **positions):
    """The expected counts of (generated, given) words, and the log-likelihood, by a sum over all alignments."""
    counts, likelihood = Counter(), 0.0
    for given, generated in pairs:
        weighted = list(all_alignments(given, generated, t, null, **positions))
        total = sum(p for _, p in weighted)
        likelihood += log(total)
        for alignment, p in weighted:
            for word, i in zip(generated, alignment, strict=True):
                counts[word, given[i - 1] if i else NULL] += p / total
    return counts, likelihood


def grown(forward, backward):
    """grow-diag-final-and of two sets of links, as in the pseudo-code of Koehn's textbook (figure 4.14)."""
    near = [(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)]
    links = forward & backward

    def is_free(source, target):
        return all(s != source for s, _ in links), all(t != target for _, t in links)

    while True:
        before = len(links)
        for source, target in sorted(links):
            for down, right in near:
                link = source + down, target + right
                if link not in links and link in forward | backward and any(is_free(*link)):
                    links = links | {link}
        if len(links) == before:
            break
    for direction in (forward, backward):
        for link in sorted(direction):
            if all(is_free(*link)):
                links = links | {link}
    return links
