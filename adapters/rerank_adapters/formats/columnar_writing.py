"""Writes lines of JSON as the rows of a Parquet or Arrow file, in bounded memory.

A column's type is known only when all rows are: the first value of a key may be null, or a whole number before others
with fractions. So the lines go to a temporary file first, and are read twice: for the schema that all rows have in
common, and for the rows themselves.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, TextIO

from rerank_adapters.formats.columnar import ENDINGS, PARQUET, pyarrow_for
from rerank_plugins import ConfigError
from rerank_plugins.core.files import atomic_write, write_error
from rerank_plugins.core.json_and_toml import read_json

ROWS_AT_ONCE = 1 << 14  # rows that are written at a time


@contextmanager
def open_rows(path: str | Path) -> Iterator[TextIO]:
    """A stream of JSON lines, each an object, which become the rows of the file `path` when the block ends well.

    Raises ConfigError without the library, and for a column with values of two types; RerankError where the file cannot
    be written.
    """
    target = Path(os.path.realpath(path))
    kind = ENDINGS[target.suffix.lower()]
    arrow = pyarrow_for(path, kind)
    with TemporaryFile("w+", encoding="utf-8", newline="") as lines:
        yield lines
        try:
            with atomic_write(target) as temporary:
                _write(arrow, kind, str(temporary), lines)
                os.replace(temporary, target)
        except (arrow.ArrowInvalid, arrow.ArrowTypeError) as error:
            why = str(error).splitlines()[0]
            raise ConfigError(f"{path}: a column of {kind} has values of one type, and here two: {why}") from None
        except OSError as error:
            raise write_error(str(path), error) from error


def _write(arrow: Any, kind: str, path: str, lines: TextIO) -> None:
    schema = arrow.schema([])
    for rows in _groups(lines):
        names = dict.fromkeys(name for row in rows for name in row)
        of_group = arrow.table({name: [row.get(name) for row in rows] for name in names}).schema
        schema = arrow.unify_schemas([schema, of_group], promote_options="permissive")
    new_writer = import_module("pyarrow.parquet").ParquetWriter if kind == PARQUET else arrow.ipc.new_file
    with new_writer(path, schema) as writer:
        for rows in _groups(lines):
            writer.write_table(arrow.Table.from_pylist(rows, schema))


def _groups(lines: TextIO) -> Iterator[list[dict[str, Any]]]:
    """The rows of all lines, some at a time."""
    lines.seek(0)
    while rows := [read_json(line) for line in islice(lines, ROWS_AT_ONCE)]:
        yield rows
