"""Opens ARPA files, plain or compressed."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

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
