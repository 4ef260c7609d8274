"""Model files: settings as JSON, then arrays, which are mapped into memory and thus shared between processes.

Layout: a magic number of 8 bytes; the version and the length of the header (two little-endian uint32); the header
(JSON: kind, settings, the training data, and the name, type, shape and place of each array); the arrays,
each at a multiple of 64 bytes; and the checksums of all this (core/files.py), which the first reading of a
file in a process and its workers compares. A file may be compressed as a whole by zstd, as the embedded models are; it
is then decompressed into memory, and its checksums are those of the compressed bytes. Version 2 has arrays as they are,
version 3, of compressed files, in byte planes.

Byte planes are the bytes of an array in an order that compresses well: column by column, integers that rise or stay
alike as their differences, and of each column the first bytes of all values, then the second bytes, and so on (the
"shuffle" of Blosc and HDF5). Zstandard makes a back-off model of them a third to a half smaller than of the records.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.errors import DAMAGE, ModelError
from rerank_plugins.core.files import DamagedFileError, add_checksums, atomic_write, begins_with, checked_file
from rerank_plugins.core.json_and_toml import read_json
from rerank_plugins.core.trained_on import TrainedOn
from rerank_plugins.kit.files.languages import ENGLISH, FOLDER

Bytes = NDArray[np.uint8]
FAST_LEVEL, COMPACT_LEVEL = 1, 19  # of compression: to choose between values and differences; of compact models
MAGIC = b"rerankLM"
VERSION, PLANES = 2, 3  # version 3 has arrays in byte planes
ALIGNMENT = 64
ZSTD = b"\x28\xb5\x2f\xfd"
MAX_RATIO, MIN_LIMIT_BYTES = 1000, 1 << 28  # how many times its size, or bytes, a compressed file may decompress to
Arrays = dict[str, NDArray[Any]]


def to_planes(array: NDArray[Any]) -> tuple[Bytes, list[bool]]:
    """The bytes of an array, as many as it has, and for each column whether it holds differences."""
    items = np.ascontiguousarray(array).reshape(-1)
    sections, differences = [], []
    for name, kind in _columns(items.dtype):
        column = np.ascontiguousarray(items[name]) if name else items.view(kind)
        section, differs = _planes(column), False
        if kind.kind in "iu":
            steps = _planes(np.diff(column, prepend=kind.type(0)))
            if _size(steps) < _size(section):
                section, differs = steps, True
        sections.append(section)
        differences.append(differs)
    return np.concatenate(sections), differences


def from_planes(planes: Bytes, dtype: np.dtype[Any], differences: Sequence[bool]) -> NDArray[Any]:
    """The (n) items of the array of this type whose bytes are `planes`. Raises ValueError for other columns."""
    items = np.empty(len(planes) // dtype.itemsize, dtype)
    place = 0
    for (name, kind), differs in zip(_columns(dtype), differences, strict=True):
        end = place + len(items) * kind.itemsize
        column = np.ascontiguousarray(planes[place:end].reshape(kind.itemsize, -1).T).view(kind).reshape(-1)
        if differs:
            np.cumsum(column, dtype=kind, out=column)
        if name:
            items[name] = column
        else:
            items.view(kind)[:] = column
        place = end
    return items


def _columns(dtype: np.dtype[Any]) -> list[tuple[str, np.dtype[Any]]]:
    """The names and types of the fields; one column without a name for items without fields, or with nested ones."""
    if not dtype.names:
        return [("", dtype)]
    columns = [(name, dtype[name]) for name in dtype.names]
    is_plain = all(kind.names is None and not kind.shape for _, kind in columns)
    is_packed = sum(kind.itemsize for _, kind in columns) == dtype.itemsize
    return columns if is_plain and is_packed else [("", np.dtype((np.void, dtype.itemsize)))]


def _planes(column: NDArray[Any]) -> Bytes:
    """The first bytes of all values of a column, then the second bytes, and so on."""
    return np.ascontiguousarray(column.view(np.uint8).reshape(-1, column.dtype.itemsize).T).reshape(-1)


def _size(content: Bytes) -> int:
    """The size of the compressed bytes."""
    import zstandard

    return len(zstandard.ZstdCompressor(FAST_LEVEL).compress(content.data))


def is_model_file(path: Path) -> bool:
    """Whether the file begins with the magic number of `write_model`."""
    return begins_with(path, MAGIC)


def model_kind(path: Path) -> str | None:
    """The kind of a model file, compressed or not, from its header alone; None for a file of another program.

    Raises ModelError for a header that cannot be read.
    """
    import zstandard

    try:
        with open(path, "rb") as stream:
            compressed = stream.read(len(ZSTD)) == ZSTD
            stream.seek(0)
            content = zstandard.ZstdDecompressor().stream_reader(stream) if compressed else stream
            start = content.read(len(MAGIC) + 8)
            if start[: len(MAGIC)] != MAGIC:
                return None
            length = int.from_bytes(start[len(MAGIC) + 4 :], "little")
            return str(read_json(content.read(length))["kind"])
    except OSError:
        return None
    except (zstandard.ZstdError, *DAMAGE) as error:
        raise ModelError(f"{path}: damaged model file: its header cannot be read ({error})") from None


def write_model(
    path: Path,
    kind: str,
    settings: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    trained_on: TrainedOn | None = None,
    *,
    compressed: bool = False,
) -> int:
    """Write a model file, which replaces `path` only once it is complete; return its size in bytes.

    `kind` names the type of model, and JSON must be able to hold `settings` and `trained_on`. A `compressed` file has
    its arrays in byte planes, and is compressed by zstd. Raises OSError.
    """
    entries: list[dict[str, Any]] = []
    contents: list[NDArray[Any]] = []
    place = 0
    for name, array in arrays.items():
        entry: dict[str, Any] = {"name": name, "type": _describe(array.dtype), "shape": array.shape, "place": place}
        content = array
        if compressed:
            content, entry["differences"] = to_planes(np.ascontiguousarray(array))
        entries.append(entry)
        contents.append(content)
        place += -(-array.nbytes // ALIGNMENT) * ALIGNMENT
    header = {"kind": kind, "settings": settings, "arrays": entries}
    header |= {"trained_on": trained_on.recorded()} if trained_on else {}
    beginning = _beginning(PLANES if compressed else VERSION, header)
    if compressed:
        padded = (part.tobytes() + bytes(-part.nbytes % ALIGNMENT) for part in contents)
        return _write_compressed(path, b"".join((beginning, *padded)))

    def write(stream: BinaryIO) -> None:
        stream.write(beginning)
        for content in contents:
            np.ascontiguousarray(content).tofile(stream)
            stream.write(bytes(-content.nbytes % ALIGNMENT))

    return _write_checked(path, write)


def _beginning(version: int, header: Mapping[str, Any]) -> bytes:
    """The bytes before the arrays."""
    text = json.dumps(header, ensure_ascii=False, sort_keys=True).encode()
    text += b" " * (-(len(MAGIC) + 8 + len(text)) % ALIGNMENT)
    return MAGIC + np.array([version, len(text)], "<u4").tobytes() + text


def _write_compressed(path: Path, content: bytes) -> int:
    import zstandard

    compressed = zstandard.ZstdCompressor(COMPACT_LEVEL).compress(content)
    return _write_checked(path, lambda stream: stream.write(compressed))


def _write_checked(path: Path, write: Callable[[BinaryIO], object]) -> int:
    """Write a file with checksums, completely or not at all; return its size in bytes."""
    with atomic_write(path) as temporary:
        with open(temporary, "wb") as stream:
            write(stream)
        size = add_checksums(temporary)
        os.replace(temporary, path)
    return size


def read_model(path: Path, *kinds: str) -> tuple[dict[str, Any], Arrays]:
    """The settings and the arrays (mapped from the file) of a model of one of these `kinds`.

    Raises ModelError for a file that is missing, damaged, cut short, not a model file, or of another version or kind.
    """
    content, has_checksums = _content(path)
    header, base = _header(path, content, has_checksums)
    try:
        kind, settings = str(header["kind"]), dict(header["settings"])
        arrays = {
            entry["name"]: _array(
                content, base + entry["place"], entry["type"], entry["shape"], entry.get("differences")
            )
            for entry in header["arrays"]
        }
    except DAMAGE as error:
        raise ModelError(f"{path}: damaged model file: its header cannot be read ({error})") from None
    if kind not in kinds:
        raise ModelError(f"{path}: holds a {kind} model, wanted a {' or '.join(kinds)} model")
    return settings, arrays


def read_trained_on(path: Path) -> TrainedOn:
    """The record of the training data of a model file; that of an embedded English model is English.

    Nothing is recorded where there is no such file; a parser has its language among its settings. Raises ModelError
    for a file that is damaged, cut short, or no model file.
    """
    if path.is_relative_to(FOLDER / ENGLISH):
        return TrainedOn(ENGLISH)
    if not path.is_file():
        return TrainedOn()
    header, _ = _header(path, *_content(path))
    try:
        return TrainedOn(**header.get("trained_on", {"language": header["settings"].get("language", "")}))
    except DAMAGE as error:
        raise ModelError(f"{path}: damaged model file: its header cannot be read ({error})") from None


def _header(path: Path, content: NDArray[np.uint8], has_checksums: bool) -> tuple[dict[str, Any], int]:
    """The header, and the position of the first array. Raises ModelError."""
    size, start = len(content), bytes(content[: len(MAGIC) + 8])
    if start[: len(MAGIC)] != MAGIC:
        raise ModelError(f"{path}: not a model file of this program")
    version, length = np.frombuffer(start[len(MAGIC) :].ljust(8, b"\0"), "<u4").tolist()
    if len(start) == len(MAGIC) + 8 and version not in (VERSION, PLANES):
        raise ModelError(f"{path}: model file of version {version}, wanted version {VERSION}")
    base = len(start) + length
    text = bytes(content[len(start) : base])
    if len(text) < length or len(start) < len(MAGIC) + 8:
        raise ModelError(f"{path}: model file is cut short: {size} bytes, its header alone has {base}")
    try:
        header = read_json(text)
        ends = [base + entry["place"] + _bytes(entry["type"], entry["shape"]) for entry in header["arrays"]]
    except DAMAGE as error:
        raise ModelError(f"{path}: damaged model file: its header cannot be read ({error})") from None
    end = max(ends, default=base)
    if size < end:
        raise ModelError(f"{path}: model file is cut short: {size} bytes, wanted {end}")
    if not has_checksums:
        raise ModelError(f"{path}: damaged model file: cut short, or added to: its end is not that of its checksums")
    return header, base


def _array(content: NDArray[np.uint8], place: int, described: Any, shape: Any, differences: Any = None) -> NDArray[Any]:
    """An array, mapped, or copied where it is in byte planes: `differences` then has a truth value for each column."""
    content, dtype = content[place : place + _bytes(described, shape)], _parse(described)
    items = content.view(dtype) if differences is None else from_planes(content, dtype, differences)
    return items.reshape(tuple(shape))


def _bytes(described: Any, shape: Any) -> int:
    """The size of an array. Raises an error of DAMAGE unless it has a type and a shape of one axis or more."""
    kind = _parse(described)
    if not shape or any(type(length) is not int or length < 0 for length in shape):
        raise ValueError(f"an array of type {described!r:.80} and shape {shape!r:.80}")
    return int(math.prod(shape)) * kind.itemsize


def _content(path: Path) -> tuple[NDArray[np.uint8], bool]:
    """The content of the file, decompressed and without checksums, and whether it has checksums.

    A file that is not compressed is mapped copy-on-write: processes share its pages, and writing to them leaves the
    file unchanged. Raises ModelError, also if the content does not match the checksums.
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


