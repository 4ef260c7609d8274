r"""Reads and writes text files, plain or compressed (gz, xz, bz2, zst), and numbers; `-` is stdin or stdout.

The reader recognises the compression by the first bytes of the file, and works in pieces of bounded size. Lines end at
"\n" alone and keep their ends, so that a file that is read and written again has the same bytes. The writer chooses
the compression by the suffix of the name and renames the file to its name only when it is complete.
"""

from __future__ import annotations

import bz2
import contextlib
import errno
import gzip
import io
import lzma
import os
import stat
import sys
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import IO, Any, Protocol, TextIO, cast
from weakref import WeakKeyDictionary

from rerank_plugins.core.errors import FormatError
from rerank_plugins.core.files import atomic_write, write_error
from rerank_plugins.kit.files.standard_streams import data_stream, drop_unread

PIECE_BYTES = 1 << 16  # compressed bytes that are read at a time
STEP_BYTES = 1 << 20  # bytes that are inflated at a time; this bounds the memory of reading
SLICE_BYTES = 256  # bytes of Zstandard, whose decompressor takes no such bound, inflated at a time: to at most 8 MiB
MAX_LINE_BYTES = 1 << 28  # bytes
XZ_PRESET = 2  # five times as fast as the usual 6, which takes nearly as long as parsing; files are a quarter larger
STANDARD = "-"
MAX_SCORE = 1e15  # the size of a score beyond which nothing is left of the scores that it is added to
INFLATING = type(zlib.decompressobj())


def finite(text: str) -> float:
    """Parse a finite number. Raises ValueError with the text found and the expected form.

    This is stricter than float(): nan and inf are errors, and so are `1_000` and non-ASCII digits.
    """
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"is {text.strip()!r}, expected a number") from None
    if "_" in text or not text.isascii():
        raise ValueError(f"is {text.strip()!r}, expected a number")
    if not isfinite(value):
        raise ValueError(f"is {text.strip()!r}, expected a finite number")
    return value


def ordinary(text: str, largest: float = MAX_SCORE) -> float:
    """Parse a finite number of the size `largest` or less. Raises ValueError as `finite` does."""
    value = finite(text)
    if abs(value) > largest:
        raise ValueError(wild(value))
    return value


def finite_value(text: str, name: str, path: str, line: int, largest: float = MAX_SCORE) -> float:
    """The finite number of a line of a file, which messages call `name`.

    Raises FormatError for other text, and for a number of more than the size `largest`, such as the -1e30 that stands
    for the logarithm of 0.
    """
    try:
        return ordinary(text, largest)
    except ValueError as error:
        raise FormatError(f"{name} {error}", path=path, line=line) from None


def wild(value: float) -> str:
    """The message for a number that is too large for a score."""
    return f"is {value:g}, expected a score of ordinary size (at most {MAX_SCORE:g}): is it a logarithm of 0?"


def shortest(value: float) -> str:
    """The shortest text that reads back as exactly `value`: `-7` and `0.1`, never `-7.0`."""
    text = repr(float(value))
    return text[:-2] if text.endswith(".0") else text


class _Decompressor(Protocol):
    """The interface that the decompressors of zlib, bz2, lzma and zstandard share."""

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
    *((b"BZh%d\x17rE8P\x90" % level, "bzip2", bz2.BZ2Decompressor) for level in range(1, 10)),  # an empty file
)
TABLES = ((b"PAR1\x15", "Parquet"), (b"ARROW1\0\0", "Arrow"))  # the first bytes of files that are no text


def display_name(path: str | Path) -> str:
    """The path as messages show it: `-` is shown as `<stdin>`."""
    return "<stdin>" if str(path) == STANDARD else str(path)


@contextmanager
def open_text(path: str | Path) -> Iterator[Iterator[str]]:
    """Open a UTF-8 text file and yield its lines, each with its line end; `-` is stdin.

    Raises FormatError for a file that is missing, unreadable, truncated or damaged, that starts with a byte-order mark,
    or that has a line that is not UTF-8 (the error names the line and the byte).
    """
    name = display_name(path)
    with _opened(path, name) as stream:
        yield decoded_lines(_inflated(stream, name), name)


def decoded_lines(pieces: Iterator[bytes], name: str, *, starts: bool = True) -> Iterator[str]:
    """The lines of joined pieces of a UTF-8 text, with which the file begins if it `starts`. Raises FormatError."""
    return _decoded(_lines(pieces, name), name, starts)


def _opened(path: str | Path, name: str) -> AbstractContextManager[IO[bytes]]:
    if str(path) == STANDARD:
        return contextlib.nullcontext(_standard_input())
    try:
        return open(path, "rb", buffering=0)
    except OSError as error:
        raise FormatError(_reason(error), path=name) from None


