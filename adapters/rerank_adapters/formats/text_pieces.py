"""Divides texts into pieces for tasks on other machines: ranges of lines of a plain file, or whole compressed files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from rerank_plugins import ConfigError, FormatError, open_text
from rerank_plugins.kit.files.text import MAGIC, PIECE, STANDARD, decoded_lines

SIZE = 1 << 24  # bytes of a piece
PIECES = 4096  # pieces of a text, about; those of a larger text have more bytes


@dataclass(frozen=True)
class TextPiece:
    """The lines of a file from byte `start` to byte `end`; without an end, those of the whole file."""

    path: str
    start: int = 0
    end: int | None = None


def text_pieces(paths: Sequence[str], size: int | None = None) -> list[TextPiece]:
    """The pieces of texts, in order, of about `size` bytes; compressed files, which must be read whole, are one each.

    Raises ConfigError for stdin, FormatError for a file that cannot be read.
    """
    if STANDARD in paths:
        raise ConfigError("a cluster reads files, not stdin: write the text to a file on storage that machines share")
    for path in paths:
        with open_text(path):
            pass
    size = size or max(SIZE, sum(os.path.getsize(path) for path in paths) // PIECES)
    return [piece for path in paths for piece in _pieces_of(path, size)]


def _pieces_of(path: str, size: int) -> Iterator[TextPiece]:
    with open(path, "rb") as stream:
        head = stream.read(10)
        if any(head.startswith(magic) for magic, *_ in MAGIC) or not Path(path).is_file():
            yield TextPiece(path)
            return
        start, whole = 0, os.fstat(stream.fileno()).st_size
        while whole - start > size:
            stream.seek(start + size - 1)
            stream.readline()
            yield TextPiece(path, start, stream.tell())
            start = stream.tell()
        if start < whole or start == 0:
            yield TextPiece(path, start, whole)


@contextmanager
def open_piece(piece: TextPiece) -> Iterator[Iterator[str]]:
    """Open a piece and yield its lines. Raises FormatError as `open_text` does.

    The lines of a FormatError that is raised in the block are counted from the start of the piece; it is raised again
    with those of the file.
    """
    if piece.end is None:
        with open_text(piece.path) as lines:
            yield lines
        return
    try:
        with open(piece.path, "rb", buffering=0) as stream:
            stream.seek(piece.start)
            yield decoded_lines(_bytes(stream, piece), piece.path, starts=piece.start == 0)
    except FormatError as error:
        if error.line is None or piece.start == 0:
            raise
        raise FormatError(error.message, path=error.path, line=error.line + _lines_before(piece)) from None
    except OSError as error:
        raise FormatError(f"cannot be read ({error.strerror or error})", path=piece.path) from None


def _bytes(stream: IO[bytes], piece: TextPiece) -> Iterator[bytes]:
    left = (piece.end or 0) - piece.start
    while left and (read := stream.read(min(left, PIECE))):
        left -= len(read)
        yield read


def _lines_before(piece: TextPiece) -> int:
    with open(piece.path, "rb") as stream:
        return sum(read.count(b"\n") for read in _bytes(stream, TextPiece(piece.path, 0, piece.start)))
