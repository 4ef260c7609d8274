"""Opening ARPA files, plain or compressed."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

KENLM_BINARY = b"mmap lm http://kheafield.com/code"  # what a file begins with that is no ARPA file
OPENERS: dict[bytes, Callable[..., Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}
DAMAGED = (OSError, EOFError, lzma.LZMAError)  # what reading raises, cut short or not there


def is_kenlm_binary(path: Path) -> bool:
    """Whether a file is KenLM's own. Raises OSError."""
    with open(path, "rb") as stream:
        return stream.read(len(KENLM_BINARY)) == KENLM_BINARY


def open_arpa(path: Path) -> IO[bytes]:
    """A file's bytes, decompressed as its first ones say (gzip, bzip2, xz). Raises OSError."""
    with open(path, "rb") as stream:
        start = stream.read(6)
    opener = next((opener for magic, opener in OPENERS.items() if start.startswith(magic)), open)
    opened: IO[bytes] = opener(path, "rb")
    return opened
