"""The dependency language model as the paper defines it, in dictionaries: slow and obvious."""

from collections import Counter, defaultdict

ROOT = "ROOT"


def breadth_first(tree):
    """Positions of the words, level by level, children in sentence order."""
    order, level = [], [-1]
    while level:
        level = [child for head in level for child in tree.children(head)]
        order += level
    return order


def path(tree, word):
    """(ancestor, label of the arc to its child on the path), from ROOT down to the parent of the word."""
    steps = []
    while word != -1:
        head = tree.heads[word]
        steps.append((ROOT if head == -1 else tree.words[head], tree.relations[word]))
        word = head
    return tuple(reversed(steps))


def events(tree, order, labelled, known=None):
    """(context, word) in breadth-first order; the context is the up to order - 1 closest ancestors."""

    def name(word):
        return word if word == ROOT or known is None or word in known else "<unk>"

    for i in breadth_first(tree):
        steps = [(name(word), label if labelled else None) for word, label in path(tree, i)]
        yield tuple(steps[max(0, len(steps) - order + 1) :]), name(tree.words[i])


def vocabulary(trees, min_count):
    """Words that are known, and how many types `<unk>` stands for, each of which has an equal share.

    They are the types that it has replaced, and those that the text lacks by Chao's estimate.
    """
    counts = Counter(word for tree in trees for word in tree.words)
    known = {word for word, count in counts.items() if count >= min_count}
    replaced = len(counts) - len(known)
    once, twice = (sum(count == times for count in counts.values()) for times in (1, 2))
    return known, replaced + round(once * (once - 1) / (2 * (twice + 1))) if replaced else 1


class NaiveStupidBackoff:
    """S(w | h) = C(h w) / Σ_v C(h v) where C(h w) > 0, else 0.4 S(w | h')."""

    def __init__(self, trees, order, labelled, min_count):
        self.order, self.labelled = order, labelled
        self.known, self.unknown = vocabulary(trees, min_count)
        self.counts = defaultdict(Counter)
        for tree in trees:
            for context, word in events(tree, order, labelled, self.known):
                for k in range(len(context) + 1):
                    self.counts[context[k:]][word] += 1

    def score(self, context, word):
        seen = self.counts.get(context, Counter())
        if seen[word]:
            return seen[word] / sum(seen.values())
        if not context:  # a word that never occurred counts as if it had occurred once
            return 1 / sum(seen.values())
        return 0.4 * self.score(context[1:], word)

    def probability(self, tree):
        product = 1.0
        for context, word in events(tree, self.order, self.labelled, self.known):
            product *= self.score(context, word) / (self.unknown if word == "<unk>" else 1)
        return product


def counts_by_length(full, order):
    """The counts of Kneser–Ney by the length of the context: those of `full`, and of the orders below it."""
    by_length = [defaultdict(Counter) for _ in range(order)]
    seen = [set() for _ in range(order)]
    for (context, x), n in full.items():
        by_length[len(context)][context][x] += n  # raw: of highest order, or from ROOT on
        for k in range(1, len(context) + 1):
            seen[len(context) - k + 1].add((context[k - 1 :], x))
    for length in range(1, order):
        for context, x in seen[length]:
            by_length[length - 1][context[1:]][x] += 1  # one for each context that lengthens it
    return by_length


def discounts(counts):
    """The discounts of what was counted once, twice, and more often."""
    of = Counter(n for words in counts.values() for n in words.values())
    if not all(of[j] for j in (1, 2, 3)):
        return (0.5, 1.0, 1.5)
    y = of[1] / (of[1] + 2 * of[2])
    made = tuple(j - (j + 1) * y * of[j + 1] / of[j] for j in (1, 2, 3))
    return made if all(0 <= d <= j for j, d in enumerate(made, 1)) else (0.5, 1.0, 1.5)


class NaiveKneserNey:
    """Interpolated modified Kneser–Ney over paths (Chen and Goodman 1998); a path that begins at ROOT is complete."""

    def __init__(self, trees, order, labelled, min_count):
        self.order, self.labelled = order, labelled
        self.known, self.unknown = vocabulary(trees, min_count)
        full = Counter(event for tree in trees for event in events(tree, order, labelled, self.known))
        self.counts = counts_by_length(full, order)
        self.discounts = [discounts(counts) for counts in self.counts]

    def score(self, context, word):
        if context is None:
            return 1 / (len(self.known) + 1)
        shorter = context[1:] if context else None
        seen = self.counts[len(context)].get(context)
        if not seen:
            return self.score(shorter, word)
        d = self.discounts[len(context)]
        total = sum(seen.values())
        taken = sum(d[min(n, 3) - 1] for n in seen.values())
        own = seen[word] - d[min(seen[word], 3) - 1] if seen[word] else 0.0
        return own / total + taken / total * self.score(shorter, word)

    def probability(self, tree):
        product = 1.0
        for context, word in events(tree, self.order, self.labelled, self.known):
            product *= self.score(context, word) / (self.unknown if word == "<unk>" else 1)
        return product
