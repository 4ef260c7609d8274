"""Reads symbol tables of Kaldi and OpenFst, lines `word integer` that give the words of a lattice's integers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from rerank_plugins.core.errors import FormatError
from rerank_plugins.kit.files.text import open_text


def read_symbols(path: Path) -> dict[str, str]:
    """The word of each integer, which is kept as a text. Raises FormatError for a line of another form."""
    symbols: dict[str, str] = {}
    with open_text(path) as lines:
        for number, line in enumerate(lines, 1):
            fields = line.split()
            if len(fields) != 2 or not fields[1].isdigit():
                raise FormatError("expected a word and an integer", path=str(path), line=number)
            symbols[fields[1]] = fields[0]
    return symbols


def spelt(integers: Iterable[str], symbols: Mapping[str, str], path: str, line: int) -> str:
    """The words that the integers mean. Raises FormatError for one that is not in the table."""
    words = []
    for integer in integers:
        if integer not in symbols:
            raise FormatError(f"{integer!r} is not in the symbol table", path=path, line=line)
        words.append(symbols[integer])
    return " ".join(words)
