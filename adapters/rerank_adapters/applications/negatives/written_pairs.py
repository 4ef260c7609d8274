"""Writes the pairs that are made of the sentences of a text, with a bar that counts the sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rerank_adapters.data.minimal_pairs import Pair, pair_lines
from rerank_adapters.runtime.progress import CountingBar
from rerank_plugins.kit.files.text import open_atomic


def write_pairs(pairs: Iterable[Pair], sentences: int, columns: Sequence[str], output: Path) -> int:
    """Write pairs with these columns of groups, whose lines count the `sentences`; return the number of pairs."""
    written = 0

    def shown() -> Iterator[Pair]:
        nonlocal written
        for pair in pairs:
            bar.add(pair.line - bar.done)
            written += 1
            yield pair

    with open_atomic(output) as out, CountingBar("sentences", sentences) as bar:
        out.writelines(pair_lines(shown(), columns))
    return written
