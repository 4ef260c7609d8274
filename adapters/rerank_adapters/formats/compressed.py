r"""Text files in and out: plain, gz, xz, bz2 and zst, and `-` for stdin and stdout.

Reading recognises a compression by the file's first bytes, not by its name, and works in pieces of bounded size.
Lines end at "\n" alone and keep their ends: U+2028, form feeds and "\r" are characters of a sentence here, and a file
that is read and written again has the same bytes. Writing chooses the compression by the name's ending and puts the
file in its place only when it is complete. Left out: other encodings than UTF-8, zip and tar.
"""

from __future__ import annotations

import bz2
import contextlib
import errno
import gzip
import io
import lzma
import os
import secrets
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO, Any, Protocol, TextIO

from rerank_adapters.closed_pipes import drop_unread
from rerank_plugins.errors import FormatError, RerankError

PIECE = 1 << 16  # compressed bytes inflated at a time: what bounds the memory of reading
STANDARD = "-"


class _Decompressor(Protocol):
    """What the decompressors of zlib, bz2, lzma and zstandard have in common."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


def _zstandard() -> Any:
    import zstandard

    return zstandard.ZstdDecompressor().decompressobj()


MAGIC: tuple[tuple[bytes, str, Callable[[], _Decompressor]], ...] = (
    (b"\x1f\x8b", "gzip", lambda: zlib.decompressobj(31)),  # 31: gzip header, largest window
    (b"\xfd7zXZ\x00", "xz", lzma.LZMADecompressor),
    (b"\x28\xb5\x2f\xfd", "zstandard", _zstandard),
    *((b"BZh%d1AY&SY" % level, "bzip2", bz2.BZ2Decompressor) for level in range(1, 10)),
    *((b"BZh%d\x17rE8P\x90" % level, "bzip2", bz2.BZ2Decompressor) for level in range(1, 10)),  # empty
)


def display_name(path: str | Path) -> str:
    """The path as messages show it."""
    return "<stdin>" if str(path) == STANDARD else str(path)


@contextmanager
def open_text(path: str | Path) -> Iterator[Iterator[str]]:
    """The lines of a UTF-8 text file, each with its line end; `-` is stdin.

    Raises FormatError for a file that is missing, may not be read, is cut short or damaged, starts with a byte-order
    mark, or has a line that is not UTF-8 (naming line and byte).
    """
    name = display_name(path)
    with _opened(path, name) as stream:
        yield _decoded(_lines(_inflated(stream, name)), name)


def _opened(path: str | Path, name: str) -> AbstractContextManager[IO[bytes]]:
    if str(path) == STANDARD:
        return contextlib.nullcontext(sys.stdin.buffer)
    try:
        return open(path, "rb", buffering=0)
    except OSError as error:
        raise FormatError(_reason(error), path=name) from None


def _reason(error: OSError) -> str:
    known = {
        errno.ENOENT: "no such file",
        errno.EISDIR: "is a folder, expected a file",
        errno.EACCES: "may not be read (permission denied)",
    }
    return known.get(error.errno or 0, f"cannot be read ({error.strerror or error})")


def _pieces(stream: IO[bytes], name: str) -> Iterator[bytes]:
    read = getattr(stream, "read1", stream.read)  # what a pipe has ready, without waiting for a full piece
    while True:
        try:
            piece = read(PIECE)
        except OSError as error:
            raise FormatError(_reason(error), path=name) from None
        if not piece:
            return
        yield piece


def _inflated(stream: IO[bytes], name: str) -> Iterator[bytes]:
    pieces = _pieces(stream, name)
    head = b""
    while len(head) < 10 and (piece := next(pieces, b"")):
        head += piece
    for magic, kind, make in MAGIC:
        if head.startswith(magic):
            yield from _decompressed(head, pieces, kind, make, name)
            return
    yield head
    yield from pieces


def _decompressed(
    head: bytes, pieces: Iterator[bytes], kind: str, make: Callable[[], _Decompressor], name: str
) -> Iterator[bytes]:
    """All streams of a file, which may be several, one after the other (as `cat a.gz b.gz` makes them)."""
    decompressor, started = make(), False
    piece = head
    while piece:
        try:
            while piece:
                started = True
                yield decompressor.decompress(piece)
                if not decompressor.eof:
                    break
                piece = decompressor.unused_data.lstrip(b"\0")  # padding between streams is legal
                decompressor, started = make(), False
        except (zlib.error, lzma.LZMAError, OSError, EOFError) as error:
            raise FormatError(f"damaged {kind} file ({error})", path=name) from None
        except Exception as error:  # zstandard's own class, imported only where a file needs it
            if type(error).__module__.partition(".")[0] != "zstandard":
                raise
            raise FormatError(f"damaged {kind} file ({error})", path=name) from None
        piece = next(pieces, b"") if started else next(pieces, b"").lstrip(b"\0")
    if started:
        raise FormatError(f"{kind} file is cut short: its end is missing", path=name)


def _lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    r"""Lines of the joined pieces, split at "\n"; the last may lack it."""
    waiting: list[bytes] = []  # pieces of a line whose end has not come yet
    for piece in pieces:
        end = piece.rfind(b"\n") + 1
        if end:
            yield from io.BytesIO(b"".join((*waiting, piece[:end])))
            waiting = []
        if end < len(piece):
            waiting.append(piece[end:])
    if waiting:
        yield b"".join(waiting)


def _decoded(lines: Iterator[bytes], name: str) -> Iterator[str]:
    number = 0
    for number, line in enumerate(lines, 1):
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            found = f"byte {error.start + 1} of the line is 0x{line[error.start]:02x}, which is not UTF-8"
            raise FormatError(f"{found} ({error.reason})", path=name, line=number) from None
        if number == 1 and text.startswith("\ufeff"):
            raise FormatError("starts with a byte-order mark; expected UTF-8 without one", path=name, line=1)
        yield text


@contextmanager
def open_atomic(path: str | Path) -> Iterator[TextIO]:
    r"""A text stream that becomes the file `path` when the block ends; `-` is stdout.

    Compressed by the ending .gz, .xz, .bz2 or .zst; "\n" is written as it is. On an error or Ctrl-C nothing is left
    behind and an older file stays. Raises RerankError where the disk is full or the folder cannot be written.
    A file that is no ordinary one (a pipe, /dev/null) is written directly. A reader of stdout that goes away
    raises BrokenPipeError, as ever.
    """
    if str(path) == STANDARD:
        sys.stdout.flush()
        stream = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", newline="", write_through=True)
        try:
            yield stream
            stream.flush()
        except BrokenPipeError:
            drop_unread()  # or the stream could not be detached below, and would close stdout
            raise
        except OSError as error:
            raise _write_error("<stdout>", error) from error
        finally:
            with contextlib.suppress(ValueError):
                stream.detach()
        return
    target = Path(os.path.realpath(path))  # a link stays a link
    if target.exists() and not target.is_file() and not target.is_dir():
        try:
            with open(target, "w", encoding="utf-8", newline="") as direct:
                yield direct
        except BrokenPipeError:
            raise
        except OSError as error:
            if error.filename not in (None, str(target)):
                raise
            raise _write_error(str(path), error) from error
        return
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "is a folder")
        with open(temporary, "xb") as binary:
            with _deflating(binary, target.suffix) as text:
                yield text
            binary.flush()
        if target.exists():
            os.chmod(temporary, target.stat().st_mode & 0o7777)
        os.replace(temporary, target)
    except BrokenPipeError:  # of stdout, written to in the block: it is not this file's
        raise
    except OSError as error:
        if error.filename not in (None, str(temporary), str(target)):
            raise  # not of this file: something that the block did
        raise _write_error(str(path), error) from error
    finally:
        temporary.unlink(missing_ok=True)


def _write_error(name: str, error: OSError) -> RerankError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return RerankError(f"{name}: the disk is full; nothing was written")
    return RerankError(f"{name}: cannot be written ({error.strerror or error})")


@contextmanager
def _deflating(binary: IO[bytes], suffix: str) -> Iterator[TextIO]:
    with contextlib.ExitStack() as stack:
        inner: Any = binary
        if suffix == ".gz":  # neither time nor name inside: the same text gives the same bytes
            inner = stack.enter_context(gzip.GzipFile(filename="", mode="wb", fileobj=binary, mtime=0))
        elif suffix == ".xz":
            inner = stack.enter_context(lzma.LZMAFile(binary, "wb"))
        elif suffix == ".bz2":
            inner = stack.enter_context(bz2.BZ2File(binary, "wb"))
        elif suffix == ".zst":
            import zstandard

            inner = stack.enter_context(
                zstandard.ZstdCompressor(write_checksum=True).stream_writer(binary, closefd=False)
            )
        text = io.TextIOWrapper(inner, encoding="utf-8", newline="")
        try:
            yield text
            text.flush()
        finally:
            with contextlib.suppress(ValueError, OSError):
                text.detach()
