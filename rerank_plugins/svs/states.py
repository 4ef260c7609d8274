"""Converts treebank trees to binary trees of symbols lc: categories with relations (Wu & Schuler 2011, §4).

    (S (NP (DT The) (NN dog)) (VP (VBD barked)))   becomes, among other marks,
    (ROOT/ID (S/ID (NP-BASE/MOD:S< (DT/MOD:NP< The) (NN/ID dog)) (VP-U/ID (VBD/ID barked))))

Trees are binarised from the head outwards, right siblings first. Of two children one is the head or contains it, with
the relation ID; the other's is MOD with the category of the phrase and the side of the head. A chain of unary rules
becomes one rule, and the labels that it passes over are stored with the tree. Rare categories are replaced by less
annotated ones, rare relations by MOD. A category is `VP-U-FIN`, its name in the treebank, then marks; -U, of a phrase
with a single child, is never removed. A node that binarisation adds is `@VP-FIN:VBD-BE|PP`: phrase, head, last
sibling.

Of trees made from dependencies, the relation of a modifier is that of the treebank: MOD:nsubj.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rerank_plugins import ROOT, FloatArray, FormatError, Tree
from rerank_plugins.constituency import annotation
from rerank_plugins.constituency.annotation import VERBS, Annotation, annotate
from rerank_plugins.constituency.treebank_grammar import ROOT_LABEL, EncodedTrees, encode_trees
from rerank_plugins.kit.trees.binarisation import INTERMEDIATE, LINK
from rerank_plugins.kit.trees.head_rules import HeadRules, english_heads, is_projection
from rerank_plugins.kit.trees.treebank_cleaning import category, split_label
from rerank_plugins.kit.vocabulary.signatures import UnknownWords

ARGUMENTS = frozenset({"NP", "S", "SBAR", "VP", "ADJP", "PP", "PRT"})
HEAD = "ID"  # the relation of a head to its constituent
MODIFIER = "MOD"
UNARY = "-U"
TAG = "-T"  # marks a tag that has the same name as a phrase


def transitive(node: Tree, above: Sequence[Tree]) -> str:
    """Marks a verb that a noun phrase of its VP follows, unless it is a temporal one: VBD-argNP."""
    return "-argNP" if "NP" in _after_verb(node, above) else ""


def frame(node: Tree, above: Sequence[Tree]) -> str:
    """Marks a verb with the first two arguments that follow it: VBD-argNP-PP, VBZ-argVP, VB."""
    arguments = _after_verb(node, above)[:2]
    return "-arg" + "-".join(arguments) if arguments else ""


def _after_verb(node: Tree, above: Sequence[Tree]) -> list[str]:
    if not node.is_preterminal or category(node.label) not in VERBS or not above or category(above[0].label) != "VP":
        return []
    children = above[0].subtrees
    place = next(i for i, child in enumerate(children) if child is node)
    labels = [split_label(child.label) for child in children[place + 1 :]]
    return [name for name, functions in labels if name in ARGUMENTS and "TMP" not in functions.split("-")]


SUBCATEGORISATION: dict[str, Annotation] = {"transitive": transitive, "frame": frame}


def named(names: Sequence[str]) -> list[Annotation]:
    """The annotations of these names: those of Klein & Manning (constituency/annotation.py) and of this module.

    The mark of phrases with a single child is left out, because symbols have it in any case. Raises ConfigError for an
    unknown name.
    """
    return [mark for mark in annotation.named(names, SUBCATEGORISATION) if mark is not annotation.unary_internal]


def symbol(name: str, relation: str) -> str:
    """The name of a symbol; ROOT has no relation.

    >>> symbol("NP-BASE", "MOD:S<")
    'NP-BASE/MOD:S<'
    """
    return name if name == ROOT else f"{name}/{relation}"


def category_and_relation(name: str) -> tuple[str, str]:
    """The category and the relation in a symbol's name; ROOT has the relation ID, which means nothing there."""
    head, slash, relation = name.rpartition("/")
    return (head, relation) if slash else (name, HEAD)


def intermediate(phrase: str, head: str, sibling: str) -> str:
    """The name of a node that binarisation adds.

    >>> intermediate("VP-FIN", "VBD-BE", "PP")
    '@VP-FIN:VBD-BE|PP'
    """
    return f"{INTERMEDIATE}{phrase}:{head}|{sibling}"


def coarser(name: str) -> str | None:
    """The name with one annotation less; None for a name without annotations.

    An intermediate node loses first the marks of the head, then those of the phrase, then the sibling, then the head.

    >>> coarser("VP-FIN-v"), coarser("VP-U"), coarser("@VP-FIN:VBD|PP"), coarser("@VP:VBD|PP")
    ('VP-FIN', None, '@VP:VBD|PP', '@VP:VBD|')
    """
    if not name.startswith(INTERMEDIATE):
        return _less_marked(name)
    phrase, _, rest = name[1:].partition(":")
    head, _, sibling = rest.rpartition("|")
    if less := _less_marked(head):
        return intermediate(phrase, less, sibling)
    if less := _less_marked(phrase):
        return intermediate(less, head, sibling)
    if sibling:
        return intermediate(phrase, head, "")
    return intermediate(phrase, "", "") if head else None


def _less_marked(name: str) -> str | None:
    plain, marks = split_label(name)
    kept = next((mark for mark in (UNARY, TAG) if f"{marks}-".startswith(f"{mark}-")), "")
    return plain + marks[: marks.rfind("-")] if len(marks) > len(kept) else None


def gathered(counts: Mapping[str, float], less: Callable[[str], str | None], rare: float) -> dict[str, str]:
    """The replacement of each name: a name with a count below `rare` becomes `less(name)`, repeatedly."""
    names = {name: name for name in counts}
    while True:
        totals: dict[str, float] = defaultdict(float)
        for name, count in counts.items():
            totals[names[name]] += count
        steps = {name: next_ for name, total in totals.items() if total < rare and (next_ := less(name)) is not None}
        if not steps:
            return names
        names = {name: steps.get(now, now) for name, now in names.items()}


class StateTree(NamedTuple):
    """`tree` has labels category/relation; `between` has what its unary rules pass over, in the order of nodes()."""

    tree: Tree
    between: tuple[str, ...]


class StateForest(NamedTuple):
    """Trees of symbols as arrays, and the labels that the unary rule of each pair of symbols most often passes over."""

    forest: EncodedTrees
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

    forest = encode_trees(states(), unknown)
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
            roles = [
                HEAD if i == head
                else f"{MODIFIER}:{category(child.label).partition('.')[2]}" if is_projection(category(child.label))
                else context + "<>"[i > head]
                for i, child in enumerate(children)
            ]  # fmt: skip
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
