"""Reads files of links between words, of which each line belongs to a sentence pair: `0-0 1-2 2?2`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerank_plugins.core.errors import FormatError
from rerank_plugins.kit.files.text import display_name, open_text

if TYPE_CHECKING:
    from rerank_plugins.translation.alignment.links_text import GoldLinks


def read_gold(path: str) -> list[GoldLinks]:
    """The sure (`-`) and possible (`?` or `p`) links of each line. Raises FormatError with the path and the line."""
    from rerank_plugins.translation.alignment.links_text import parse_gold

    with open_text(path) as lines:
        gold = []
        for number, line in enumerate(lines, 1):
            try:
                gold.append(parse_gold(line))
            except ValueError as error:
                raise FormatError(str(error), path=display_name(path), line=number) from None
        return gold
