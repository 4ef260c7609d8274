"""Attachment scores: how well dependency trees agree with gold ones (as CoNLL 2018 counts, over all words)."""

from __future__ import annotations

from dataclasses import dataclass

from rerank_plugins.trees.dependency import DependencyTree


@dataclass
class Attachment:
    """How well trees agree with gold ones, counted in words, punctuation among them."""

    words: int = 0
    tags: int = 0
    heads: int = 0
    labelled: int = 0

    def add(self, gold: DependencyTree, found: DependencyTree | None) -> None:
        """Count a sentence; one without a parse has every word wrong."""
        self.words += len(gold.words)
        if found is None:
            return
        tags = found.tags or ("_",) * len(found.words)
        self.tags += sum(a == b for a, b in zip(gold.tags, tags, strict=True))
        right = [a == b for a, b in zip(gold.heads, found.heads, strict=True)]
        self.heads += sum(right)
        same = (a == b for a, b in zip(gold.relations, found.relations, strict=True))
        self.labelled += sum(head and relation for head, relation in zip(right, same, strict=True))

    def percent(self) -> dict[str, float]:
        """UPOS accuracy, unlabelled and labelled attachment score."""
        found = {"UPOS": self.tags, "UAS": self.heads, "LAS": self.labelled}
        return {name: 100 * count / max(1, self.words) for name, count in found.items()}
