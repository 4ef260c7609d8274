"""Trees with observed symbols and headwords in flat arrays, from which the five models are estimated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import FloatArray, IntArray
from rerank_plugins.constituency.grammar import numbered
from rerank_plugins.constituency.treebank_grammar import EncodedTrees, productions
from rerank_plugins.kit.vocabulary.signatures import is_signature
from rerank_plugins.svs.model import UNK_HEADWORD
from rerank_plugins.svs.states import HEAD, category_and_relation
from rerank_plugins.svs.tree_posteriors import GivenTrees


@dataclass(frozen=True, eq=False)
class Observed:
    """A forest whose labels are symbols, with relations and headwords.

    Words belong to classes: each kept headword, in any capitalisation, is a class, and all other words are the class
    `unk`, the last. A preterminal generates the class of its word (P_H); the class generates the word independently of
    the concept.
    """

    forest: EncodedTrees  # N nodes (constituency/treebank_grammar.py)
    relations: tuple[str, ...]  # names, "ID" first
    relation: IntArray  # (S) int32 the relation of each symbol
    headwords: tuple[str, ...]  # (H) names of the kept headwords, most frequent first, and `unk`
    class_of: IntArray  # (W) int32 the class of each word of the forest

    @cached_property
    def head(self) -> IntArray:
        """(N) the class of each node's headword."""
        forest = self.forest
        return self.class_of[forest.word[head_leaves(forest, self.relation)]]

    @cached_property
    def rewritings(self) -> Rewritings:
        """The distinct rewritings of the nodes."""
        return _rewritings(self)

    @cached_property
    def given_trees(self) -> GivenTrees:
        """The forest as trees in which only concepts are hidden."""
        forest, parent = self.forest, np.full(len(self.forest.label), -1, np.int32)
        for child in (forest.left, forest.right):
            above = np.flatnonzero(child >= 0)
            parent[child[above]] = above
        return GivenTrees(forest.offsets, parent, self.relation[forest.label], self.rewritings.rule)


@dataclass(frozen=True, eq=False)
class Rewritings:
    """Distinct rewritings of symbols, numbered consecutively: binary rules, unary rules, classes of words."""

    binary: IntArray  # (B, 3), `unary` (U, 2), `emission` (E, 2) symbol and class; `parent` (B + U + E) symbol of each;
    unary: IntArray
    emission: IntArray
    parent: IntArray
    rule: IntArray  # (N) the rewriting of each node; `p` (B + U + E) its relative frequency among those of its symbol
    p: FloatArray


def _rewritings(observed: Observed) -> Rewritings:
    forest, emits = observed.forest, observed.forest.word >= 0
    rules = productions(forest)
    pairs = np.stack([forest.label, observed.head], axis=1)[emits]
    emission, which = np.unique(pairs, axis=0, return_inverse=True)
    first = len(rules.binary)
    rule = np.where(forest.right >= 0, rules.rule, rules.rule + first)
    rule[emits] = which.ravel() + first + len(rules.unary)
    parent = np.concatenate([rules.binary[:, 0], rules.unary[:, 0], emission[:, 0]])
    counts = np.bincount(rule, forest.node_weights, len(parent))
    totals = np.bincount(parent, counts, len(forest.labels))
    return Rewritings(
        rules.binary, rules.unary, emission.astype(np.int32), parent, rule.astype(np.int32), counts / totals[parent]
    )


def head_leaves(forest: EncodedTrees, relation: IntArray) -> IntArray:
    """(N) the preterminal that each node takes its headword from: itself, or that of its child with relation ID."""
    leaf = np.arange(len(forest.label), dtype=np.int32)
    of_right = (forest.right >= 0) & (relation[forest.label[forest.right]] == 0)
    below = np.where(of_right, forest.right, forest.left)
    while True:
        up = below[leaf]
        if not (up >= 0).any():
            return leaf
        leaf = np.where(up >= 0, up, leaf).astype(np.int32)


def observe(forest: EncodedTrees, headwords: int) -> Observed:
    """The forest with relations and headwords; the `headwords` that head most constituents are kept.

    Symbols are named category/relation. Headwords are in lower case; signatures of rare words may be headwords.
    """
    names = [category_and_relation(name)[1] for name in forest.labels]
    relations, relation = numbered(names, (HEAD, *sorted(set(names) - {HEAD})))
    spoken, form = _lowered(forest.words)
    counts = np.bincount(form[forest.word[head_leaves(forest, relation)]], forest.node_weights, len(spoken))
    order = np.lexsort((np.arange(len(spoken)), -counts))[:headwords]
    kept = order[counts[order] > 0]
    classes = np.full(len(spoken), len(kept), np.int32)
    classes[kept] = np.arange(len(kept))
    return Observed(forest, relations, relation, (*(spoken[i] for i in kept), UNK_HEADWORD), classes[form])


def _lowered(words: Sequence[str]) -> tuple[list[str], NDArray[np.intp]]:
    """The distinct headword forms of words, and the number of each word's form."""
    forms, which = np.unique([headword(word) for word in words], return_inverse=True)
    return [str(form) for form in forms], which


def headword(word: str) -> str:
    """The form of a word as a headword: in lower case, unless it is a signature.

    >>> headword("The"), headword("UNK-LC-ing")
    ('the', 'UNK-LC-ing')
    """
    return word if is_signature(word) else word.lower()
