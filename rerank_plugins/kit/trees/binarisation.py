"""Binarisation with markovisation (Klein & Manning 2003, sections 2 and 3): trees of at most two children, and back.

A phrase P of n > 2 children gets n - 2 intermediate nodes. Their symbols begin with @ and name P and the last h
children generated so far (h is the order of horizontal markovisation; None: all children):

    right   P -> C1 @P|C1,  @P|C1 -> C2 @P|C2 …   from left to right, branching to the right
    left    P -> @P|Cn Cn,  …                      its mirror image
    head    P -> L2 @,  @ -> L1 @,  @ -> @ R2,  @P:H|R1 -> H R1   generated from the head outwards, right side first

Vertical markovisation of order v comes first: it adds the v - 1 nearest ancestors to the label of every phrase, VP^S.
Unary chains can be joined into one symbol (S over VP becomes S+VP), so that phrases of a binary tree have two
children.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.kit.trees.head_rules import english_heads

LINK = "+"
JOINED = "joined"  # the name in a grammar's settings for training on such trees
INTERMEDIATE = "@"  # the first character of intermediate symbols
PARENT = "^"


def join_unaries(tree: Tree) -> Tree:
    """The tree in which every phrase with a single child is merged with it; the child may be a preterminal.

    Raises ValueError for a label that contains +, since the inverse would split it.

    >>> str(join_unaries(Tree("S", (Tree("VP", (Tree("VB", ("go",)),)),))))
    '(S+VP+VB go)'
    """

    def tag(node: Tree) -> Tree:
        if LINK in node.label:
            raise ValueError(f"label {node.label!r} has {LINK} in it")
        return node

    def phrase(node: Tree, children: list[Tree]) -> Tree:
        tag(node)
        if len(children) == 1:
            return Tree(node.label + LINK + children[0].label, children[0].children)
        return Tree(node.label, tuple(children))

    return tree.fold(tag, phrase)


def split_unaries(tree: Tree) -> Tree:
    """The inverse of `join_unaries`."""

    def split(node: Tree, children: tuple[Tree | str, ...]) -> Tree:
        *above, lowest = node.label.split(LINK)
        tree = Tree(lowest, children)
        for label in reversed(above):
            tree = Tree(label, (tree,))
        return tree

    return tree.fold(lambda tag: split(tag, tag.children), lambda node, children: split(node, tuple(children)))


@dataclass(frozen=True)
class Binarisation:
    """A way to binarise; `undo(apply(tree)) == tree` for every tree whose labels contain neither @ nor ^.

    >>> tree = Tree("NP", tuple(Tree(tag, (tag.lower(),)) for tag in ("DT", "JJ", "NN")))
    >>> str(Binarisation("right", horizontal=1).apply(tree))
    '(NP (DT dt) (@NP|DT (JJ jj) (NN nn)))'
    """

    direction: Literal["right", "left", "head"] = "right"  # how a phrase of more than two children is split
    horizontal: int | None = 1  # how many children an intermediate symbol names (None: all)
    vertical: int = 1  # how many categories a label names, that of the phrase included (1: no annotation)

    def __post_init__(self) -> None:
        if self.direction not in ("right", "left", "head"):
            raise ValueError(f"direction is one of right, left, head, not {self.direction!r}")
        if (self.horizontal is not None and self.horizontal < 0) or self.vertical < 1:
            raise ValueError("horizontal is 0 or more (None: all siblings), vertical 1 or more")

    def apply(self, tree: Tree) -> Tree:
        """The binary tree.

        Raises ValueError for a label that begins with @ and, if ancestors are added, for one that contains ^.
        """
        if any(node.label.startswith(INTERMEDIATE) for node in tree.nodes()):
            raise ValueError("the tree is binarised already: a label begins with @")
        return self._binarised(annotate_ancestors(tree, self.vertical - 1))

    def undo(self, tree: Tree) -> Tree:
        """The inverse of `apply`."""
        unbinarised = remove_intermediate(tree)
        return remove_ancestors(unbinarised) if self.vertical > 1 else unbinarised

    def _binarised(self, tree: Tree) -> Tree:
        def phrase(node: Tree, children: list[Tree]) -> Tree:
            if len(children) <= 2:
                return Tree(node.label, tuple(children))
            if self.direction == "head":
                return self._outwards(node, children)
            labels = [child.label for child in node.subtrees]
            if self.direction == "left":
                below = children[0]
                for i in range(1, len(children)):
                    symbol = self._symbol(node.label, labels[:i:-1]) if i + 1 < len(children) else node.label
                    below = Tree(symbol, (below, children[i]))
                return below
            below = children[-1]
            for i in range(len(children) - 2, -1, -1):
                symbol = self._symbol(node.label, labels[:i]) if i else node.label
                below = Tree(symbol, (children[i], below))
            return below

        return tree.fold(lambda tag: tag, phrase)

    def _outwards(self, node: Tree, children: list[Tree]) -> Tree:
        labels = [child.label for child in node.subtrees]
        head = english_heads().head(node.label, labels)
        name = f"{node.label}:{labels[head]}"
        order = [*range(head + 1, len(children)), *range(head - 1, -1, -1)]
        below, generated = children[head], []
        for i in order:
            generated.append(labels[i])
            symbol = self._symbol(name, generated) if i != order[-1] else node.label
            below = Tree(symbol, (below, children[i]) if i > head else (children[i], below))
        return below

    def _symbol(self, name: str, generated: list[str]) -> str:
        """The intermediate symbol once these children have been generated, in this order."""
        kept = generated if self.horizontal is None else generated[max(0, len(generated) - self.horizontal) :]
        return f"{INTERMEDIATE}{name}|{'_'.join(kept)}" if kept else INTERMEDIATE + name


def remove_intermediate(tree: Tree) -> Tree:
    """The tree in which every intermediate (@) node is replaced by its children."""

    def phrase(node: Tree, children: list[Tree]) -> Tree:
        joined: list[Tree] = []
        for child in children:
            joined.extend(child.subtrees if child.label.startswith(INTERMEDIATE) else [child])
        return Tree(node.label, tuple(joined))

    return tree.fold(lambda tag: tag, phrase)


def annotate_ancestors(tree: Tree, order: int) -> Tree:
    """The tree in which labels are followed by those of the `order` nearest ancestors: VP^S^ROOT.

    Labels of preterminals do not change. Raises ValueError for a label that contains ^.
    """
    if order == 0:
        return tree
    labels = []  # in the order of nodes()
    todo: list[tuple[Tree, tuple[str, ...]]] = [(tree, ())]
    while todo:
        node, above = todo.pop()
        if PARENT in node.label:
            raise ValueError(f"label {node.label!r} is annotated already")
        labels.append(node.label if node.is_preterminal else PARENT.join([node.label, *above]))
        todo.extend((child, (node.label, *above)[:order]) for child in reversed(node.subtrees))
    return _renamed(tree, labels)


def remove_ancestors(tree: Tree) -> Tree:
    """The tree without the labels of ancestors: each label is cut before its first ^, unless it begins with it."""
    return _renamed(tree, [node.label[:1] + node.label[1:].split(PARENT)[0] for node in tree.nodes()])


def _renamed(tree: Tree, labels: list[str]) -> Tree:
    """The tree with these labels, one per node in the order of nodes()."""
    from_last = iter(reversed(labels))
    return tree.fold(
        lambda tag: Tree(next(from_last), tag.children), lambda _, children: Tree(next(from_last), tuple(children))
    )
