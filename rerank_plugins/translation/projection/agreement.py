"""Agreement of a hypothesis's dependency tree with the source's tree, through links of their words.

Let s(j) be the source word that word j of hypothesis e is linked to, at most one. Words without links are passed over
in both trees. The projected head of j is the nearest ancestor q of s(j) in the source's tree that has a link to e. Its
own head is the source word p that its nearest linked ancestor in the tree of e is linked to, words linked to s(j)
itself passed over. Either may be the root. The head of j agrees if p = q; it is reversed if the projected head of p is
s(j); otherwise it contradicts the source.
"""

from __future__ import annotations

from typing import Any

from rerank_plugins.kit.kernels import filling_kernel, part

ROOT = -1
NO_TREE = -2  # the heads of a sentence without a parse


@part
def linked_ancestor(heads: Any, word: int, linked: Any, stamp: int) -> int:
    """Return the nearest ancestor of a word whose entry in `linked` is `stamp`; ROOT if there is none."""
    ancestor = heads[word]
    while ancestor >= 0 and linked[ancestor] != stamp:
        ancestor = heads[ancestor]
    return int(ancestor)


@filling_kernel
def count_agreement(
    source_heads: Any,
    source_relations: Any,
    offsets: Any,
    links: Any,
    heads: Any,
    relations: Any,
    places: Any,
    arcs: Any,
    linked: Any,
    counts: Any,
) -> None:
    """Fill `counts` (hypotheses, 5): linked words, those that agree, those that agree in the relation too, those that
    are reversed, and pairs of projected arcs that cross.

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
