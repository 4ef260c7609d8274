"""Trees of symbols as objects: the slow, obvious twin of rerank_plugins/svs/states.py.

All trees are held, renamed one after the other, and counted again.
"""

from collections import Counter, defaultdict

from rerank_plugins.constituency.annotation import annotate
from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.kit.trees.head_rules import english_heads
from rerank_plugins.kit.trees.treebank_cleaning import category, relabel
from rerank_plugins.svs.states import (
    TAG,
    StateTree,
    binarised,
    category_and_relation,
    coarser_symbol,
    gathered,
    marked,
    symbol,
    without_rare_parts,
)


def state_trees(trees, annotations, rare, weights=None):
    """The StateTree of each cleaned tree, with less annotated symbols in place of rare ones."""
    phrases = {category(node.label) for tree in trees for node in tree.nodes() if not node.is_preterminal}
    states = [binarised(annotate(tree, annotations), english_heads()) for tree in trees]
    states = [StateTree(with_marked_tags(state.tree, phrases), state.between) for state in states]
    weights = [1.0] * len(trees) if weights is None else weights
    states = renamed(states, without_rare_parts(counts(states, weights), rare))
    return renamed(states, gathered(counts(states, weights), coarser_symbol, rare))


def with_marked_tags(tree, phrases):
    """A tag that has the name of a phrase gets a mark."""

    def tag(node):
        name, relation = category_and_relation(node.label)
        return Tree(symbol(marked(name, TAG), relation), node.children) if category(name) in phrases else node

    return tree.fold(tag, lambda node, children: Tree(node.label, tuple(children)))


def counts(trees, weights):
    """The weighted number of nodes with each label."""
    totals = defaultdict(float)
    for state, weight in zip(trees, weights, strict=True):
        for node in state.tree.nodes():
            totals[node.label] += weight
    return totals


def renamed(trees, names):
    """The trees with other labels."""
    return [StateTree(relabel(state.tree, names.__getitem__), state.between) for state in trees]


def chains(trees):
    """The labels that the unary rule of each pair of symbols most often passes over."""
    passed = {}
    for state in trees:
        unaries = (node for node in state.tree.nodes() if len(node.subtrees) == 1)
        for node, between in zip(unaries, state.between, strict=True):
            passed.setdefault((node.label, node.subtrees[0].label), Counter())[between] += 1
    return {pair: max(sorted(labels), key=labels.__getitem__) for pair, labels in passed.items()}
