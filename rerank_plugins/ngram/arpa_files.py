"""Opens ARPA files, plain or compressed."""

from __future__ import annotations

import bz2
import gzip
import lzma
import math
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from rerank_plugins import ModelError

KENLM_BINARY = b"mmap lm http://kheafield.com/code"  # the first bytes of a KenLM binary, which is no ARPA file
OPENERS: dict[bytes, Callable[..., Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}
DAMAGED = (OSError, EOFError, lzma.LZMAError, zlib.error)  # what reading a missing or truncated file raises


def is_kenlm_binary(path: Path) -> bool:
    """Whether the file is a KenLM binary; False for a file that cannot be read."""
    try:
        with open(path, "rb") as stream:
            return stream.read(len(KENLM_BINARY)) == KENLM_BINARY
    except OSError:
        return False


def open_arpa(path: Path) -> IO[bytes]:
    """The file opened for reading, decompressed if its first bytes are those of gzip, bzip2 or xz. Raises OSError."""
    with open(path, "rb") as stream:
        start = stream.read(6)
    opener = next((opener for magic, opener in OPENERS.items() if start.startswith(magic)), open)
    opened: IO[bytes] = opener(path, "rb")
    return opened


LN10 = math.log(10.0)
LEAST = -100.0  # log10 p of an impossible word, and of <unk> where a file has none, as in KenLM


def read_arpa_unigrams(path: Path) -> dict[str, float]:
    """Ln p of the 1-grams of an ARPA file, plain or compressed; nothing after them is read.

    Raises ModelError naming the line for a file that is not ARPA, is cut short, or does not have the number of 1-grams
    that its header promises.
    """
    table: dict[str, float] = {}
    promised, inside, number = -1, False, 0
    for number, line in enumerate(_lines(path), 1):
        if inside and line.startswith("\\"):
            if len(table) != promised:
                raise ModelError(f"{path}:{number}: {len(table)} 1-grams found, {promised} promised in the header")
            return {"<unk>": LN10 * LEAST} | table
        if line.startswith("ngram 1="):
            promised = int(line[8:]) if line[8:27].isdigit() and len(line) < 27 else -1
        elif line == "\\1-grams:" and promised >= 0:
            inside = True
        elif inside and line:
            parts = line.split()
            try:
                table["<unk>" if parts[1] == "<UNK>" else parts[1]] = LN10 * _log10(parts[0])
            except (IndexError, ValueError):
                raise ModelError(f"{path}:{number}: expected 'log10 word [back-off]', found {line!r}") from None
    raise ModelError(f"{path}:{number}: not an ARPA file, or cut short: its 1-grams do not end")


def _log10(text: str) -> float:
    """The number, but at least LEAST. Raises ValueError for one that is no log10 of a probability."""
    value = float(text)
    if not value <= 0:
        raise ValueError(text)
    return max(value, LEAST)


def _lines(path: Path) -> Iterator[str]:
    try:
        with open_arpa(path) as stream:
            yield from (line.decode().strip() for line in stream)
    except (*DAMAGED, UnicodeDecodeError) as error:
        raise ModelError(f"{path}: cannot be read as an ARPA file ({error})") from None
