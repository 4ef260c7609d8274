"""A dependency tree with the queries of the grammar rules: children, clauses, subjects, auxiliaries.

Relations are compared without subtypes (`nsubj` for `nsubj:pass`), since treebanks and parsers differ in these; where a
subtype matters, `full_relations` has it. Positions are from 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from rerank_plugins import DependencyTree

CLAUSES = frozenset(["root", "ccomp", "xcomp", "advcl", "acl", "csubj", "parataxis"])
BE = frozenset(["is", "are", "was", "were", "am", "be", "been", "being", "'s", "'re", "'m"])
WH = frozenset(["who", "whom", "what", "which", "whose", "whoever", "whatever"])


class TreeView:
    """The tree of a sentence, seen by the rules: `words` are in lower case, `children` in the order of the sentence."""

    def __init__(self, tree: DependencyTree) -> None:
        self.tree = tree
        self.words = tuple(word.lower() for word in tree.words)
        self.tags = tree.tags or ("_",) * len(tree.words)
        self.heads = tree.heads
        self.full_relations = tree.relations
        self.relations = tuple(relation.partition(":")[0] for relation in tree.relations)
        self.children: list[list[int]] = [[] for _ in tree.words]
        for child, head in enumerate(tree.heads):
            if head >= 0:
                self.children[head].append(child)

    def __len__(self) -> int:
        return len(self.words)

    def dependents(self, head: int, *relations: str) -> list[int]:
        """The children of a word that stand in one of these relations to it."""
        return [child for child in self.children[head] if self.relations[child] in relations]

    def first(self, head: int, *relations: str) -> int | None:
        """The first child of a word that stands in one of these relations to it, or None."""
        return next((child for child in self.children[head] if self.relations[child] in relations), None)

    def subtree(self, head: int) -> list[int]:
        """The positions of a word and of all its descendants, sorted."""
        positions, waiting = [], [head]
        while waiting:
            node = waiting.pop()
            positions.append(node)
            waiting += self.children[node]
        return sorted(positions)

    def ancestors(self, word: int) -> Iterator[int]:
        """The heads above a word, the nearest first, without the root symbol."""
        while (word := self.heads[word]) >= 0:
            yield word

    def subject(self, predicate: int) -> int | None:
        """The nominal subject of a predicate, or None."""
        return self.first(predicate, "nsubj")

    def auxiliaries(self, predicate: int) -> list[int]:
        """The auxiliaries and the copula of a predicate."""
        return self.dependents(predicate, "aux", "cop")

    def is_passive(self, verb: int) -> bool:
        """Whether a verb has a passive auxiliary or a passive subject."""
        return any(
            self.full_relations[child] in ("nsubj:pass", "aux:pass", "csubj:pass") for child in self.children[verb]
        )

    def is_infinitive(self, predicate: int) -> bool:
        """Whether a predicate has the mark `to`."""
        return any(self.words[child] == "to" for child in self.dependents(predicate, "mark", "aux"))

    @cached_property
    def verbs(self) -> list[int]:
        """The positions of all verbs that are not attributes (`a broken vase`)."""
        return [
            i
            for i, tag in enumerate(self.tags)
            if tag == "VERB" and self.relations[i] not in ("amod", "compound", "case", "mark", "fixed")
        ]

    def has_wh(self, predicate: int) -> bool:
        """Whether a child of a predicate is, or begins with, a question word or relative pronoun."""
        return any(
            self.words[child] in WH or any(self.words[below] in WH for below in self.children[child])
            for child in self.children[predicate]
            if child < predicate and self.relations[child] not in ("advcl", "ccomp", "parataxis", "csubj", "conj")
        )
