"""Applies all transformations to many trees, and to equal subtrees of any of them once.

The result of a transformation for a node depends only on the node and those below it (marks that name a parent are
added when the parent is transformed), so it can be cached. The trees of a k-best list share most of their subtrees, and
so do those of the hypotheses of an n-best list.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial

from rerank_plugins.core.constituency_tree import Known, Tree
from rerank_plugins.kit.trees.head_rules import HeadRules, english_heads
from rerank_plugins.treelet.tree_transformations.flattening import (
    delete_unaries,
    flatten_nps,
    flatten_sbars,
    flatten_vps,
)
from rerank_plugins.treelet.tree_transformations.labels import annotate_heads, annotate_parents, mark_gaps
from rerank_plugins.treelet.tree_transformations.tags import TEMPORAL, mark_numbers, mark_temporal

REMEMBERED = 20_000  # distinct subtrees in the cache, about 2 kB each


class Transformations:
    """Transforms trees one after another; the default head rules are for English."""

    def __init__(self, temporal: Collection[str] = TEMPORAL, rules: HeadRules | None = None) -> None:
        self._temporal, self._rules = temporal, rules or english_heads()
        self._clear()

    def _clear(self) -> None:
        """Empty the caches."""
        self._seen: list[Tree] = []  # keeps the trees alive, so that no id() is used again
        self._same: Known = {}
        self._equal: dict[tuple[object, ...], Tree] = {}
        self._steps: list[Callable[[Tree], Tree]] = [
            partial(mark_temporal, nouns=self._temporal, known={}),
            partial(annotate_heads, rules=self._rules, known={}),
            *(
                partial(step, known={})
                for step in (
                    flatten_nps,
                    mark_numbers,
                    flatten_sbars,
                    flatten_vps,
                    mark_gaps,
                    annotate_parents,
                    delete_unaries,
                )
            ),
        ]

    def __call__(self, tree: Tree) -> Tree:
        """The transformed tree, whose treelets the model counts."""
        if len(self._equal) > REMEMBERED:
            self._clear()
        self._seen.append(tree)
        tree = tree.fold(self._one_tag, self._one_phrase, self._same)
        for step in self._steps:
            tree = step(tree)
        return tree

    def _one_tag(self, tag: Tree) -> Tree:
        return self._equal.setdefault((tag.label, tag.word), tag)

    def _one_phrase(self, node: Tree, children: list[Tree]) -> Tree:
        key = (node.label, None, *map(id, children))
        phrase = self._equal.get(key)
        if phrase is None:
            phrase = self._equal[key] = Tree(node.label, tuple(children))
        return phrase
