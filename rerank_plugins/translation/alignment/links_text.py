"""Writes and reads links as text: `0-0 1-1 2?1`, source word, then target word, from 0 (Pharaoh's and Moses's form)."""

from __future__ import annotations

import re
from typing import NamedTuple

from rerank_plugins.core.errors import FormatError
from rerank_plugins.kit.files.text import display_name, open_text
from rerank_plugins.translation.alignment.symmetrisation import Links

LINK = re.compile(r"(\d+)([-?p])(\d+)")


class GoldLinks(NamedTuple):
    """The sure links of a sentence pair, and the possible ones, which include the sure ones."""

    sure: frozenset[tuple[int, int]]
    possible: frozenset[tuple[int, int]]


def links_text(links: Links) -> str:
    """Links as text.

    >>> links_text([(0, 0), (1, 2)])
    '0-0 1-2'
    """
    return " ".join(f"{source}-{target}" for source, target in links)


def parse_gold(text: str) -> GoldLinks:
    """The links of a line: `-` for sure ones, `?` or `p` for possible ones. Raises ValueError for anything else.

    >>> parse_gold("0-0 1?2").sure, sorted(parse_gold("0-0 1?2").possible)
    (frozenset({(0, 0)}), [(0, 0), (1, 2)])
    """
    sure, possible = set(), set()
    for word in text.split():
        match = LINK.fullmatch(word)
        if match is None:
            raise ValueError(f"found {word!r}, expected links such as 0-0 (sure) and 1?2 (possible)")
        link = int(match[1]), int(match[3])
        possible.add(link)
        if match[2] == "-":
            sure.add(link)
    return GoldLinks(frozenset(sure), frozenset(possible))


def read_gold(path: str) -> list[GoldLinks]:
    """The sure (`-`) and possible (`?` or `p`) links of each line. Raises FormatError with the path and the line."""
    with open_text(path) as lines:
        gold = []
        for number, line in enumerate(lines, 1):
            try:
                gold.append(parse_gold(line))
            except ValueError as error:
                raise FormatError(str(error), path=display_name(path), line=number) from None
        return gold