def peek_lines(path: str | Path, count: int) -> list[str]:
    """The first lines of a file, which may be fewer; the next `open_text` of stdin begins with them again."""
    name = display_name(path)
    with _opened(path, name) as stream:
        taken: list[bytes] = []
        lines = list(islice(_decoded(_lines(_inflated(_Taking(stream, taken), name), name), name), count))
        if str(path) == STANDARD:
            _peeked[sys.stdin] = b"".join(taken)
        return lines


class _Taking:
    """A binary stream whose pieces are kept as they are read."""

    def __init__(self, stream: IO[bytes], taken: list[bytes]) -> None:
        self._read = getattr(stream, "read1", stream.read)
        self._taken = taken

    def read(self, size: int) -> bytes:
        """The next piece."""
        self._taken.append(self._read(size))
        return self._taken[-1]


class _Again:
    """Stdin from its begin: first the bytes that were looked at."""

    def __init__(self, before: bytes, stream: IO[bytes]) -> None:
        self._before = io.BytesIO(before)
        self._read = getattr(stream, "read1", stream.read)

    def read(self, size: int) -> bytes:
        """The next piece."""
        return self._before.read(size) or self._read(size)


_peeked: WeakKeyDictionary[TextIO, bytes] = WeakKeyDictionary()  # bytes of stdin that `peek_lines` has read


def _standard_input() -> IO[bytes]:
    """Stdin without Python's buffer: a thread that waits for input would hold its lock when the program ends."""
    buffered: IO[bytes] = sys.stdin.buffer
    raw: IO[bytes] = getattr(buffered, "raw", buffered)  # none in a test, or in a program that runs this one
    before = _peeked.pop(sys.stdin, b"")
    return cast("IO[bytes]", _Again(before, raw)) if before else raw


def arrives(path: str | Path) -> bool:
    """Whether the file is stdin and a pipe, a socket or a terminal, whose lines come when its writer has them."""
    try:
        return str(path) == STANDARD and not stat.S_ISREG(os.fstat(sys.stdin.fileno()).st_mode)
    except (OSError, ValueError):  # stdin of a test, or none
        return False


def _reason(error: OSError) -> str:
    explanations = {
        errno.ENOENT: "no such file",
        errno.EISDIR: "is a folder, expected a file",
        errno.EACCES: "cannot be read (permission denied)",
    }
    return explanations.get(error.errno or 0, f"cannot be read ({error.strerror or error})")


def _pieces(stream: IO[bytes] | _Taking, name: str) -> Iterator[bytes]:
    read = getattr(stream, "read1", stream.read)  # returns the bytes that a pipe has ready, fewer than a full piece
    while True:
        try:
            piece = read(PIECE_BYTES)
        except OSError as error:
            raise FormatError(_reason(error), path=name) from None
        if not piece:
            return
        yield piece


def _inflated(stream: IO[bytes] | _Taking, name: str) -> Iterator[bytes]:
    pieces = _pieces(stream, name)
    head = b""
    while len(head) < 10 and (piece := next(pieces, b"")):
        head += piece
    for magic, kind, new_decompressor in MAGIC:
        if head.startswith(magic):
            yield from _decompressed(head, pieces, kind, new_decompressor, name)
            return
    for magic, kind in TABLES:
        if head.startswith(magic):
            raise FormatError(f"is a file of {kind}, expected text", path=name)
    yield head
    yield from pieces


def _decompressed(
    head: bytes, pieces: Iterator[bytes], kind: str, new_decompressor: Callable[[], _Decompressor], name: str
) -> Iterator[bytes]:
    """Decompress all streams of a file, which may hold several in a row (as `cat a.gz b.gz` writes them)."""
    decompressor, started = new_decompressor(), False
    piece = head
    while piece:
        try:
            while piece:
                started = True
                rest = yield from _stepwise(decompressor, piece)
                if not decompressor.eof:
                    break
                piece = rest.lstrip(b"\0")  # zero bytes may pad the gap between streams
                decompressor, started = new_decompressor(), False
        except (zlib.error, lzma.LZMAError, OSError, EOFError) as error:
            raise FormatError(f"damaged {kind} file ({error})", path=name) from None
        except Exception as error:  # zstandard's own error class; the package is imported only where a file needs it
            if type(error).__module__.partition(".")[0] != "zstandard":
                raise
            raise FormatError(f"damaged {kind} file ({error})", path=name) from None
        piece = next(pieces, b"") if started else next(pieces, b"").lstrip(b"\0")
    if started:
        raise FormatError(f"{kind} file is cut short: its end is missing", path=name)


