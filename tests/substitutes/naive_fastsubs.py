"""Slow, obvious twins of the search for substitutes: exhaustive, and with the queues of Yuret (2012) as printed."""

import random


class NaiveModel:
    """An ARPA model as two dictionaries of tuples of word numbers: log10 p, and log10 of the back-off weight."""

    def __init__(self, ngrams, weights):
        self.ngrams, self.weights = ngrams, weights
        self.order = max(map(len, ngrams))
        self.words = sorted(word for (word,) in (ngram for ngram in ngrams if len(ngram) == 1))

    def log10(self, context, word):
        total = 0.0
        context = context[max(0, len(context) - self.order + 1) :]
        while (*context, word) not in self.ngrams:
            total += self.weights.get(context, 0.0)
            context = context[1:]
        return total + self.ngrams[*context, word]

    def score(self, sentence, place, word):
        """Yuret's eq. 4: `sentence` is a tuple from <s> to </s>, `place` is that of the substitute in it."""
        sentence = (*sentence[:place], word, *sentence[place + 1 :])
        total = 0.0
        for i in range(place, min(place + self.order, len(sentence))):
            total += self.log10(sentence[:i], sentence[i])
        return total

    def best(self, sentence, place, k, candidates):
        scored = sorted((-self.score(sentence, place, word), word) for word in candidates)
        return [(word, -score) for score, word in scored[:k]]


def yuret_search(model, sentence, place, k, candidates, rng=None):
    """Table I of the paper with the queues of section III, and the number of pops.

    A conditional probability has an alternative for each n-gram that its window can match. The bound of an alternative
    is that of its n-gram's queue plus its back-off weights: constants, or 0 (the highest there is, if that is above 0)
    where the weight's argument holds the substitute. A child of the sum is drawn at random.
    """
    rng = rng or random.Random(1)
    highest = max([0.0, *model.weights.values()])
    children = []
    for i in range(place, min(place + model.order, len(sentence))):
        alternatives = []
        fixed = 0.0
        for start in range(max(0, i - model.order + 1), i + 1):
            window = sentence[start : i + 1]
            hole = place - start
            if hole >= 0:
                fits = [
                    (log10, ngram[hole])
                    for ngram, log10 in model.ngrams.items()
                    if len(ngram) == len(window)
                    and all(a == b for j, (a, b) in enumerate(zip(ngram, window, strict=True)) if j != hole)
                ]
                alternatives.append((fixed, sorted(fits)))
                fixed += highest if hole < len(window) - 1 else model.weights.get(window[:-1], 0.0)
            else:
                alternatives.append((fixed + model.log10(window[:-1], window[-1]), None))
                break
        children.append(alternatives)

    def bound(alternative):
        fixed, queue = alternative
        return fixed if queue is None else fixed + queue[-1][0] if queue else -float("inf")

    allowed, scored, pops = set(candidates), {}, 0
    while len(scored) < len(allowed):
        limit = sum(max(map(bound, child)) for child in children)
        kept = sorted(scored.values(), reverse=True)
        if len(kept) >= k and kept[k - 1] > limit:
            break
        child = rng.choice(children)
        queue = max(child, key=bound)[1]
        if not queue:  # the alternative without the substitute bounds this child: pop from the 1-grams instead
            queue = children[0][-1][1]
            if not queue:
                continue
        pops += 1
        word = queue.pop()[1]
        if word in allowed and word not in scored:
            scored[word] = model.score(sentence, place, word)
    return sorted(scored.items(), key=lambda pair: (-pair[1], pair[0]))[:k], pops
