"""All transformations in order, for many trees: equal subtrees, of whichever trees, are transformed once.

What a transformation makes of a node depends only on the node and what is below it (the parent adds the marks that name
the parent), so it can be remembered. The trees of a k-best list share most of their subtrees, and so do the
hypotheses of an n-best list.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial

from rerank_plugins.trees.constituency import Known, Tree
from rerank_plugins.trees.heads import HeadRules, english_heads
from rerank_plugins.trees.treelet_transforms.flattening import delete_unaries, flatten_nps, flatten_sbars, flatten_vps
from rerank_plugins.trees.treelet_transforms.labels import annotate_heads, annotate_parents, mark_gaps
from rerank_plugins.trees.treelet_transforms.tags import TEMPORAL, mark_numbers, mark_temporal

REMEMBERED = 20_000  # distinct subtrees, about 2 kB each


class Transformations:
    """Transforms one tree after the other; English, unless head rules say otherwise."""

    def __init__(self, temporal: Collection[str] = TEMPORAL, rules: HeadRules | None = None) -> None:
        self._temporal, self._rules = temporal, rules or english_heads()
        self._start()

    def _start(self) -> None:
        """Remember nothing."""
        self._seen: list[Tree] = []  # kept, so that an identity stays that of one tree
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
        """The tree whose treelets the model counts."""
        if len(self._equal) > REMEMBERED:
            self._start()
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
