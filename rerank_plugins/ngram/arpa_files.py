"""Opens ARPA files, plain or compressed, and recognises the binaries of KenLM."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from rerank_plugins import ModelError
from rerank_plugins.core.files import begins_with

KENLM_BINARY = b"mmap lm http://kheafield.com/code"  # the first bytes of a KenLM binary, which is no ARPA file
OPENERS: dict[bytes, Callable[..., Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}


def is_kenlm_binary(path: Path) -> bool:
    """Whether the file is a KenLM binary; False for a file that cannot be read."""
    return begins_with(path, KENLM_BINARY)


@contextmanager
def open_arpa(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading, decompressed if its first bytes are those of gzip, bzip2 or xz.

    Raises ModelError for a file that is missing, damaged or cut short, and where the block runs out of memory.
    """
    try:
        with open(path, "rb") as stream:
            start = stream.read(6)
        opener = next((opener for magic, opener in OPENERS.items() if start.startswith(magic)), open)
        with opener(path, "rb") as opened:
            yield opened
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise ModelError(f"{path}: cannot be read ({reason})") from None
    except MemoryError:
        raise ModelError(f"{path}: the n-grams that its header promises do not fit into memory") from None
