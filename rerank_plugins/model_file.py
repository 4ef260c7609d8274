"""One file for a model: settings as JSON, then arrays, mapped into memory and so shared between processes.

Layout: 8 bytes magic, version and length of the header (two little-endian uint32), the header (JSON: kind, settings,
and of each array its name, type, shape and place), the arrays, each at a multiple of 64 bytes, and the checksums of all
that (checksums.py). A file may be compressed as a whole by zstd, as embedded models are; it is then read into memory,
and its checksums are those of the compressed bytes.

Opening checks the whole file, once in a process and the workers that it starts: 0.2 s of CPU time for 500 MB, shared by
the cores. Files of version 1 have no checksums: they are read, with a warning.
"""

from __future__ import annotations

import json
import logging
import math
import os
import secrets
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.checksums import DamagedFileError, add_checksums, checked_file
from rerank_plugins.errors import ModelError

MAGIC = b"rerankLM"
VERSION, FORMER = 2, 1  # the former one had no checksums
ALIGNMENT = 64
ZSTD = b"\x28\xb5\x2f\xfd"
Arrays = dict[str, NDArray[Any]]

logger = logging.getLogger(__name__)


def is_model_file(path: Path) -> bool:
    """Whether the file starts as `write_model`'s do."""
    try:
        with open(path, "rb") as stream:
            return stream.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def write_model(path: Path, kind: str, settings: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> int:
    """Write a model file, in its place only when it is complete; how many bytes it has.

    `kind` says whose model it is, `settings` is anything JSON can hold. Raises OSError.
    """
    described, place = [], 0
    for name, array in arrays.items():
        described.append({"name": name, "type": _describe(array.dtype), "shape": array.shape, "place": place})
        place += -(-array.nbytes // ALIGNMENT) * ALIGNMENT
    text = json.dumps({"kind": kind, "settings": settings, "arrays": described}, ensure_ascii=False, sort_keys=True)
    header = text.encode()
    start = len(MAGIC) + 8 + len(header)
    header += b" " * (-start % ALIGNMENT)

    def write(stream: BinaryIO) -> None:
        stream.write(MAGIC + np.array([VERSION, len(header)], "<u4").tobytes() + header)
        for array in arrays.values():
            np.ascontiguousarray(array).tofile(stream)
            stream.write(bytes(-array.nbytes % ALIGNMENT))

    return _write_checked(path, write)


def compress_model(plain: Path, path: Path, level: int) -> int:
    """Write the model file `plain` compressed by zstd, in its place only when it is complete; how many bytes it has.

    Raises ModelError where `plain` is damaged, OSError.
    """
    return _write_compressed(path, _content(plain)[0].tobytes(), level)


def renew_model(path: Path, level: int) -> int:
    """Write a model file of version 1 anew with checksums, at this level where it is compressed; how many bytes it has.

    The model is the same, byte by byte; a file of the present version stays as it is. Raises ModelError where the file
    is damaged, OSError.
    """
    with open(path, "rb") as stream:
        packed = stream.read(len(ZSTD)) == ZSTD
    content, has_checksums = _content(path)
    version, _, _ = _header(path, content, has_checksums)
    if version == VERSION:
        return path.stat().st_size
    renewed = content[: len(MAGIC)].tobytes() + np.array([VERSION], "<u4").tobytes() + content[12:].tobytes()
    return _write_compressed(path, renewed, level) if packed else _write_checked(path, lambda out: out.write(renewed))


def _write_compressed(path: Path, content: bytes, level: int) -> int:
    import zstandard

    packed = zstandard.ZstdCompressor(level).compress(content)
    return _write_checked(path, lambda stream: stream.write(packed))


def _write_checked(path: Path, write: Callable[[BinaryIO], object]) -> int:
    """A file with checksums, whole or not at all; how many bytes it has."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(temporary, "xb") as stream:
            write(stream)
        size = add_checksums(temporary)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    return size


def read_model(path: Path, *kinds: str) -> tuple[dict[str, Any], Arrays]:
    """Settings and arrays, the latter mapped from the file; `kinds` are those that will do.

    A file of version 1, without checksums, is read with a warning in the log.

    Raises ModelError for a file that is missing, damaged, no model file, of another version or kind, or cut short.
    """
    content, has_checksums = _content(path)
    version, described, base = _header(path, content, has_checksums)
    try:
        kind, settings = described["kind"], described["settings"]
        arrays = {
            each["name"]: _array(content, base + each["place"], each["type"], each["shape"])
            for each in described["arrays"]
        }
    except (ValueError, KeyError, TypeError, ArithmeticError) as error:
        raise ModelError(f"{path}: damaged model file: its header cannot be read ({error})") from None
    if kind not in kinds:
        raise ModelError(f"{path}: holds a {kind} model, wanted a {' or '.join(kinds)} model")
    if version == FORMER:
        logger.warning(
            "%s: model file of version %d, without checksums: damage to it goes unseen (train the model again, or run "
            "`python -m rerank_plugins.resources.renew %s`)",
            path, FORMER, path,
        )  # fmt: skip
    return settings, arrays


def _header(path: Path, content: NDArray[np.uint8], has_checksums: bool) -> tuple[int, dict[str, Any], int]:
    """Version, header, and where the arrays begin. Raises ModelError."""
    size, start = len(content), bytes(content[: len(MAGIC) + 8])
    if start[: len(MAGIC)] != MAGIC:
        raise ModelError(f"{path}: not a model file of this program")
    version, length = np.frombuffer(start[len(MAGIC) :].ljust(8, b"\0"), "<u4").tolist()
    if len(start) == len(MAGIC) + 8 and (version not in (VERSION, FORMER) or (version == FORMER and has_checksums)):
        raise ModelError(f"{path}: model file of version {version}, wanted version {VERSION}")
    base = len(start) + length
    header = bytes(content[len(start) : base])
    if len(header) < length or len(start) < len(MAGIC) + 8:
        raise ModelError(f"{path}: model file is cut short: {size} bytes, its header alone has {base}")
    try:
        described = json.loads(header)
        ends = [base + each["place"] + _bytes(each["type"], each["shape"]) for each in described["arrays"]]
    except (ValueError, KeyError, TypeError, ArithmeticError) as error:
        raise ModelError(f"{path}: damaged model file: its header cannot be read ({error})") from None
    end = max(ends, default=base)
    if size < end:
        raise ModelError(f"{path}: model file is cut short: {size} bytes, wanted {end}")
    if version == VERSION and not has_checksums:
        raise ModelError(f"{path}: damaged model file: cut short, or added to: its end is not that of its checksums")
    return version, described, base


def _array(content: NDArray[np.uint8], place: int, described: Any, shape: Any) -> NDArray[Any]:
    return content[place : place + _bytes(described, shape)].view(_parse(described)).reshape(tuple(shape))


def _bytes(described: Any, shape: Any) -> int:
    return int(math.prod(shape)) * _parse(described).itemsize


def _content(path: Path) -> tuple[NDArray[np.uint8], bool]:
    """What is in the file without its checksums, and whether it has some, which are right.

    It is mapped copy on write: pages are shared, the file is safe; or decompressed. Raises ModelError.
    """
    try:
        with open(path, "rb") as stream:
            start = stream.read(len(MAGIC))
            if not start:
                return np.zeros(0, np.uint8), False
            whole = np.asarray(np.memmap(stream, np.uint8, "c"))
            content = checked_file(stream, whole)
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror})") from None
    except DamagedFileError as error:
        raise ModelError(f"{path}: {error}") from None
    has_checksums = content is not None
    if content is None:
        content = whole
    return _decompressed(path, content) if start[: len(ZSTD)] == ZSTD else content, has_checksums


def _decompressed(path: Path, packed: NDArray[np.uint8]) -> NDArray[np.uint8]:
    import zstandard

    try:
        return np.frombuffer(bytearray(zstandard.ZstdDecompressor().decompress(packed.data)), np.uint8)
    except (zstandard.ZstdError, MemoryError):
        raise ModelError(f"{path}: compressed model file is cut short or damaged") from None


def word_array(words: Iterable[str]) -> NDArray[np.uint8]:
    """Words as an array of a model file; they have no line ends in them."""
    return np.frombuffer("\n".join(words).encode(), np.uint8)


def words_from(array: NDArray[np.uint8]) -> tuple[str, ...]:
    """The words of such an array, one or more. Raises ValueError for bytes that are not UTF-8."""
    return tuple(array.tobytes().decode().split("\n"))


def _describe(dtype: np.dtype[Any]) -> Any:
    return dtype.descr if dtype.names else dtype.str


def _parse(described: Any) -> np.dtype[Any]:
    return np.dtype(described if isinstance(described, str) else [tuple(field) for field in described])
