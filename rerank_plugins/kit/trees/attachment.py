"""Computes attachment scores of dependency trees against gold trees, over all words as in the CoNLL 2018 task."""

from __future__ import annotations

from dataclasses import dataclass

from rerank_plugins.core.dependency_tree import DependencyTree


@dataclass
class Attachment:
    """Counts of words, punctuation included: all words, and those whose tag, head, or head and relation are correct."""

    words: int = 0
    tags: int = 0
    heads: int = 0
    labelled: int = 0

    def add(self, gold: DependencyTree, predicted: DependencyTree | None) -> None:
        """Count a sentence; without a parse, every word counts as wrong."""
        self.words += len(gold.words)
        if predicted is None:
            return
        tags = predicted.tags or ("_",) * len(predicted.words)
        self.tags += sum(a == b for a, b in zip(gold.tags, tags, strict=True))
        heads = [a == b for a, b in zip(gold.heads, predicted.heads, strict=True)]
        self.heads += sum(heads)
        relations = (a == b for a, b in zip(gold.relations, predicted.relations, strict=True))
        self.labelled += sum(head and relation for head, relation in zip(heads, relations, strict=True))

    def percent(self) -> dict[str, float]:
        """UPOS accuracy, unlabelled and labelled attachment score, each in per cent of the words."""
        counts = {"UPOS": self.tags, "UAS": self.heads, "LAS": self.labelled}
        return {name: 100 * count / max(1, self.words) for name, count in counts.items()}
