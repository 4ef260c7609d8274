"""One alignment from two: the intersection grown towards the union (grow-diag-final-and; Koehn, Och & Marcu 2003)."""

from __future__ import annotations

from collections.abc import Sequence

Link = tuple[int, int]  # (position in the source, position in the target)
NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def grow_diag_final_and(target_of: Sequence[int], source_of: Sequence[int]) -> set[Link]:
    """Links from the target position of each source word, and the source position of each target word (-1: none).

    >>> sorted(grow_diag_final_and([0, 1, 1], [0, 1]))
    [(0, 0), (1, 1), (2, 1)]
    """
    forward = {(i, j) for i, j in enumerate(target_of) if j >= 0}
    backward = {(i, j) for j, i in enumerate(source_of) if i >= 0}
    links, union = forward & backward, forward | backward
    grown = True
    while grown:
        grown = False
        for i, j in sorted(links):
            for di, dj in NEIGHBOURS:
                new = (i + di, j + dj)
                if new in union and new not in links and (_free(links, new, 0) or _free(links, new, 1)):
                    links.add(new)
                    grown = True
    for direction in (forward, backward):
        for new in sorted(direction):
            if _free(links, new, 0) and _free(links, new, 1):
                links.add(new)
    return links


def _free(links: set[Link], new: Link, side: int) -> bool:
    """Whether that side's word of the new link has no link yet."""
    return all(link[side] != new[side] for link in links)
