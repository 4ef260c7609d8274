"""Trees with their probabilities, as parsers yield them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, overload

from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.core.shared_subtrees import SharedTrees


class ScoredTree(NamedTuple):
    """A constituency tree and ln p(tree, words), or ln p(tree | words) if the parser does not model the words."""

    tree: Tree
    log_probability: float


@dataclass(frozen=True, eq=False)
class KBestTrees(Sequence[ScoredTree]):
    """The k best trees of a sentence as arrays of their distinct subtrees; equal to a sequence of the same trees."""

    trees: SharedTrees
    log_probabilities: tuple[float, ...]

    def __len__(self) -> int:
        return len(self.log_probabilities)

    @overload
    def __getitem__(self, place: int) -> ScoredTree: ...
    @overload
    def __getitem__(self, place: slice) -> KBestTrees: ...
    def __getitem__(self, place: int | slice) -> ScoredTree | KBestTrees:
        """The scored tree of this index, or of a slice."""
        if isinstance(place, slice):
            return KBestTrees(self.trees[place], self.log_probabilities[place])
        return ScoredTree(self.trees[place], self.log_probabilities[place])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]
