"""A parsed sentence whose every constituent has its vector."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rerank_plugins.arrays import FloatArray
from rerank_plugins.trees.constituency import Tree


@dataclass(frozen=True, slots=True, eq=False)
class VectorTree:
    """A constituent of a binarised tree: e_γ[i] = P(yield | lc, i) is exp(log_scale) · vector[i].

    `label`            the symbol lc in the model: relation and annotated category
    `phrases`          what it is in the treebank's tree, from above: none where binarisation added it, several where
                       it stands for a chain of unary rules
    `span`             first word, and the word after the last
    `children`         none (over a word), one or two
    `word`             of a preterminal, else ""
    `vector`           (K) sums to one
    `log_scale`        ln Σ e
    `log_probability`  ln aᵀe, a being the prior of lc (-inf for a word none of whose concepts its tag has); at the root
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
        """The treebank's form: no relations, annotations or intermediate nodes. Of intermediate nodes alone, an X."""
        made: list[tuple[Tree, ...]] = []
        for node in reversed(list(self.nodes())):  # children before parents, and from right to left
            below: tuple[Tree | str, ...] = (node.word,)
            if node.children:
                below = tuple(tree for _ in node.children for tree in made.pop())
            for label in reversed(node.phrases):
                below = (Tree(label, below),)
            made.append(below)  # type: ignore[arg-type]
        found = made.pop()
        return found[0] if len(found) == 1 else Tree("X", found)
