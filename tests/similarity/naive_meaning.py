"""Slow, obvious twin of the shared meaning: two sentences, word by word, as the equations say."""

import math


def lexical(one, i, other, j, parts):
    """lex(u, v) of word i of one sentence and word j of the other."""
    u, v = one.words[i], other.words[j]
    if u == v:
        return 1.0
    value = 0.0
    if one.stems[i] == other.stems[j]:
        value = parts.stem
    if i in one.places.tolist() and j in other.places.tolist():
        p = one.ratios[one.places.tolist().index(i)]
        q = other.posteriors[other.places.tolist().index(j)]
        shared = math.log(max(sum(x * y for x, y in zip(p, q, strict=True)), 1e-300))
        information = (one.information[i] + other.information[j]) / 2
        if shared > 0 and information > 0:
            value = max(value, min(1.0, parts.concepts * shared / information))
    return value


def similarity(one, i, other, j, parts):
    value = lexical(one, i, other, j, parts)
    arguments = one.roles[i] >= 0 and other.roles[j] >= 0 and one.above[i] >= 0 and other.above[j] >= 0
    if arguments and one.roles[i] != other.roles[j]:
        value *= 1 - parts.role * lexical(one, one.above[i], other, other.above[j], parts)
    return value


def weight(sentence, i, rarity):
    word = sentence.words[i]
    if not sentence.counts[i]:
        return 0.0
    rare = sentence.information[i] if rarity is None else rarity.get(word, 0.0)
    return sentence.information[i] * max(0.0, rare)


def meaning(one, other, parts, rarity=None):
    def direction(a, b):
        weights = [weight(a, i, rarity) for i in range(len(a.words))]
        best = [max((similarity(a, i, b, j, parts) for j in range(len(b.words))), default=0.0)
                for i in range(len(a.words))]  # fmt: skip
        return sum(w * s for w, s in zip(weights, best, strict=True)) / sum(weights) if sum(weights) else 0.0

    x, y = direction(one, other), direction(other, one)
    return 2 * x * y / (x + y) if x and y else 0.0
