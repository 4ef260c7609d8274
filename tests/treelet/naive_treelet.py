"""The treelet model as the paper defines it: a walk over the tree, dictionaries of tuples; slow and obvious."""

import math
from collections import Counter
from itertools import chain

from rerank_plugins.kit.vocabulary.signatures import (
    UNKNOWN_SIGNATURE,
    UnknownWords,
    closed,
    signature,
    with_shared_endings,
)
from tests.kit.naive_backoff import continuation_counts, discounts
from tests.kit.naive_unknown_types import naive_share, naive_types

STOP, START = "STOP", "<s>"


def rooted(tree):
    """(label, children) of a tree, a tag's label marked; children of a tag: nothing. Words are taken from elsewhere."""
    if tree.is_preterminal:
        return (tree.label + "/", None)
    return (tree.label, [rooted(child) for child in tree.children])


def rule(node):
    """(P, (C_1, …, C_d))."""
    return node[0], tuple(child[0] for child in node[1])


def walk(tree, words):
    """(kind, context, x): the factors of p(T), contexts farthest symbol first."""
    words = list(words)
    position = 0

    def visit(node, above, right):
        nonlocal position
        label, children = node
        if children is None:
            before = ([START, *words][: position + 1])[-2:]
            yield "word", (*before, rule(above), right, label), words[position]
            position += 1
            return
        context = (label,) if above is None else (rule(above), above[0], label)
        yield "rule", context, rule(node)
        for child, after in zip(children, [*children[1:], None], strict=True):
            yield from visit(child, node, after[0] if after else STOP)

    yield from visit(rooted(tree), None, STOP)


def symbols(made):
    """(context, x) of the children of a rule, with the parent nearest."""
    parent, children = made
    for i, x in enumerate([*children, STOP]):
        before = ([START, *children][: i + 1])[-3:]
        yield (*before, parent), x


class BackOff:
    """Interpolated modified Kneser–Ney over (context, x); `lowest(x)` is p in the empty context."""

    def __init__(self, events, order, lowest=None, vocabulary=()):
        self.order, self.lowest = order, lowest
        events = [(context[max(0, len(context) - order + 1) :], x) for context, x in events]
        self.counts = continuation_counts(events, order)
        self.discounts = [discounts(each) for each in self.counts]
        self.vocabulary = vocabulary
        self.followers = {}
        for k in range(order):
            for (context, x), count in self.counts[k].items():
                self.followers.setdefault(context, {})[x] = count

    def p(self, context, x):
        context = context[max(0, len(context) - self.order + 1) :]
        if not context and self.lowest:
            return self.lowest(x)
        seen = self.followers.get(context, {})
        if not seen:
            return self.p(context[1:], x)
        d, total = self.discounts[len(context)], sum(seen.values())
        left = sum(d[min(count, 3) - 1] for count in seen.values()) / total
        own = (seen[x] - d[min(seen[x], 3) - 1]) / total if x in seen else 0.0
        return own + left * (self.p(context[1:], x) if context else 1 / len(self.vocabulary))


class NaiveTreelet:
    """p(T) of already transformed trees; `orders` of rules and words."""

    def __init__(self, trees, orders, weight=0.9):
        sentences = UnknownWords().replaced([tree.words() for tree in trees])
        self.vocabulary = {word for sentence in sentences for word in sentence} | {UNKNOWN_SIGNATURE}
        self.types = naive_types([tree.words() for tree in trees], self.vocabulary)
        self.weight = weight
        found = [event for tree, words in zip(trees, sentences, strict=True) for event in walk(tree, words)]
        rules = [(context, x) for kind, context, x in found if kind == "rule"]
        words = [(context, x) for kind, context, x in found if kind == "word"]
        labels = {label for _, (p, children) in rules for label in (p, *children)} | {STOP, "?", "?/"}
        by_parent = [event for made in sorted({x for _, x in rules}) for event in symbols(made)]
        self.given = BackOff(by_parent, 5, vocabulary=labels)
        self.alone = BackOff([(context[:-1], x) for context, x in by_parent], 4, vocabulary=labels)
        self.rules = BackOff(rules, orders[0], self.lowest)
        self.words = BackOff(words, orders[1], vocabulary=self.vocabulary)

    def lowest(self, made):
        """λ Π p(C_i | …, P) + (1 - λ) Π p(C_i | …)."""
        given = math.prod(self.given.p(context, x) for context, x in symbols(made))
        alone = math.prod(self.alone.p(context[:-1], x) for context, x in symbols(made))
        return self.weight * given + (1 - self.weight) * alone

    def ln_p(self, tree):
        words = closed(tree.words(), self.vocabulary)
        model = {"rule": self.rules, "word": self.words}
        ln_p = sum(math.log(model[kind].p(context, x)) for kind, context, x in walk(tree, words))
        return ln_p - naive_share(tree.words(), self.types, self.vocabulary)


def close_vocabulary(sentences, unknown, min_count=1):
    """The words, their counts, and the numbers of the words of the sentences, token by token."""
    replaced = unknown.replaced(sentences)
    counts = Counter(chain.from_iterable(replaced))
    rare = {word for word, count in counts.items() if count < min_count}
    if rare:
        known = counts.keys() - rare
        full = [
            [
                None if word in known else signature(source, i == 0, source.lower() in known, english=unknown.english)
                for i, (word, source) in enumerate(zip(sentence, sources, strict=True))
            ]
            for sentence, sources in zip(replaced, sentences, strict=True)
        ]
        shared = with_shared_endings(Counter(form for forms in full for form in forms if form))
        replaced = [
            tuple(shared.get(form, word) for word, form in zip(sentence, forms, strict=True))
            for sentence, forms in zip(replaced, full, strict=True)
        ]
        counts = Counter(chain.from_iterable(replaced))
    counts.setdefault(UNKNOWN_SIGNATURE, 0)
    words = ("<s>", *sorted(counts.keys() - {"<s>"}, key=lambda word: (-counts[word], word)))
    number = {word: i for i, word in enumerate(words)}
    number["<s>"] = number[UNKNOWN_SIGNATURE]
    tokens = [number[word] for sentence in replaced for word in sentence]
    return words, [len(sentences), *(tokens.count(n) for n in range(1, len(words)))], tokens
