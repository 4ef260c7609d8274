"""The dependency language model with classes, in dictionaries: slow and obvious. Classes are given: a dict of forms."""

from collections import Counter

from tests.dependency.naive_dependency_lm import ROOT, counts_by_length, discounts

INFLECTED = ("aux", "cop")


class NaiveBackoff:
    """Interpolated modified Kneser–Ney over (context, x), the farthest symbol of a context first."""

    def __init__(self, events):
        full = Counter(events)
        self.counts = counts_by_length(full, 1 + max(len(context) for context, _ in full))
        self.discounts = [discounts(counts) for counts in self.counts]

    def p(self, context, x, lowest, length=0):
        """P(x | context); contexts of fewer symbols than `length` do not count, and `lowest` is p below them."""
        if len(context) < length:
            return lowest
        shorter = self.p(context[1:], x, lowest, length) if context else lowest
        seen = self.counts[len(context)].get(context) if len(context) < len(self.counts) else None
        if not seen:
            return shorter
        d = self.discounts[len(context)]
        total = sum(seen.values())
        taken = sum(d[min(n, 3) - 1] for n in seen.values())
        own = seen[x] - d[min(seen[x], 3) - 1] if seen[x] else 0.0
        return own / total + taken / total * shorter


class NaiveClassModel:
    """P(w | a_1 …) ← P(K(w) | …) · P(w | K(w), g_1). `class_of` is K of every form, `known` the vocabulary."""

    def __init__(self, trees, order, class_of, known, types, classes):
        self.labels = {label.partition(":")[0] for tree in trees for label in tree.relations}
        self.order, self.class_of, self.known, self.types, self.classes = order, class_of, known, types, classes
        self.members = Counter(class_of[word] for word in known) + Counter(classes)  # and one unknown word of each
        self.of_classes = NaiveBackoff([event for tree in trees for event in self.class_events(tree)])
        self.of_words = NaiveBackoff([event for tree in trees for event in self.word_events(tree)])
        once = {event for tree in trees for event in self.member_events(tree)}  # for each head that a word has
        self.of_members = NaiveBackoff([(context, x) for _, context, x in once])

    def symbol(self, word):
        """A word, with its class; an unknown one is its class."""
        return (self.class_of[word], word if word in self.known else None)

    def class_events(self, tree):
        for i, head in enumerate(tree.heads):
            frame = set()
            for child in tree.children(i):
                label = self.label(tree, child)
                frame |= {"aux" if label in INFLECTED else "subject" if label in ("nsubj", "csubj", "expl") else label}
            frame &= {"aux", "subject", "mark", "det"}
            context = [(self.label(tree, i), frozenset(frame))]
            if head == -1:
                context = [ROOT, *context]
            else:
                first = next((c for c in tree.children(head) if self.label(tree, c) in INFLECTED), None)
                context = [self.class_of[tree.words[head if first in (None, i) else first]], *context]
                if self.order > 2:
                    above = tree.heads[head]
                    context = [
                        (ROOT if above == -1 else self.class_of[tree.words[above]], self.label(tree, head)),
                        *context,
                    ]
                context = [self.symbol(tree.words[head]), *context]
            yield tuple(context), self.class_of[tree.words[i]]

    def word_events(self, tree):
        for i, word in enumerate(tree.words):
            steps, below = [], i
            while below != -1:
                head = tree.heads[below]
                steps.insert(0, (ROOT if head == -1 else self.symbol(tree.words[head]), self.label(tree, below)))
                below = head
            yield tuple(steps[max(0, len(steps) - self.order + 1) :]), self.symbol(word)

    def member_events(self, tree):
        for i, word in enumerate(tree.words):
            head = tree.heads[i]
            above = ROOT if head == -1 else self.symbol(tree.words[head])
            yield above, ((self.class_of[word], self.label(tree, i)),), self.symbol(word)

    def label(self, tree, i):
        """The label without its subtype; all that the training lacks are one."""
        label = tree.relations[i].partition(":")[0]
        return label if label in self.labels else "<unk>"

    def word_probabilities(self, tree):
        """P of each word of the tree."""
        events = zip(self.class_events(tree), self.member_events(tree), self.word_events(tree), strict=True)
        for word, ((context, k), (_, of_class, x), (ancestors, _)) in zip(tree.words, events, strict=True):
            p = self.of_classes.p(context, k, 1 / len(self.classes))
            p *= self.of_members.p(of_class, x, 1 / self.members[k], length=1)
            yield self.of_words.p(ancestors, x, p, length=1) / (1 if word in self.known else self.types[k])
