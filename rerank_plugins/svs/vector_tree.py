"""A parsed sentence in which every constituent has a vector."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.constituency_tree import Tree


@dataclass(frozen=True, slots=True, eq=False)
class VectorTree:
    """A constituent of a binarised tree: e_γ[i] = P(yield | lc, i) is exp(log_scale) · vector[i].

    `label`            the symbol lc in the model: relation and annotated category
    `phrases`          its labels in the treebank's form of the tree, topmost first: none if binarisation added it,
                       several if it stands for a chain of unary rules
    `span`             first word, and the word after the last
    `children`         none (over a word), one or two
    `word`             of a preterminal, else ""
    `vector`           (K) sums to one
    `log_scale`        ln Σ e
    `log_probability`  ln aᵀe with the prior a of lc (-inf for a word whose tag has none of its concepts); at the root,
                       ln p(tree, words), summed over concepts
    """

    label: str
    phrases: tuple[str, ...]
    span: tuple[int, int]
    children: tuple[VectorTree, ...]
    word: str
    vector: FloatArray
    log_scale: float
    log_probability: float

    def nodes(self) -> Iterator[VectorTree]:
        """This constituent and all below it, parents before children, from left to right."""
        todo = [self]
        while todo:
            node = todo.pop()
            yield node
            todo.extend(reversed(node.children))

    def tree(self) -> Tree:
        """The tree in the treebank's form, without relations, annotations and intermediate nodes.

        If nothing but intermediate nodes is at the top, their children are put under an X.
        """
        restored: list[tuple[Tree, ...]] = []
        for node in reversed(list(self.nodes())):  # children before parents, and from right to left
            below: tuple[Tree | str, ...] = (node.word,)
            if node.children:
                below = tuple(tree for _ in node.children for tree in restored.pop())
            for label in reversed(node.phrases):
                below = (Tree(label, below),)
            restored.append(below)  # type: ignore[arg-type]
        top = restored.pop()
        return top[0] if len(top) == 1 else Tree("X", top)
