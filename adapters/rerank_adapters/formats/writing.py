"""Writes n-best lists to a file: in the form of Moses's lists and its dialects, as JSON lines, or as a table.

A file of Parquet or Arrow, by its name, has the lines of a format that writes JSON as its rows; lists in any other
format are written there in the format `rows`. Lists in a format that is read alone are written in the format of Moses,
which is said in one line.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from rerank_adapters.formats.catalogue import FORMATS, MOSES
from rerank_adapters.formats.columnar import ENDINGS as TABLE_ENDINGS
from rerank_adapters.formats.merging import without_lines
from rerank_plugins import ConfigError, NBestFormat, NBestList, Rescored, open_atomic
from rerank_plugins.core.contracts import checked_lines
from rerank_plugins.core.plugins import Entry, Variant

logger = logging.getLogger(__name__)


def is_written(format: NBestFormat) -> bool:
    """Whether lists can be written in a format, and not read alone."""
    return type(format).write is not NBestFormat.write


def _is_written(factory: Any) -> bool:
    kind = type(factory.made) if isinstance(factory, Variant) else factory
    return getattr(kind, "write", None) is not NBestFormat.write


def check_written(format: NBestFormat, where: str, formats: Iterable[Entry]) -> None:
    """Raise ConfigError, with the names of those `formats` that are written, for a format that is read alone."""
    if not is_written(format):
        names = [entry.name for entry in formats if _is_written(entry.factory)]
        wanted = f"wanted one of {', '.join(names)}"
        raise ConfigError(f"{where}: lists in this format are read, not written; {wanted}")


@dataclass
class ListsWriter:
    """Writes lists to an open file.

    `path` is the name that the user gave, for messages; `lists` counts the lists. With `rows`, lines must be JSON.
    """

    format: NBestFormat
    path: str
    target: TextIO
    rows: bool = False
    lists: int = 0

    def write(self, nbest: NBestList, rescored: Rescored | None = None) -> None:
        """Write a list as `NBestFormat.write` composes it, or in another format where lists are read alone in this."""
        format = self.format
        if self.rows and not (format.reads_json and nbest[0].raw.startswith(("{", "["))):
            format, nbest = format if format.reads_json else FORMATS["rows"](), without_lines(nbest)
        elif not is_written(format):
            format, nbest = MOSES, without_lines(nbest)
            if not self.lists:
                logger.info("rerank: %s: in the format of Moses, since lists in their own are read alone", self.path)
        self.target.writelines(checked_lines(format, nbest, rescored))
        self.lists += 1

    def flush(self) -> None:
        """Hand the lines so far to the reader of a pipe."""
        self.target.flush()


@contextmanager
def open_lists(path: str | Path, format: NBestFormat) -> Iterator[ListsWriter]:
    """A writer of lists, which appear under their name when the block ends well; `-` is stdout.

    Raises as `open_atomic` does.
    """
    rows = Path(path).suffix.lower() in TABLE_ENDINGS
    with _open_rows(path) if rows else open_atomic(path) as target:
        yield ListsWriter(format, str(path), target, rows)


def _open_rows(path: str | Path) -> AbstractContextManager[TextIO]:
    from rerank_adapters.formats.columnar_writing import open_rows

    return open_rows(path)
