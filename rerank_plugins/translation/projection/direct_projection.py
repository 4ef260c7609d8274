"""Direct projection of a dependency tree through word links (Hwa et al. 2005): parsers without a treebank.

Heads are projected through one-to-one links. The head of linked word i is the word linked to the nearest ancestor of
i's partner that has a link, so that words without a counterpart are passed over. A further word that was aligned to a
partner from its own side alone (Hwa et al.'s many-to-one case: `hat gesehen` for `saw`) depends on the word that is
linked to it. What is left has no counterpart: punctuation depends on the root, any other word on the linked word to the
right of it, or else to the left. The density of a tree is the proportion of its words, punctuation aside, whose heads
come from a link; trees of low density are mostly guesses (Rasooli and Collins 2015).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rerank_plugins.core.dependency_tree import DependencyTree

ROOT = -1
NO_LINK = -1
GUESSED = "dep"  # the relation of a word whose relation is not known
UNKNOWN_TAG = "X"


class Projected(NamedTuple):
    """A projected tree, and the proportion of its words, punctuation aside, that have a one-to-one link."""

    tree: DependencyTree
    density: float


def project(
    words: Sequence[str], other: DependencyTree, forward: Sequence[int], backward: Sequence[int]
) -> Projected | None:
    """The tree of `words` that `other`, the tree of their translation, becomes; None without a link.

    `forward` has, for each word of the other sentence, the word that it is aligned to, and `backward` the other way
    round; NO_LINK where there is none. Links of both are one-to-one links. Relations and tags are those of partners.
    """
    partner = {i: j for i, j in enumerate(backward) if j != NO_LINK and forward[j] == i}
    if not partner:
        return None
    linked = {j: i for i, j in partner.items()}
    heads, relations = [ROOT] * len(words), [GUESSED] * len(words)
    tags = [UNKNOWN_TAG] * len(words)
    for i, j in partner.items():
        ancestor = other.heads[j]
        while ancestor != ROOT and ancestor not in linked:
            ancestor = other.heads[ancestor]
        heads[i] = linked[ancestor] if ancestor != ROOT else ROOT
        relations[i] = other.relations[j]
        tags[i] = other.tags[j] if other.tags else UNKNOWN_TAG
    root = _only_root(partner, other, heads, relations)
    for i, word in enumerate(words):
        if i in partner:
            continue
        if not any(map(str.isalnum, word)):
            heads[i], relations[i], tags[i] = root, "punct", "PUNCT"
        elif backward[i] in linked:
            heads[i] = linked[backward[i]]
        else:
            heads[i] = min(partner, key=lambda k, i=i: (k < i, abs(k - i)))  # type: ignore[misc]
    counted = [i for i, word in enumerate(words) if any(map(str.isalnum, word))]
    density = sum(i in partner for i in counted) / max(1, len(counted))
    return Projected(DependencyTree(tuple(words), tuple(heads), tuple(relations), tuple(tags)), density)


def _only_root(partner: dict[int, int], other: DependencyTree, heads: list[int], relations: list[str]) -> int:
    """Leave one linked word without a head, and make the others that have none its dependents; return it.

    The root is the partner of the other tree's root, or else the first word without a head.
    """
    roots = [i for i in sorted(partner) if heads[i] == ROOT]
    root = next((i for i in roots if other.heads[partner[i]] == ROOT), roots[0])
    for i in roots:
        heads[i] = root
        relations[i] = GUESSED if relations[i] == "root" else relations[i]
    heads[root], relations[root] = ROOT, "root"
    return root
