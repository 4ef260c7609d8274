"""Slow, obvious twins of projected trees: the trees are cut down to linked words first, then compared."""

from __future__ import annotations

from collections.abc import Sequence


def ancestors(heads: Sequence[int], word: int) -> list[int]:
    """All ancestors of a word, the nearest first, up to the root (-1)."""
    chain = []
    while word != -1:
        word = heads[word]
        chain.append(word)
    return chain


def projected_head(source_heads: Sequence[int], links: Sequence[int], word: int) -> int:
    return next(a for a in ancestors(source_heads, word) if a == -1 or a in links)


def agreement(
    source_heads: Sequence[int],
    source_relations: Sequence[str],
    links: Sequence[int],
    heads: Sequence[int] | None,
    relations: Sequence[str],
) -> list[float]:
    """directed, undirected, labelled, contradicted, crossings, unprojected; `heads` is None without a parse."""
    linked = [j for j, word in enumerate(links) if word >= 0]
    directed = undirected = labelled = 0
    for j in linked:
        word = links[j]
        wanted = projected_head(source_heads, links, word)
        if heads is None:
            continue
        own = next(a for a in ancestors(heads, j) if a == -1 or (links[a] >= 0 and links[a] != word))
        own_word = -1 if own == -1 else links[own]
        if own_word == wanted:
            directed += 1
            below = [j, *ancestors(heads, j)]
            group = [k for k in below[: below.index(own)] if links[k] == word]
            labelled += relations[group[-1]] == source_relations[word]
        elif own_word >= 0 and projected_head(source_heads, links, own_word) == word:
            undirected += 1
    undirected += directed
    arcs = []
    for j in linked:
        head = projected_head(source_heads, links, links[j])
        if head >= 0:
            at = max(k for k in linked if links[k] == head)
            arcs.append((min(j, at), max(j, at)))
    crossings = sum(a < c < b < d for a, b in arcs for c, d in arcs)
    n = max(1, len(linked))
    return [
        directed / n, undirected / n, labelled / n, undirected - len(linked), -crossings, len(linked) - len(links)
    ]  # fmt: skip
