"""The states of a model of vectors on trees that another parser found, and the posteriors of their concepts.

A tree is cleaned, annotated and binarised as in training (states.py). A state that the model does not have is replaced
by one with fewer annotations, then by one with the relation MOD, as rare ones were in training; the model forgets which
were. A rule that the model does not have says nothing about the concept of its constituent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from rerank_plugins import FloatArray, IntArray, Tree
from rerank_plugins.constituency.annotation import annotate
from rerank_plugins.constituency.training import KEPT
from rerank_plugins.kit.trees.head_rules import english_heads
from rerank_plugins.kit.trees.treebank_cleaning import CRAFT_LABELS, clean
from rerank_plugins.svs.head_arcs import HeadArcs
from rerank_plugins.svs.model import SvsModel
from rerank_plugins.svs.states import (
    HEAD,
    MODIFIER,
    TAG,
    binarised,
    category_and_relation,
    coarser,
    marked,
    named,
    symbol,
)
from rerank_plugins.svs.tree_posteriors import UNKNOWN_ROW, GivenTrees, posteriors

LEAST_PROBABILITY = 1e-12  # the least probability of a concept and of a word


class ConceptsOnTrees:
    """The posteriors of a model's concepts on given trees."""

    def __init__(self, model: SvsModel) -> None:
        self.model = model
        self._annotations = named(model.settings.get("annotations", ()))
        self._symbols = {name: number for number, name in enumerate(model.symbols)}
        self._relations = {name: number for number, name in enumerate(model.relations)}
        self._found: dict[tuple[str, bool], int] = {}

    @cached_property
    def p(self) -> FloatArray:
        """(B + U + E, K) the diagonals of M: the probabilities of binary rules, unary rules and words."""
        return np.concatenate([self.model.binary_p, self.model.unary_p, self.model.lexicon.p])

    @cached_property
    def _rules(self) -> dict[tuple[int, ...], int]:
        """The row of p of a parent with its children."""
        rules = [*map(tuple, self.model.binary.tolist()), *map(tuple, self.model.unary.tolist())]
        return {rule: row for row, rule in enumerate(rules)}

    def __contains__(self, word: object) -> bool:
        """Whether the model knows the word."""
        return word in self.model.lexicon

    def lay_out(self, trees: Sequence[Tree]) -> tuple[GivenTrees, IntArray]:
        """The nodes of trees, and (words) the nodes of the words, sentence after sentence in their order.

        The trees have words. Raises FormatError for a label that begins with @.
        """
        parent, relation, rule, leaves, offsets = list[int](), list[int](), list[int](), list[int](), [0]
        for tree in trees:
            kept = clean(tree, CRAFT_LABELS, KEPT)
            assert kept is not None, "a tree of a sentence has words"
            state = binarised(annotate(kept, self._annotations), english_heads()).tree
            first, nodes = len(parent), list(_with_parents(state))
            last = len(nodes) - 1  # nodes are in pre-order, and laid out from the last to the first
            symbols = [self._symbol(node) for node, _ in nodes]
            children: list[list[int]] = [[] for _ in nodes]
            for place, (_, above) in enumerate(nodes):
                if above >= 0:
                    children[above].append(symbols[place])
            for place in range(last, -1, -1):
                node, above = nodes[place]
                parent.append(first + last - above if above >= 0 else -1)
                relation.append(self._relation(node))
                if node.is_preterminal:
                    rule.append(self._emission(symbols[place], node.word))
                else:
                    rule.append(self._rules.get((symbols[place], *children[place]), UNKNOWN_ROW))
            leaves += [first + last - place for place, (node, _) in enumerate(nodes) if node.is_preterminal]
            offsets.append(len(parent))
        columns = (np.array(column, np.int32) for column in (parent, relation, rule))
        return GivenTrees(np.array(offsets, np.int64), *columns), np.array(leaves, np.int32)

    def of_words(self, trees: Sequence[Tree]) -> FloatArray:
        """(words, K) the posteriors at the words of all trees, sentence after sentence in their order."""
        given, leaves = self.lay_out(trees)
        return posteriors(given, self.p, self.model.transfer, self.model.root)[leaves]

    def of_trees(self, trees: Sequence[Tree], arcs: Sequence[HeadArcs]) -> tuple[FloatArray, IntArray]:  # noqa: ARG002
        """(words, K) the posteriors at the words of all trees, and (words) their places, in their order.

        `arcs` are those of the trees (head_arcs.py), of which this model needs none.
        """
        found = self.of_words(trees)
        return found, np.arange(len(found), dtype=np.int32)

    @cached_property
    def mean(self) -> FloatArray:
        """(K) P(i), the proportion of the words of the treebank that have each concept."""
        found = self.model.prior[self.model.preterminals].sum(axis=0)
        return np.asarray(np.maximum(found / found.sum(), LEAST_PROBABILITY), np.float64)

    @cached_property
    def _information(self) -> FloatArray:
        """(V) -ln P(word) by the priors of the preterminals."""
        lexicon, prior = self.model.lexicon, self.model.prior
        joint = (lexicon.p * prior[lexicon.symbols]).sum(axis=1)
        p = np.bincount(lexicon.word_of, joint, len(lexicon.words)) / prior[self.model.preterminals].sum()
        return np.asarray(-np.log(np.maximum(p, LEAST_PROBABILITY)))

    def information(self, words: Sequence[str]) -> FloatArray:
        """(n) -ln P(word), of an unknown word that of its signature."""
        return np.asarray(self._information[self.model.lexicon.ids(words)], np.float64)

    def _symbol(self, node: Tree) -> int:
        """The number of a state, or of the first less annotated one that the model has; -1 if it has none."""
        key = node.label, node.is_preterminal
        if key not in self._found:
            names = (name for name in _less_and_less(*key) if name in self._symbols)
            self._found[key] = self._symbols.get(next(names, ""), -1)
        return self._found[key]

    def _relation(self, node: Tree) -> int:
        name = category_and_relation(node.label)[1]
        return self._relations.get(name, self._relations.get(MODIFIER, 0))

    def _emission(self, tag: int, word: str) -> int:
        """The row of p of a word with this tag; UNKNOWN_ROW if the model does not have it with the tag."""
        lexicon = self.model.lexicon
        (number,) = lexicon.ids([word])
        begin, end = int(lexicon.starts[number]), int(lexicon.starts[number + 1])
        rows = np.flatnonzero(lexicon.symbols[begin:end] == tag)
        first = len(self.model.binary_p) + len(self.model.unary_p) + begin
        return first + int(rows[0]) if len(rows) else UNKNOWN_ROW


def _with_parents(tree: Tree) -> Iterator[tuple[Tree, int]]:
    """The nodes in pre-order, each with the place of its parent, -1 for the root."""
    place, todo = 0, [(tree, -1)]
    while todo:
        node, above = todo.pop()
        yield node, above
        todo += [(child, place) for child in reversed(node.subtrees)]
        place += 1


def _less_and_less(name: str, is_tag: bool) -> Iterator[str]:
    """The names by which a state may be known, from the most annotated."""
    whole, relation = category_and_relation(name)
    for role in dict.fromkeys((relation, MODIFIER)) if relation != HEAD else (HEAD,):
        less: str | None = whole
        while less is not None:
            yield symbol(less, role)
            if is_tag:
                yield symbol(marked(less, TAG), role)
            less = coarser(less)
