"""Constituency trees over exactly the tokens of a sentence, and the bracketed format of the Penn Treebank.

The reader accepts the output of treebanks and parsers: several trees on a line, a tree over several lines, `( (S …))`
without a label at the top (which becomes ROOT), empty elements, function tags, and words that contain spaces. A tree is
written on one line with single spaces. Brackets in words are escaped as in the Penn Treebank (-LRB-, -RRB-). The reader
also decodes -LSB-, -LCB- and the backslash before / and *, which are never written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from rerank_plugins.core.brackets_and_quotes import BRACKETS
from rerank_plugins.core.errors import FormatError

Value = TypeVar("Value")

ROOT = "ROOT"
_TOKEN = re.compile(
    r"""\(\s*([^\s()]+)\s+([^()]*[^\s()])\s*\)  # a tag with its word
      | \(\s*([^\s()]*)                         # the start of a phrase, with its label
      | (\))
      | ([^\s()]+)                              # a word on a line of its own, or stray text
    """,
    re.VERBOSE | re.ASCII,  # re.ASCII: other kinds of space are part of words
)
_ESCAPES = BRACKETS | {r"\/": "/", r"\*": "*"}
_ESCAPE = re.compile("|".join(map(re.escape, _ESCAPES)))


@dataclass(frozen=True, slots=True)
class Tree:
    """An immutable phrase with its children, or a preterminal: a tag whose only child is a word (a str).

    >>> tree = Tree("NP", (Tree("DT", ("the",)), Tree("NN", ("dog",))))
    >>> str(tree), tree.words(), tree.tags()
    ('(NP (DT the) (NN dog))', ('the', 'dog'), ('DT', 'NN'))
    """

    label: str
    children: tuple[Tree | str, ...]

    @property
    def is_preterminal(self) -> bool:
        """Whether this is a tag over a word."""
        return isinstance(self.children[0], str)

    @property
    def word(self) -> str:
        """The word of a preterminal. Raises ValueError for a phrase."""
        word = self.children[0]
        if not isinstance(word, str):
            raise ValueError(f"{self.label} is a phrase, not the tag of a word")
        return word

    @property
    def subtrees(self) -> tuple[Tree, ...]:
        """The children that are trees: all of a phrase, none of a preterminal."""
        return () if self.is_preterminal else self.children  # type: ignore[return-value]

    def nodes(self) -> Iterator[Tree]:
        """This node and all nodes below it, parents before children, from left to right."""
        todo = [self]
        while todo:
            node = todo.pop()
            yield node
            if not isinstance(node.children[0], str):
                todo.extend(node.children[::-1])  # type: ignore[arg-type]

    def preterminals(self) -> Iterator[Tree]:
        """The tags with their words, from left to right."""
        return (node for node in self.nodes() if node.is_preterminal)

    def words(self) -> tuple[str, ...]:
        """The words of the sentence, from left to right."""
        return tuple(node.word for node in self.preterminals())

    def tags(self) -> tuple[str, ...]:
        """The labels of the preterminals, one per word."""
        return tuple(node.label for node in self.preterminals())

    def fold(
        self,
        tag: Callable[[Tree], Value],
        phrase: Callable[[Tree, list[Value]], Value],
        known: dict[int, Value] | None = None,
    ) -> Value:
        """The value of this node, computed from the bottom up by `tag(preterminal)` and `phrase(node, child values)`.

        `known` caches values by the identity of nodes. If it is passed for several trees, a subtree object that they
        share is evaluated once. The trees must live as long as the cache.

        >>> tree = Tree("S", (Tree("NP", (Tree("NN", ("dogs",)),)), Tree("VB", ("bark",))))
        >>> tree.fold(lambda tag: 1, lambda node, heights: 1 + max(heights))
        3
        """
        if known is not None:
            return self._fold_shared(tag, phrase, known)
        values: list[Value] = []
        for node in reversed(list(self.nodes())):  # children before parents, and from right to left
            children = node.children
            if isinstance(children[0], str):
                values.append(tag(node))
            else:
                below = values[: -len(children) - 1 : -1]
                del values[-len(children) :]
                values.append(phrase(node, below))
        return values[0]

    def _fold_shared(
        self, tag: Callable[[Tree], Value], phrase: Callable[[Tree, list[Value]], Value], known: dict[int, Value]
    ) -> Value:
        todo, new = [self], []
        while todo:
            node = todo.pop()
            if id(node) not in known:
                new.append(node)
                if not isinstance(node.children[0], str):
                    todo.extend(node.children)  # type: ignore[arg-type]
        for node in reversed(new):  # children before parents
            if id(node) not in known:
                if isinstance(node.children[0], str):
                    known[id(node)] = tag(node)
                else:
                    known[id(node)] = phrase(node, [known[id(child)] for child in node.children])
        return known[id(self)]

    def __str__(self) -> str:
        return write_tree(self)


def write_tree(tree: Tree) -> str:
    """The tree in brackets, on one line without a line end.

    >>> write_tree(Tree("X", (Tree("-LRB-", ("(",)), Tree("NN", ("a",)))))
    '(X (-LRB- -LRB-) (NN a))'
    """
    pieces: list[str] = []
    todo: list[Tree | None] = [tree]
    while todo:
        node = todo.pop()
        if node is None:
            pieces.append(")")
        elif node.is_preterminal:
            word = node.word.replace("(", "-LRB-").replace(")", "-RRB-")
            pieces.append(f" ({node.label} {word})")
        else:
            pieces.append(f" ({node.label}")
            todo.append(None)
            todo.extend(reversed(node.subtrees))
    return "".join(pieces)[1:]


def _word(written: str) -> str:
    """The word, decoded from its escaped form; each run of white space in it becomes a single space."""
    return re.sub(r"\s+", " ", _ESCAPE.sub(lambda escape: _ESCAPES[escape[0]], written), flags=re.ASCII)


def read_trees(lines: Iterable[str], path: str = "<brackets>") -> Iterator[Tree]:
    """The trees of a bracketed file, one at a time; equal preterminals of a file are one object.

    The label at the top of a tree is kept, whatever it is; a missing one becomes ROOT. Raises FormatError (with file
    and line) for unbalanced brackets, any other missing label, a phrase without children, a word with siblings, and
    text outside the trees.

    >>> [str(tree) for tree in read_trees(["( (S (VP (VB Go))))", "(X (UH Oh))(X", " (UH no))"])]
    ['(ROOT (S (VP (VB Go))))', '(X (UH Oh))', '(X (UH no))']
    """
    known: dict[tuple[str, str], Tree] = {}
    open_: list[tuple[str, list[Tree | str], int]] = []  # of each open phrase: label, children so far, line
    for number, line in enumerate(lines, 1):
        for tag, word, label, closing, text in _TOKEN.findall(line):
            if tag:
                tree = known.get((tag, word))
                if tree is None:
                    tree = known[tag, word] = Tree(tag, (_word(word),))
            elif closing:
                if not open_:
                    raise FormatError("closing bracket without an opening one", path=path, line=number)
                tree = _closed(*open_.pop(), bool(open_), path)
            elif text:
                if not open_:
                    raise FormatError(f"expected a tree, found {text!r}", path=path, line=number)
                open_[-1][1].append(_word(text))
                continue
            else:
                open_.append((label, [], number))
                continue
            if open_:
                open_[-1][1].append(tree)
            else:
                yield tree
    if open_:
        message = f"{len(open_)} opening brackets of the tree that begins here are not closed"
        raise FormatError(message, path=path, line=open_[0][2])


def _closed(label: str, children: list[Tree | str], line: int, inner: bool, path: str) -> Tree:
    """The tree of a phrase whose bracket was just closed. Raises FormatError if it is malformed."""
    if not children:
        raise FormatError(f"{label or 'a phrase'} has no children", path=path, line=line)
    words = [child for child in children if isinstance(child, str)]
    if len(words) == len(children):
        children = [" ".join(words)]
    elif words:
        message = f"word {words[0]!r} under {label} is not the only child of a tag"
        raise FormatError(message, path=path, line=line)
    if not label and (inner or words):
        raise FormatError("a phrase has no label", path=path, line=line)
    return Tree(label or ROOT, tuple(children))
