"""HEADLEX in dictionaries: a walk over lexicalised trees, outwards from the head."""

import math

from rerank_plugins.kit.vocabulary.signatures import UNKNOWN_SIGNATURE, UnknownWords, closed
from tests.kit.naive_unknown_types import naive_share, naive_types
from tests.treelet.naive_tree_transformations import lexicalise
from tests.treelet.naive_treelet import BackOff

STOP, START = "STOP", "<s>"
ORDERS = {"head": 4, "symbol": 6, "tag": 6, "word": 6}


def symbol(node):
    """A label that says whether it is a tag's."""
    return node.label if node.children else node.label + "/"


def walk(tree, words):
    """(kind, context, x) of all factors."""
    todo = [lexicalise(tree)]
    while todo:
        node = todo.pop()
        todo += node.children
        if not node.children:
            continue
        if node.label == "ROOT":
            word, tag, head, sides = START, STOP, STOP, {"right": node.children}
        else:
            word, tag, at = words[node.head], node.head_tag + "/", node.head_child
            head = symbol(node.children[at])
            yield "head", (word, tag, node.label), head
            sides = {"left": node.children[:at][::-1], "right": node.children[at + 1 :]}
        for side, modifiers in sides.items():
            before = (STOP, START)
            for child in modifiers:
                yield "symbol", (before, word, tag, node.label, (side, head)), symbol(child)
                if child.children:
                    context = (before, word, node.label, (side, head), symbol(child))
                    yield "tag", context, child.head_tag + "/"
                context = (before, word, (node.label, side, head), symbol(child), child.head_tag + "/")
                yield "word", context, words[child.head]
                before = (symbol(child), words[child.head])
            yield "symbol", (before, word, tag, node.label, (side, head)), STOP


class NaiveHeadlex:
    def __init__(self, trees):
        sentences = UnknownWords().replaced([tree.words() for tree in trees])
        self.vocabulary = {word for sentence in sentences for word in sentence} | {UNKNOWN_SIGNATURE}
        self.types = naive_types([tree.words() for tree in trees], self.vocabulary)
        found = [event for tree, words in zip(trees, sentences, strict=True) for event in walk(tree, words)]
        labels = {symbol(node) for tree in trees for node in nodes(lexicalise(tree))} | {STOP, "?", "?/"}
        self.model = {
            kind: BackOff(
                [(context, x) for name, context, x in found if name == kind],
                order,
                vocabulary=self.vocabulary if kind == "word" else labels,
            )
            for kind, order in ORDERS.items()
        }

    def ln_p(self, tree):
        words = closed(tree.words(), self.vocabulary)
        factors = (self.model[kind].p(context, x) for kind, context, x in walk(tree, words))
        ln_p = sum(math.log(p) if p else -math.inf for p in factors)
        return ln_p - naive_share(tree.words(), self.types, self.vocabulary)


def nodes(node):
    return [node, *(each for child in node.children for each in nodes(child))]