def _decompressed(path: Path, compressed: NDArray[np.uint8]) -> NDArray[np.uint8]:
    import zstandard

    try:
        if zstandard.frame_content_size(compressed.data) > max(MIN_LIMIT_BYTES, MAX_RATIO * len(compressed)):
            raise ModelError(f"{path}: compressed model file of more than {MAX_RATIO} times its size")
        return np.frombuffer(bytearray(zstandard.ZstdDecompressor().decompress(compressed.data)), np.uint8)
    except (zstandard.ZstdError, MemoryError):
        raise ModelError(f"{path}: compressed model file is cut short or damaged") from None


def word_array(words: Iterable[str]) -> NDArray[np.uint8]:
    """Words as an array for a model file; none of them may contain a line end."""
    return np.frombuffer("\n".join(words).encode(), np.uint8)


def words_from(array: NDArray[np.uint8]) -> tuple[str, ...]:
    """The words of such an array, at least one. Raises ValueError for bytes that are not UTF-8."""
    return tuple(array.tobytes().decode().split("\n"))


def _describe(dtype: np.dtype[Any]) -> Any:
    return dtype.descr if dtype.names else dtype.str


def _parse(described: Any) -> np.dtype[Any]:
    """The type of an array. Raises an error of DAMAGE for a text that is no `dtype.str`, and for objects."""
    kinds = [described] if isinstance(described, str) else [field[1] for field in described]
    if any(kind[1:2] not in {*"biufcmMSUV"} for kind in kinds):
        raise ValueError(f"an array of type {described!r:.80}")
    return np.dtype(described if isinstance(described, str) else [tuple(field) for field in described])
