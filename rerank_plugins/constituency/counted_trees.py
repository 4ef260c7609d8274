"""Reads the trees of several treebanks one by one, and keeps their numbers and weights but not the trees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from rerank_plugins.constituency.tagged_words import weighed
from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.core.errors import FormatError


class CountedTrees:
    """The trees of treebanks in order, each treebank with a weight.

    When all are read, `sizes` has the number of trees of each treebank and, with `tags`, `tagged` its tagged words
    times its weight.
    """

    def __init__(self, treebanks: Sequence[Iterable[Tree]], weights: Sequence[float], *, tags: bool) -> None:
        self.sizes: list[int] = []
        self.tagged: list[Counter[tuple[str, str]]] = []
        self._treebanks, self._weights, self._tags = treebanks, weights, tags

    def __iter__(self) -> Iterator[Tree]:
        """Yield the trees. Raises FormatError if there are none."""
        for treebank, weight in zip(self._treebanks, self._weights, strict=True):
            size, counts = 0, Counter[tuple[str, str]]()
            for tree in treebank:
                size += 1
                if self._tags:
                    counts.update(zip(tree.words(), tree.tags(), strict=True))
                yield tree
            self.sizes.append(size)
            self.tagged.append(weighed(counts, weight))
        if not sum(self.sizes):
            raise FormatError("no trees to learn from")

    def tree_weights(self) -> FloatArray:
        """Return the weight of each tree that was read."""
        return np.repeat(np.asarray(self._weights, np.float64), self.sizes)
