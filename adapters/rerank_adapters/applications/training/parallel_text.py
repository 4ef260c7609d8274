"""Reads parallel sentences: two files, line by line, or one file of lines `source ||| target`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from rerank_plugins import ConfigError, FormatError, open_text
from rerank_plugins.kit.files.text import display_name


def read_sentence_pairs(paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the pairs (source, target) of one file or two, compressed or not.

    Raises ConfigError for another number of files, FormatError for files of different lengths, with both, and for a
    line that has not exactly two parts.
    """
    if len(paths) == 1:
        yield from _of_one(paths[0])
    elif len(paths) == 2:
        yield from _of_two(paths[0], paths[1])
    else:
        raise ConfigError(f"{len(paths)} files of sentence pairs: wanted SOURCE and TARGET, or one file with both")


def _of_one(path: str) -> Iterator[tuple[str, str]]:
    with open_text(path) as lines:
        for number, line in enumerate(lines, 1):
            parts = line.split("|||")
            if len(parts) != 2:
                message = f"found {len(parts)} parts, expected source ||| target (or give two files)"
                raise FormatError(message, path=display_name(path), line=number)
            yield parts[0], parts[1]


def _of_two(source: str, target: str) -> Iterator[tuple[str, str]]:
    with open_text(source) as sources, open_text(target) as targets:
        number = 0
        for number, (left, right) in enumerate(zip_longest(sources, targets), 1):
            if left is None or right is None:
                longer, lines = (target, targets) if left is None else (source, sources)
                total = number + sum(1 for _ in lines)
                shorter = source if left is None else target
                raise FormatError(
                    f"{number - 1:,} lines, but {total:,} in {display_name(longer)}; expected a line for each sentence "
                    "pair in both",
                    path=display_name(shorter),
                )
            yield left, right
