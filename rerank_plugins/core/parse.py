"""What a parser finds out about a sentence: dependencies, constituents, or both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.core.dependency_tree import DependencyTree, write_conllu
from rerank_plugins.core.scored_trees import ScoredTree


@dataclass(frozen=True)
class Parse:
    """The syntactic structure of a sentence, by a parser.

    `dependencies` is None, and `constituents` is empty, if the parser does not give that kind of structure or could not
    parse the sentence. `constituents` are the k best trees, the best first.
    """

    dependencies: DependencyTree | None = None
    constituents: Sequence[ScoredTree] = ()

    @property
    def tree(self) -> Tree | None:
        """The best constituency tree, or None if there is none."""
        return self.constituents[0].tree if self.constituents else None

    @property
    def is_empty(self) -> bool:
        """Whether there is no structure of either kind."""
        return self.dependencies is None and not self.constituents

    def to_brackets(self) -> str:
        """The best constituency tree in brackets. Raises ValueError if there is none.

        >>> from rerank_plugins import read_trees
        >>> print(Parse(constituents=[ScoredTree(next(read_trees(["(S (NP it) (VP rains))"])), -1.0)]).to_brackets())
        (S (NP it) (VP rains))
        """
        if self.tree is None:
            raise ValueError("the parse has no constituents, which brackets show")
        return str(self.tree)

    def to_conllu(self) -> str:
        r"""The dependency tree as a sentence of a CoNLL-U file. Raises ValueError if there is none.

        >>> print(Parse(DependencyTree(("it", "rains"), (1, -1), ("expl", "root"))).to_conllu(), end="")
        1	it	_	_	_	_	2	expl	_	_
        2	rains	_	_	_	_	0	root	_	_
        <BLANKLINE>
        """
        if self.dependencies is None:
            raise ValueError("the parse has no dependencies, which CoNLL-U shows")
        return write_conllu(self.dependencies)

    def __str__(self) -> str:
        """The best constituency tree in brackets, or else the dependencies in CoNLL-U; `(no parse)` without either."""
        if self.tree is not None:
            return self.to_brackets()
        return self.to_conllu().rstrip("\n") if self.dependencies is not None else "(no parse)"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: ARG002  the signature of IPython
        """Print the same in a notebook."""
        printer.text(str(self))
