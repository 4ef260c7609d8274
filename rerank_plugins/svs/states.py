"""Converts treebank trees to binary trees of symbols lc: categories with relations (Wu & Schuler 2011, §4).

    (S (NP (DT The) (NN dog)) (VP (VBD barked)))   becomes, among other marks,
    (ROOT/ID (S/ID (NP-BASE/MOD:S< (DT/MOD:NP< The) (NN/ID dog)) (VP-U/ID (VBD/ID barked))))

Trees are binarised from the head outwards, first its right siblings, then its left ones, so that one of two children is
the head or contains it, and has the relation ID. The relation of the other is MOD with its syntactic context: the
category of the phrase and the side of the head. A chain of unary rules becomes one rule, and the labels that it passes
over are stored with the tree. Rare categories are replaced by less annotated ones, rare relations by MOD.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rerank_plugins.constituency.annotation import Annotation, annotate
from rerank_plugins.constituency.binarised_trees import ROOT_LABEL, Forest, plant
from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.core.errors import FormatError
from rerank_plugins.kit.trees.binarisation import INTERMEDIATE
from rerank_plugins.kit.trees.head_rules import HeadRules, english_heads
from rerank_plugins.kit.trees.treebank_cleaning import category
from rerank_plugins.kit.trees.unaries import LINK
from rerank_plugins.kit.vocabulary.signatures import UnknownWords
from rerank_plugins.svs.symbol_names import (
    HEAD,
    MODIFIER,
    TAG,
    UNARY,
    category_and_relation,
    coarser,
    gathered,
    intermediate,
    symbol,
)


class StateTree(NamedTuple):
    """`tree` has labels category/relation; `between` has what its unary rules pass over, in the order of nodes()."""

    tree: Tree
    between: tuple[str, ...]


class StateForest(NamedTuple):
    """Trees of symbols as arrays, and the labels that the unary rule of each pair of symbols most often passes over."""

    forest: Forest
    chains: dict[tuple[str, str], str]


def state_forest(
    trees: Iterable[Tree],
    annotations: Sequence[Annotation],
    rare: float,
    unknown: UnknownWords | None = None,
    weights: Callable[[int], FloatArray] = np.ones,
) -> StateForest:
    """Lay out cleaned trees as trees of symbols; none is kept, and symbols are renamed in arrays.

    Categories, relations and then symbols with a count below `rare` are replaced by less annotated ones. `weights` is
    called once all trees are read, with their number, and returns the weight of each in the counts. Raises FormatError
    for a label that begins with @.
    """
    rules, phrases = english_heads(), set[str]()
    passed: Counter[tuple[str, str, bool, str]] = Counter()

    def states() -> Iterator[Tree]:
        for tree in trees:
            phrases.update(category(node.label) for node in tree.nodes() if not node.is_preterminal)
            state = binarised(annotate(tree, annotations), rules)
            unaries = (node for node in state.tree.nodes() if len(node.subtrees) == 1)
            for node, between in zip(unaries, state.between, strict=True):
                passed[node.label, node.subtrees[0].label, node.subtrees[0].is_preterminal, between] += 1
            yield state.tree

    forest = plant(states(), unknown)
    if strange := next((name for name in phrases if name.startswith(INTERMEDIATE)), None):
        raise FormatError(f"label {strange!r} begins with {INTERMEDIATE}, which marks nodes that binarisation adds")
    forest = replace(forest, weights=weights(len(forest.weights)))
    # A tag that has the name of a phrase gets a mark; labels of words follow those of phrases.
    size = len(forest.labels)
    words = [symbol(marked(name, TAG), role) if category(name) in phrases else symbol(name, role)
             for name, role in map(category_and_relation, forest.labels)]  # fmt: skip
    names = [*forest.labels, *words]
    forest = replace(forest, label=forest.label + np.where(forest.word >= 0, size, 0).astype(np.int32))
    node_weights = forest.node_weights

    def counts() -> dict[str, float]:
        totals: dict[str, float] = defaultdict(float)
        sums = np.bincount(forest.label, node_weights, len(names)).tolist()
        used = np.bincount(forest.label, minlength=len(names)).tolist()
        for name, count, nodes in zip(names, sums, used, strict=True):
            if nodes:
                totals[name] += count
        return totals

    parts = without_rare_parts(counts(), rare)
    names = [parts.get(name, name) for name in names]
    coarse = gathered(counts(), coarser_symbol, rare)
    names = [coarse.get(name, name) for name in names]
    used = np.bincount(forest.label, minlength=len(names)) > 0
    number = {name: i for i, name in enumerate(forest.labels)}
    between_symbols: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for (above, below, is_tag, between), count in passed.items():
        between_symbols[names[number[above]], names[number[below] + size * is_tag]][between] += count
    final = [name if is_used else ROOT_LABEL for name, is_used in zip(names, used.tolist(), strict=True)]
    return StateForest(
        forest.renamed(final),
        {pair: max(sorted(labels), key=labels.__getitem__) for pair, labels in between_symbols.items()},
    )


def binarised(tree: Tree, rules: HeadRules) -> StateTree:
    """The binary form of an annotated tree. There is no recursion, because trees are deep."""
    todo: list[tuple[Tree, str]] = [(tree, HEAD)]
    order: list[tuple[Tree, str, int, str]] = []  # node, relation, index of its head, labels passed over
    while todo:
        node, relation = todo.pop()
        children, head = node.subtrees, 0
        passed: list[str] = []
        while len(children) == 1 and len(children[0].subtrees) == 1:
            passed.append(category(children[0].label))
            children = children[0].subtrees
        if len(children) > 1:
            labels = [child.label for child in children]
            head = rules.head(node.label, labels)
            context = f"{MODIFIER}:{category(node.label)}"
            roles = [HEAD if i == head else context + "<>"[i > head] for i in range(len(children))]
            todo += [(child, role) for child, role in zip(reversed(children), reversed(roles), strict=True)]
        elif children:
            todo.append((children[0], HEAD))
        order.append((node, relation, head, LINK.join(passed)))
    built: list[Tree] = []
    for node, relation, head, _ in reversed(order):
        if node.is_preterminal:
            built.append(Tree(symbol(node.label, relation), node.children))
            continue
        below = [built.pop() for _ in node.children]
        if len(below) == 1:
            name = node.label if node is tree else marked(node.label, UNARY)
            built.append(Tree(symbol(name, relation), (below[0],)))
        else:
            built.append(_outwards(node, relation, head, below))
    return StateTree(built[0], tuple(between for node, _, _, between in order if len(node.subtrees) == 1))


def marked(label: str, mark: str) -> str:
    """The label with this mark before its other marks."""
    plain = category(label)
    return plain + mark + label[len(plain) :]


def _outwards(node: Tree, relation: str, head: int, children: Sequence[Tree]) -> Tree:
    labels = [child.label for child in node.subtrees]
    order = [*range(head + 1, len(children)), *range(head - 1, -1, -1)]
    below = children[head]
    for i in order:
        inner = symbol(intermediate(node.label, labels[head], category(labels[i])), HEAD)
        name = inner if i != order[-1] else symbol(node.label, relation)
        below = Tree(name, (below, children[i]) if i > head else (children[i], below))
    return below


def without_rare_parts(counts: Mapping[str, float], rare: float) -> dict[str, str]:
    """The replacement of each symbol, without rare categories and relations."""
    parts = {name: category_and_relation(name) for name in counts}
    totals: tuple[dict[str, float], dict[str, float]] = defaultdict(float), defaultdict(float)
    for name, both in parts.items():
        for part, total in zip(both, totals, strict=True):
            total[part] += counts[name]
    names = gathered(totals[0], coarser, rare)
    roles = gathered(totals[1], lambda role: MODIFIER if role.startswith(f"{MODIFIER}:") else None, rare)
    return {name: symbol(names[both[0]], roles[both[1]]) for name, both in parts.items()}


def coarser_symbol(name: str) -> str | None:
    """The symbol with a less annotated category, or None for one without annotations."""
    plain, relation = category_and_relation(name)
    less = coarser(plain)
    return symbol(less, relation) if less else None
