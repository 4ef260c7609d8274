"""Combines the alignments of both directions into links (Och and Ney 2003; Koehn, Och and Marcu 2003).

forward: each target word with the source word that generated it; backward: the other way round; their intersection and
union. grow-diag-final-and starts with the intersection; adds links of the union that neighbour an accepted link, also
diagonally, as long as their source or their target word has none; and at last links of either direction, forward ones
first, of which both words have none. Links are visited by source word, then by target word, as in Moses's symal.
"""

from __future__ import annotations

from typing import Literal, get_args

from rerank_plugins.core.arrays import LongArray

Method = Literal["forward", "backward", "intersection", "union", "grow-diag-final-and"]
METHODS: tuple[Method, ...] = get_args(Method)
Links = list[tuple[int, int]]
NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def symmetrised(forward: LongArray, backward: LongArray, method: Method) -> Links:
    """Links (source word, target word) in ascending order.

    `forward` has the source word of each target word, `backward` the target word of each source word, -1 if none.
    """
    of_target = {(source, target) for target, source in enumerate(forward.tolist()) if source >= 0}
    of_source = {(source, target) for source, target in enumerate(backward.tolist()) if target >= 0}
    if method == "forward":
        return sorted(of_target)
    if method == "backward":
        return sorted(of_source)
    if method == "union":
        return sorted(of_target | of_source)
    links = of_target & of_source
    if method == "intersection":
        return sorted(links)
    return sorted(_grown(links, of_target, of_source))


def _grown(
    links: set[tuple[int, int]], forward: set[tuple[int, int]], backward: set[tuple[int, int]]
) -> set[tuple[int, int]]:
    union = forward | backward
    sources, targets = {source for source, _ in links}, {target for _, target in links}

    def add(link: tuple[int, int]) -> None:
        links.add(link)
        sources.add(link[0])
        targets.add(link[1])

    grows = True
    while grows:
        grows = False
        for source, target in sorted(links):
            for down, right in NEIGHBOURS:
                link = source + down, target + right
                if link in union and link not in links and (link[0] not in sources or link[1] not in targets):
                    add(link)
                    grows = True
    for direction in (forward, backward):
        for link in sorted(direction):
            if link[0] not in sources and link[1] not in targets:
                add(link)
    return links