def _stepwise(decompressor: Any, piece: bytes) -> Generator[bytes, None, bytes]:
    """Yield the inflated bytes of a piece, some MiB at a time; return the bytes behind the end of the stream."""
    if isinstance(decompressor, bz2.BZ2Decompressor | lzma.LZMADecompressor):
        yield decompressor.decompress(piece, STEP_BYTES)
        while not (decompressor.eof or decompressor.needs_input):
            yield decompressor.decompress(b"", STEP_BYTES)
    elif isinstance(decompressor, INFLATING):
        yield decompressor.decompress(piece, STEP_BYTES)
        while decompressor.unconsumed_tail and not decompressor.eof:
            yield decompressor.decompress(decompressor.unconsumed_tail, STEP_BYTES)
    else:
        for begin in range(0, len(piece), SLICE_BYTES):
            yield decompressor.decompress(piece[begin : begin + SLICE_BYTES])
            if decompressor.eof:
                return bytes(decompressor.unused_data) + piece[begin + SLICE_BYTES :]
    return bytes(decompressor.unused_data)


def _lines(pieces: Iterator[bytes], name: str = "") -> Iterator[bytes]:
    r"""Split the joined pieces into lines at "\n"; the last line may lack its end.

    Raises FormatError for a line of more than MAX_LINE_BYTES bytes, which a compressed file of some kilobytes may have.
    """
    incomplete: list[bytes] = []  # the pieces so far of a line whose end has not been read yet
    length = 0
    for piece in pieces:
        end = piece.rfind(b"\n") + 1
        if end:
            yield from io.BytesIO(b"".join((*incomplete, piece[:end])))
            incomplete, length = [], 0
        if end < len(piece):
            incomplete.append(piece[end:])
            length += len(piece) - end
            if length > MAX_LINE_BYTES:
                raise FormatError(f"a line of more than {MAX_LINE_BYTES >> 20} MiB, expected lines of text", path=name)
    if incomplete:
        yield b"".join(incomplete)


def _decoded(lines: Iterator[bytes], name: str, starts: bool = True) -> Iterator[str]:
    number = 0
    for number, line in enumerate(lines, 1):
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            message = f"byte {error.start + 1} of the line is 0x{line[error.start]:02x}, which is not UTF-8"
            raise FormatError(f"{message} ({error.reason})", path=name, line=number) from None
        if starts and number == 1 and text.startswith("\ufeff"):
            raise FormatError("starts with a byte-order mark; expected UTF-8 without one", path=name, line=1)
        yield text


@contextmanager
def open_atomic(path: str | Path) -> Iterator[TextIO]:
    r"""Open a text stream whose content becomes the file `path` when the block ends; `-` is stdout.

    The suffix .gz, .xz, .bz2 or .zst chooses the compression; "\n" is written as it is. After an error or Ctrl-C
    nothing is left behind and an existing file stays as it was; the rest of this file that a killed process has left is
    removed. A special file (a pipe, /dev/null, the /dev/fd/63 of a shell's `>(command)`) is written directly. Raises
    RerankError where the disk is full or the folder cannot be written to, and BrokenPipeError where the reader of
    stdout goes away.
    """
    if str(path) in (STANDARD, "/dev/stdout"):
        data = data_stream()
        data.flush()
        stream = io.TextIOWrapper(data.buffer, encoding="utf-8", newline="", write_through=True)
        try:
            yield stream
            stream.flush()
        except OSError as error:
            drop_unread()  # otherwise the stream could not be detached below and would close stdout
            if isinstance(error, BrokenPipeError):
                raise
            raise write_error("<stdout>", error) from error
        finally:
            with contextlib.suppress(ValueError):
                stream.detach()
        return
    target = temporary = Path(os.path.realpath(path))  # a symbolic link stays a link
    try:
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "is a folder")
        if os.path.exists(path) and not os.path.isfile(path):  # of a pipe in /dev/fd, `target` is no name
            with open(path, "w", encoding="utf-8", newline="") as direct:
                yield direct
            return
        with atomic_write(target) as temporary:
            with open(temporary, "wb") as binary:
                with _deflating(binary, target.suffix) as text:
                    yield text
                binary.flush()
            if target.exists():
                os.chmod(temporary, target.stat().st_mode & 0o7777)
            os.replace(temporary, target)
    except BrokenPipeError:  # raised by stdout, which the block writes to, not by this file
        raise
    except OSError as error:
        if error.filename not in (None, str(temporary), str(target)):
            raise  # the error does not concern this file but something that the block did
        raise write_error(str(path), error) from error


@contextmanager
def _deflating(binary: IO[bytes], suffix: str) -> Iterator[TextIO]:
    with contextlib.ExitStack() as stack:
        inner: Any = binary
        if suffix == ".gz":  # without time and name, so that the same text gives the same bytes
            inner = stack.enter_context(gzip.GzipFile(filename="", mode="wb", fileobj=binary, mtime=0))
        elif suffix == ".xz":
            inner = stack.enter_context(lzma.LZMAFile(binary, "wb", preset=XZ_PRESET))
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
