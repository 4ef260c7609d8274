"""Slow, obvious twins of the back-off core, with dictionaries of tuples, from the papers' definitions.

An event is (context, x): a tuple of symbols, the farthest first, and the predicted one. Nothing here knows of sorted
arrays or of text; `events_of_text` makes events of sentences.
"""

import math
from collections import Counter, defaultdict


def events_of_text(sentences, order):
    """Each word and `</s>` in the context of up to order - 1 words back to `<s>`."""
    events = []
    for sentence in sentences:
        words = ["<s>", *sentence, "</s>"]
        events += [(tuple(words[max(0, i - order + 1) : i]), words[i]) for i in range(1, len(words))]
    return events


def raw_counts(events, order):
    """counts[k][context of k symbols, x]: how often x has that context, or a longer one that ends in it."""
    counts = [Counter() for _ in range(order)]
    for context, x in events:
        for k in range(len(context) + 1):
            counts[k][context[len(context) - k :], x] += 1
    return counts


def continuation_counts(events, order):
    """Chen and Goodman's N1+(• g) below the highest order; what has nothing to its left keeps its raw count."""
    raw = raw_counts(events, order)
    counts = [Counter() for _ in range(order)]
    counts[-1] = raw[-1]
    for k in range(order - 1):
        for context, x in raw[k + 1]:
            counts[k][context[1:], x] += 1
    for context, x in events:
        if len(context) < order - 1:
            counts[len(context)][context, x] += 1
    return counts


def discounts(counts):
    """D1, D2, D3+ of one order, by Chen and Goodman's formula; the fixed ones where it does not work."""
    n = Counter(counts.values())
    if not (n[1] and n[2] and n[3]):
        return 0.5, 1.0, 1.5
    y = n[1] / (n[1] + 2 * n[2])
    made = tuple(j - (j + 1) * y * n[j + 1] / n[j] for j in (1, 2, 3))
    return made if all(0 <= d <= j for j, d in enumerate(made, 1)) else (0.5, 1.0, 1.5)


class NaiveKneserNey:
    """Interpolated modified Kneser–Ney; `prune[k]`: the raw count up to which n-grams of k + 1 symbols are cut off."""

    def __init__(self, events, order, vocabulary, prune=()):
        prune = [*prune, *[prune[-1] if prune else 0] * (order - len(prune))]
        self.vocabulary = vocabulary
        raw, counts = raw_counts(events, order), continuation_counts(events, order)
        self.kept = [{g: a for g, a in counts[k].items() if raw[k][g] > prune[k]} for k in range(order)]
        self.discounts = [discounts(counts[k]) for k in range(order)]
        self.totals, self.left = defaultdict(float), defaultdict(float)
        for k in range(order):
            for (context, x), a in counts[k].items():
                self.totals[context] += a
                self.left[context] += self.discount(k, a) if (context, x) in self.kept[k] else a

    def discount(self, k, count):
        return self.discounts[k][min(count, 3) - 1]

    def p(self, context, x):
        lower = self.p(context[1:], x) if context else 1 / len(self.vocabulary)
        if context not in self.totals:
            return lower
        k = len(context)
        a = self.kept[k].get((context, x), 0)
        seen = (a - self.discount(k, a)) / self.totals[context] if a else 0.0
        return seen + self.left[context] / self.totals[context] * lower


class NaiveStupidBackoff:
    """Brants et al. (2007), eq. 5, with stored denominators; a symbol never seen scores as one seen once."""

    def __init__(self, events, order, prune=(), factor=0.4):
        prune = [*prune, *[prune[-1] if prune else 0] * (order - len(prune))]
        self.factor, raw = factor, raw_counts(events, order)
        self.kept = [{g: c for g, c in raw[k].items() if c > prune[k]} for k in range(order)]
        self.totals = Counter()
        for counts in raw:
            for (context, _), c in counts.items():
                self.totals[context] += c

    def score(self, context, x):
        c = self.kept[len(context)].get((context, x), 0)
        if c:
            return c / self.totals[context]
        return self.factor * self.score(context[1:], x) if context else 1 / self.totals[()]


def sentence_lns(probability, sentence, order):
    """ln of each word and `</s>`."""
    return [math.log(probability(context, x)) for context, x in events_of_text([sentence], order)]
