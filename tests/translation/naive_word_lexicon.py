"""The obvious twin of the word lexicon: one logistic regression after another, one pair after another, in float64."""

import math

LEAST = -8.0


def naive_lexicon(pairs, orders, rate, decay, sources, targets):
    """(source word or None for the bias, target word) -> weight, and the log-likelihood per pair of each epoch."""
    pairs = [(set(f.split()) & set(sources), set(e.split()) & set(targets)) for f, e in pairs]
    weights, likelihoods = {}, [0.0] * len(orders)
    for word in targets:
        share = min(sum(word in e for _, e in pairs) / len(pairs), 1 - 0.5 / len(pairs))
        weights[None, word] = math.log(share / (1 - share))
        for epoch, order in enumerate(orders):
            for s in order:
                f, e = pairs[s]
                z = sum(weights.get((w, word), 0.0) for w in (None, *f))
                if z <= LEAST and word not in e:
                    continue
                p = 1 / (1 + math.exp(-z))
                likelihoods[epoch] += math.log(p if word in e else 1 - p) / len(pairs)
                for w in (None, *f):
                    change = rate * decay**epoch * ((word in e) - p)
                    weights[w, word] = weights.get((w, word), 0.0) + change
    return weights, likelihoods
