"""Writes n-best lists to a file or, in a format with one list in a file, to the files of a folder.

A file of Parquet or Arrow, by its name, has the lines of a format that writes JSON as its rows; lists in any other
format are written there in the format `rows`.

SRILM's tools read one list from a file whose name is the id of the list: nbest-lattice and the
nbest-scripts take folders of such files. What the format of the lists cannot hold is said in one line.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TextIO

from rerank_adapters.formats.columnar import ENDINGS as TABLE_ENDINGS
from rerank_adapters.formats.guessing import MOSES, AutoFormat, Guess, format_of, known_format
from rerank_adapters.formats.line_lists import stem
from rerank_adapters.formats.reading import without_lines
from rerank_plugins import ConfigError, NBestFormat, NBestList, Rescored, open_atomic

NO_FOLDER = "is a folder, expected a file to write"
ROWS = Guess("rows", "the rows of a table")
ENDING = ".nbest"  # of a list's file in a folder

logger = logging.getLogger(__name__)


@dataclass
class ListsWriter:
    """Writes lists to an open file or, each as a file of its own, to a folder.

    `path` is what the user named, for messages; `lists` counts the lists. With `one_file`, a format with one list in a
    file is replaced by that of Moses. With `rows`, lines must be JSON.
    """

    format: NBestFormat
    path: str
    target: TextIO | Path
    one_file: bool = False
    rows: bool = False
    lists: int = 0
    _lost: list[tuple[str, str]] = field(default_factory=list)  # each id that the format loses, and what is read again

    def write(self, nbest: NBestList, rescored: Rescored | None = None) -> None:
        """Write a list as `NBestFormat.write` composes it.

        Raises ConfigError for a second list in a file that holds one, for a folder in another format, and for an id
        that cannot name a file.
        """
        format, id_ = known_format(self.format), nbest.segment_id
        if self.one_file and format.one_list_per_file:
            format, nbest = format_of(MOSES), without_lines(nbest)
            if not self.lists:
                logger.info("rerank: %s: in the format of Moses, which has all lists in one file", self.path)
        if self.rows and not (format.reads_json and nbest[0].raw.startswith(("{", "["))):
            format, nbest = format if format.reads_json else format_of(ROWS), without_lines(nbest)
        lines, alone = format.write(nbest, rescored), format.one_list_per_file
        if isinstance(self.target, Path):
            if not alone:
                raise ConfigError(f"{self.path}: {NO_FOLDER}")
            if Path(id_).name != id_ or id_.startswith(".") or stem(f"{id_}{ENDING}") != id_:
                raise ConfigError(f"the id {id_!r} cannot be the name of a file, which has one list in this format")
            with open_atomic(self.target / f"{id_}{ENDING}") as file:
                file.writelines(lines)
        else:
            if alone and self.lists:
                wanted = "a folder that exists, in which each becomes a file"
                raise ConfigError(
                    f"{self.path}: this format has one list in a file, and there are more; wanted {wanted}"
                )
            read_again = stem(self.path) if alone else id_ if format.keeps_ids else str(self.lists)
            if read_again != id_:
                self._lost.append((id_, read_again))
            self.target.writelines(lines)
        self.lists += 1

    def flush(self) -> None:
        """Hand what was written to the reader of a pipe."""
        if not isinstance(self.target, Path):
            self.target.flush()

    def warn(self) -> None:
        """Log that ids are lost, if some are."""
        if self._lost:
            (id_, read_again), *_ = self._lost
            ids = f"{len(self._lost)} of the {self.lists} ids are lost" if self.lists > 1 else "the id is lost"
            message = "rerank: warning: %s: this format has no place for ids: %s (%r is read as %r)"
            logger.warning(message, self.path, ids, id_, read_again)


@contextmanager
def open_lists(path: str | Path, format: NBestFormat, *, one_file: bool = False) -> Iterator[ListsWriter]:
    """A writer of lists, which appear under their names when the block ends well; `-` is stdout.

    `one_file` is as in ListsWriter. Raises as `open_atomic` does.
    """
    with ExitStack() as files:
        if Path(path).is_dir():
            guesses = isinstance(format, AutoFormat) and format.guessed_name is None  # it is known with the first list
            if not guesses and not known_format(format).one_list_per_file:
                raise ConfigError(f"{path}: {NO_FOLDER}")
            folder = Path(files.enter_context(TemporaryDirectory(prefix=".lists.", dir=path)))
            writer = ListsWriter(format, str(path), folder)
            yield writer
            for file in sorted(folder.iterdir()):
                file.replace(Path(path) / file.name)
        else:
            rows = Path(path).suffix.lower() in TABLE_ENDINGS
            target = files.enter_context(_open_rows(path) if rows else open_atomic(path))
            writer = ListsWriter(format, str(path), target, one_file, rows)
            yield writer
    writer.warn()


def _open_rows(path: str | Path) -> AbstractContextManager[TextIO]:
    from rerank_adapters.formats.columnar_writing import open_rows

    return open_rows(path)
