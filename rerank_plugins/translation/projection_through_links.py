"""Dependency trees through word links: direct projection (Hwa et al. 2005), and agreement with a projected tree.

The head of linked word i is the word linked to the nearest ancestor of i's partner that has a link. A further word that
was aligned to a partner from its own side alone depends on the word that is linked to it. What is left has no
counterpart: punctuation depends on the root, any other word on the linked word to the right of it, or else to the left.
The density of a tree is the proportion of its words, punctuation aside, whose heads come from a link.

For agreement, the projected head of word j, linked to s(j), is the nearest ancestor q of s(j) in the source's tree that
has a link; its own head is the source word p that its nearest linked ancestor is linked to, words linked to s(j) itself
passed over. The head agrees if p = q; it is reversed if the projected head of p is s(j).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from rerank_plugins import DependencyTree
from rerank_plugins.kit.kernels import filling_kernel, part

NO_TREE = -2  # the heads of a sentence without a parse
ROOT = -1
NO_LINK = -1
GUESSED = "dep"  # the relation of a word whose relation is not known
UNKNOWN_TAG = "X"


@part
def linked_ancestor(heads: Any, word: int, linked: Any, stamp: int) -> int:
    """Return the nearest ancestor of a word whose entry in `linked` is `stamp`; ROOT if there is none."""
    ancestor = heads[word]
    while ancestor >= 0 and linked[ancestor] != stamp:
        ancestor = heads[ancestor]
    return int(ancestor)


@filling_kernel
def count_agreement(
    source_heads: Any, source_relations: Any, offsets: Any, links: Any, heads: Any, relations: Any, places: Any,
    arcs: Any, linked: Any, counts: Any,
) -> None:  # fmt: skip
    """Fill `counts` (hypotheses, 5): linked words, agreeing, agreeing in relation, reversed; pairs of arcs that cross.

    Word j of hypothesis h is at `offsets[h] + j` in `links` (the source word, negative for none), `heads` (from 0 in
    the hypothesis; ROOT; NO_TREE) and `relations`, which are numbered alike on both sides. `places` and `linked` (l)
    and `arcs` (longest hypothesis) are overwritten; `linked` must not hold numbers of hypotheses.
    """
    for h in range(len(offsets) - 1):
        first, size = offsets[h], offsets[h + 1] - offsets[h]
        for j in range(size):
            if links[first + j] >= 0:
                linked[links[first + j]] = h
                places[links[first + j]] = j
        for j in range(size):
            arcs[j] = -1
            word = links[first + j]
            if word < 0:
                continue
            counts[h, 0] += 1
            projected = linked_ancestor(source_heads, word, linked, h)
            if projected >= 0:
                arcs[j] = places[projected]
            # The head of the highest word of those linked to the same source word.
            top, ancestor = j, heads[first + j]
            while ancestor >= 0 and (links[first + ancestor] < 0 or links[first + ancestor] == word):
                if links[first + ancestor] == word:
                    top = ancestor
                ancestor = heads[first + ancestor]
            own = links[first + ancestor] if ancestor >= 0 else ancestor
            if own == projected:
                counts[h, 1] += 1
                if relations[first + top] == source_relations[word]:
                    counts[h, 2] += 1
            elif own >= 0 and linked_ancestor(source_heads, own, linked, h) == word:
                counts[h, 3] += 1
        # Two arcs cross if exactly one end of the second lies strictly between the ends of the first.
        for a in range(size):
            if arcs[a] < 0:
                continue
            low, high = min(a, arcs[a]), max(a, arcs[a])
            for b in range(a + 1, size):
                if arcs[b] < 0:
                    continue
                left, right = min(b, arcs[b]), max(b, arcs[b])
                if low < left < high < right or left < low < right < high:
                    counts[h, 4] += 1


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
