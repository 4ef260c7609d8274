"""One file for a model: settings as JSON, then arrays, mapped into memory and so shared between processes.

Layout: 8 bytes magic, version and length of the header (two little-endian uint32), the header (JSON: kind, settings,
and of each array its name, type, shape and place), then the arrays, each at a multiple of 64 bytes, to the end.
Opening reads the header alone: milliseconds for a model of any size. A file may be compressed as a whole by zstd, as
embedded models are; it is then read into memory.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.errors import ModelError
from rerank_plugins.models.backoff.tables import BackoffTables

MAGIC = b"rerankLM"
VERSION = 1
ALIGNMENT = 64
ZSTD = b"\x28\xb5\x2f\xfd"
TABLES = ("contexts", "events", "context_levels", "event_levels", "children")
Arrays = dict[str, NDArray[Any]]


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
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(temporary, "xb") as stream:
            stream.write(MAGIC + np.array([VERSION, len(header)], "<u4").tobytes() + header)
            for array in arrays.values():
                np.ascontiguousarray(array).tofile(stream)
                stream.write(bytes(-array.nbytes % ALIGNMENT))
            size = stream.tell()
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    return size


def read_model(path: Path, *kinds: str) -> tuple[dict[str, Any], Arrays]:
    """Settings and arrays, the latter mapped from the file: pages are read when they are touched.

    `kinds` are those that will do.

    Raises ModelError for a file that is missing, no model file, of another version or kind, or cut short.
    """
    whole = _content(path)
    size, start = len(whole), bytes(whole[: len(MAGIC) + 8])
    if start[: len(MAGIC)] != MAGIC:
        raise ModelError(f"{path}: not a model file of this program")
    version, length = np.frombuffer(start[len(MAGIC) :].ljust(8, b"\0"), "<u4").tolist()
    if version != VERSION and len(start) == len(MAGIC) + 8:
        raise ModelError(f"{path}: model file of version {version}, wanted version {VERSION}")
    base = len(start) + length
    header = bytes(whole[len(start) : base])
    if len(header) < length or len(start) < len(MAGIC) + 8:
        raise ModelError(f"{path}: model file is cut short: {size} bytes, its header alone has {base}")
    try:
        found = json.loads(header)
        arrays = [(a["name"], _parse(a["type"]), tuple(a["shape"]), base + a["place"]) for a in found["arrays"]]
    except (ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{path}: damaged model file: its header cannot be read ({error})") from None
    if found["kind"] not in kinds:
        raise ModelError(f"{path}: holds a {found['kind']} model, wanted a {' or '.join(kinds)} model")
    end = max((place + int(np.prod(shape)) * dtype.itemsize for _, dtype, shape, place in arrays), default=base)
    if size < end:
        raise ModelError(f"{path}: model file is cut short: {size} bytes, wanted {end}")
    mapped = {
        name: whole[place : place + int(np.prod(shape)) * dtype.itemsize].view(dtype).reshape(shape)
        for name, dtype, shape, place in arrays
    }
    return found["settings"], mapped


def _content(path: Path) -> NDArray[np.uint8]:
    """The bytes of the file, mapped copy on write: pages are shared, the file is safe; or decompressed."""
    try:
        with open(path, "rb") as stream:
            start = stream.read(len(MAGIC))
            if start[: len(ZSTD)] == ZSTD:
                return _decompressed(path, start + stream.read())
        return np.asarray(np.memmap(path, np.uint8, "c")) if start else np.zeros(0, np.uint8)
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror})") from None


def _decompressed(path: Path, packed: bytes) -> NDArray[np.uint8]:
    import zstandard

    try:
        return np.frombuffer(bytearray(zstandard.ZstdDecompressor().decompress(packed)), np.uint8)
    except zstandard.ZstdError:
        raise ModelError(f"{path}: compressed model file is cut short or damaged") from None


def word_array(words: Iterable[str]) -> NDArray[np.uint8]:
    """Words as an array of a model file; they have no line ends in them."""
    return np.frombuffer("\n".join(words).encode(), np.uint8)


def words_from(array: NDArray[np.uint8]) -> tuple[str, ...]:
    """The words of such an array, one or more. Raises ValueError for bytes that are not UTF-8."""
    return tuple(array.tobytes().decode().split("\n"))


def table_arrays(tables: BackoffTables, prefix: str = "") -> Arrays:
    """The arrays of the tables by name, for `write_model`; keep `tables.unseen` among the settings.

    `prefix` of the names: for a model of several tables.
    """
    return {prefix + name: getattr(tables, name) for name in TABLES}


def tables_from(arrays: Arrays, unseen: float, where: str, prefix: str = "") -> BackoffTables:
    """The tables of a model file. Raises ModelError where arrays are missing or do not fit together."""
    if missing := [prefix + name for name in TABLES if prefix + name not in arrays]:
        raise ModelError(f"{where}: damaged model: it has no {', '.join(missing)}")
    tables = BackoffTables(**{name: arrays[prefix + name] for name in TABLES}, unseen=unseen)
    tables.check(where)
    return tables


def _describe(dtype: np.dtype[Any]) -> Any:
    return dtype.descr if dtype.names else dtype.str


def _parse(described: Any) -> np.dtype[Any]:
    return np.dtype(described if isinstance(described, str) else [tuple(field) for field in described])
