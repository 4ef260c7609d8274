"""Reads the rows of Parquet and Arrow files as lines of JSON, an object with a column in each key.

Whatever reads JSON lines thereby reads these files with the same options, checks and messages, in which the number of a
row, from 1, stands for that of a line. Arrow's files are its IPC files, to which Feather's belong, and its streams. A
file shows its format by its first bytes; one that ends in `.parquet`, `.feather` or `.arrow` and has others is damaged.

Rows are converted some thousand at a time, so that memory is bounded by a row group of Parquet or a record batch of
Arrow. The libraries are those of the extra `frames`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

from rerank_plugins import ConfigError, FormatError, open_text
from rerank_plugins.core.errors import DAMAGE
from rerank_plugins.core.json_and_toml import json_line
from rerank_plugins.kit.files.text import STANDARD, TABLES

PARQUET, ARROW, STREAM = "Parquet", "Arrow", "Arrow stream"
ENDINGS = {".parquet": PARQUET, ".feather": ARROW, ".arrow": ARROW}
CONTINUES = b"\xff\xff\xff\xff"  # begins a message, and so each stream (Arrow columnar format, "Encapsulated message")
ROWS_AT_ONCE = 2048  # rows that are converted at a time


def kind_of(path: str | Path) -> str | None:
    """PARQUET, ARROW or STREAM, by the first bytes of a file, or else by its name; None for other files and pipes."""
    path = Path(path)
    if str(path) == STANDARD or not path.is_file():
        return None
    try:
        with open(path, "rb") as file:
            head = file.read(8)
    except OSError:  # which the reader of text reports
        return None
    if head.startswith(CONTINUES):
        return STREAM
    shown = next((kind for magic, kind in TABLES if head.startswith(magic)), None)
    return shown or ENDINGS.get(path.suffix.lower())


@contextmanager
def open_lines(path: str | Path) -> Iterator[Iterator[str]]:
    """Open a text file as `open_text` does, or a Parquet or Arrow file, whose rows are lines of JSON.

    Raises FormatError as `open_text` does, for a file that is damaged, and for two columns of one name; ConfigError
    where the libraries are missing.
    """
    if (kind := kind_of(path)) is None:
        with open_text(path) as lines:
            yield lines
    else:
        yield _lines(str(path), kind)


def _lines(path: str, kind: str) -> Iterator[str]:
    """The rows of a file as lines of JSON. Raises FormatError and ConfigError as `open_lines` does."""
    arrow = pyarrow_for(path, kind)
    unreadable = (*DAMAGE, MemoryError, NotImplementedError, OSError, arrow.ArrowException)
    try:
        for batch in _batches(arrow, path, kind):
            names = batch.schema.names
            if repeated := [name for place, name in enumerate(names) if name in names[:place]]:
                raise FormatError(f"two columns are called {repeated[0]!r}", path=path)
            batch.validate(full=True)  # a damaged file of Arrow may have offsets outside its buffers
            for start in range(0, batch.num_rows, ROWS_AT_ONCE):
                for row in batch.slice(start, ROWS_AT_ONCE).to_pylist():
                    yield json_line(row, _json_value) + "\n"
    except unreadable as error:
        why = next(iter(str(error).splitlines()), "") or type(error).__name__
        raise FormatError(f"damaged {kind} file ({why})", path=path) from None


def _batches(arrow: Any, path: str, kind: str) -> Iterable[Any]:
    """The record batches of a file, one after the other."""
    if kind == PARQUET:
        with import_module("pyarrow.parquet").ParquetFile(path, memory_map=True) as file:
            yield from file.iter_batches(ROWS_AT_ONCE, use_threads=False)
        return
    with arrow.memory_map(path) as stream:
        if kind == STREAM:
            yield from arrow.ipc.open_stream(stream)
        else:
            file = arrow.ipc.open_file(stream)
            yield from (file.get_batch(place) for place in range(file.num_record_batches))


def pyarrow_for(path: str | Path, kind: str) -> Any:
    """The library that reads and writes these files. Raises ConfigError where it is not installed."""
    try:
        return import_module("pyarrow")
    except ImportError:
        extra = "pip install 'rerank-plugins[frames]'"
        raise ConfigError(f"{os.fspath(path)}: a file of {kind} needs pyarrow: {extra}") from None


def _json_value(value: object) -> object:
    """The value in JSON for a value of Arrow that JSON lacks; older programs write texts as bytes."""
    if isinstance(value, Decimal):
        return float(value)
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
