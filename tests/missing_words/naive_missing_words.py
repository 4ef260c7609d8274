"""Missing words by dictionaries and loops, straight from the equations of Song (2016)."""

from collections import Counter
from itertools import combinations
from math import log

START, END, UNKNOWN = "<s>", "</s>", "<unk>"


def with_edges(sentence):
    return [START, *sentence, END]


def distances(sentences):
    """C̃(w1, w2, m): how often there are exactly m words between w1 and w2."""
    counts = Counter()
    for sentence in sentences:
        for (i, first), (j, second) in combinations(enumerate(with_edges(sentence)), 2):
            counts[first, second, j - i - 1] += 1
    return counts


def score(yes, no, gamma):
    return (yes ** (1 + gamma) - no ** (1 + gamma)) / (yes + no) if yes + no else 0.0


def pair_features(counts, sentence, half, function, *, edges):
    """For each gap l the value of each pair (a, b): w_i is a words to the left of word l - 1, w_j is b right of l."""
    words, length = with_edges(sentence), len(sentence)
    rows = []
    for gap in range(1, length):
        row = {}
        for a in range(half):
            for b in range(half):
                i, j = gap - 1 - a, gap + b  # places in the sentence; -1 and `length` are its edges
                low, high = (-1, length) if edges else (0, length - 1)
                yes = no = 0
                if low <= i and j <= high:
                    yes = counts[words[i + 1], words[j + 1], j - i]
                    no = counts[words[i + 1], words[j + 1], j - i - 1]
                row[a, b] = function(yes, no)
        rows.append(row)
    return rows


def log_odds(yes, no, added):
    return log(yes + added) - log(no + added)


def trigrams_with(sentences, pattern):
    """How often each word w stands in a context: `pattern` are the places of its neighbours, the nearest first."""
    counts = Counter()
    for sentence in sentences:
        words = with_edges(sentence)
        for at in range(1, len(words) - 1):
            places = [at + offset for offset in pattern]
            if not all(0 <= place < len(words) for place in places):
                continue
            if any(words[at + offset] in (START, END) for offset in pattern if abs(offset) == 1):
                continue
            counts[(*(words[place] for place in places), words[at])] += 1
    return counts


PATTERNS = {"left2": (-1, -2), "around": (-1, 1), "right2": (1, 2), "left1": (-1,), "right1": (1,)}


def five(sentences, vocabulary, words, gap):
    """The five conditional probabilities of each word in a gap (after gap + 1 words); empty ones for a new context."""
    padded = with_edges(words)
    at = {-2: padded[gap], -1: padded[gap + 1], 1: padded[gap + 2], 2: padded[gap + 3]}
    result = {}
    for name, pattern in PATTERNS.items():
        counts = trigrams_with(sentences, pattern)
        context = tuple(at[offset] for offset in pattern)
        total = sum(count for key, count in counts.items() if key[:-1] == context)
        result[name] = {w: counts[(*context, w)] / total for w in vocabulary} if total else {}
    return result


def fill(sentences, vocabulary, words, gap, weights):
    """The words of the vocabulary by falling mixture; the vocabulary is sorted by falling frequency."""
    unigram = Counter(word for sentence in sentences for word in sentence)
    total = sum(unigram.values())
    parts = five(sentences, vocabulary, words, gap)
    parts["unigram"] = {w: unigram[w] / total for w in vocabulary}
    norm = sum(weight for weight, p in zip(weights, parts.values(), strict=True) if p)
    mixed = {
        w: sum(weight * p.get(w, 0.0) for weight, p in zip(weights, parts.values(), strict=True)) / norm
        for w in vocabulary
    }
    return sorted(mixed.items(), key=lambda item: -item[1])
