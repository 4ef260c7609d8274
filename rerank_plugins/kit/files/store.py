"""The store on disk: parses and feature values that no run shall compute again, and parts of interrupted extractions.

It is one SQLite database (blobs.py). A save is one transaction, so that a process can be killed at any moment, and
several can use the store at once. File systems shared between machines, where SQLite's locks do not hold, are not
supported. A value whose checksum is wrong is removed; a database that SQLite finds damaged is moved aside. A store that
cannot be read or written is reported once, and is not used any more.

A save that exceeds the limit removes the blobs that have not been used for the longest time. Pages are only about two
thirds full, as keys are hashes: what counts is the bytes of keys and values, which may take `FULL` of the limit, and
take `KEPT` of that after a removal. Uses are noted again only after a day, so that reading hardly ever writes.
"""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from rerank_plugins.core.paths import cache_folder, cache_limit, this_machine
from rerank_plugins.kit.files import blobs
from rerank_plugins.kit.files.blobs import Kind

FILE = "cache.sqlite3"
FULL = 0.5  # the least part of the file that holds keys and values
KEPT = 0.9  # the part of what is allowed that a removal leaves
Result = TypeVar("Result")
logger = logging.getLogger(__name__)
_reported: set[Path] = set()  # stores that were reported as unusable


class CacheUsage(NamedTuple):
    """The number of the blobs of one kind, and the bytes of their values."""

    kind: Kind
    blobs: int
    size: int


@dataclass
class Store:
    """The store in a folder; `limit` is the most bytes that it may take, to the size of a save (None: any number)."""

    folder: Path
    limit: int | None = None
    _connections: dict[int, sqlite3.Connection] = field(default_factory=dict, init=False, repr=False, compare=False)
    _broken: bool = field(default=False, init=False, repr=False)
    _content: int | None = field(default=None, init=False, repr=False, compare=False)  # bytes of keys and values

    def __getstate__(self) -> dict[str, Any]:
        return {"folder": self.folder, "limit": self.limit, "_broken": self._broken, "machine": this_machine()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        elsewhere = state.pop("machine") != this_machine()
        self.__dict__.update(state, _connections={}, _content=None, _broken=state["_broken"] or elsewhere)

    @property
    def file(self) -> Path:
        """The file of the database."""
        return self.folder / FILE

    def load(self, kind: Kind, keys: Sequence[bytes] | None = None) -> dict[bytes, bytes]:
        """The values of those keys that are in the store, whose use is noted; without `keys`, all of the kind."""

        def read(database: sqlite3.Connection) -> dict[bytes, bytes]:
            found = blobs.read(database, kind, keys)
            if keys is not None:
                blobs.note_use(database, kind, found.stale)
            if found.damaged:
                logger.warning("%s: %d values are damaged; they are made again", self.file, len(found.damaged))
                with suppress(sqlite3.OperationalError), database:  # read-only, or locked
                    blobs.remove(database, kind, found.damaged)
            return found.values

        return self._attempt(read, {})

    def note_use(self, kind: Kind, keys: Sequence[bytes]) -> None:
        """Note that the values of these keys are used now."""
        if keys:
            self._attempt(lambda database: blobs.note_use(database, kind, keys), None)

    def save(self, kind: Kind, values: Sequence[tuple[bytes, bytes]], instead: Sequence[bytes] = ()) -> None:
        """Save keys and their values, all or none of them, and remove those of the keys in `instead`."""

        def write(database: sqlite3.Connection) -> None:
            with database:
                blobs.remove(database, kind, instead)
                added = blobs.write(database, kind, values)
            self._keep_to_limit(database, added)

        self._attempt(write, None)

    def remove(self, family: str) -> None:
        """Remove all values of a family."""

        def write(database: sqlite3.Connection) -> None:
            with database:
                database.execute("DELETE FROM blobs WHERE kind IN (SELECT id FROM kinds WHERE family = ?)", (family,))
                database.execute("DELETE FROM kinds WHERE family = ?", (family,))

        if self.file.exists():
            self._attempt(write, None)

    def usage(self) -> list[CacheUsage]:
        """The contents of the store by kind."""
        query = "SELECT family, identity, count(*), sum(length(value)) FROM kinds JOIN blobs ON id = kind GROUP BY id"
        if not self.file.exists():
            return []
        rows: list[tuple[str, str, int, int]] = self._attempt(lambda database: database.execute(query).fetchall(), [])
        return [CacheUsage(Kind(family, identity), number, size) for family, identity, number, size in rows]

    def size(self) -> int:
        """The size on disk in bytes."""
        return sum(path.stat().st_size for path in self.folder.glob(f"{FILE}*"))

    def prune(self, limit: int) -> None:
        """Remove the least recently used values until the file has `limit` bytes, and give the disk space back.

        Raises sqlite3.Error or OSError if that is impossible.
        """
        if not self.file.exists():
            return
        database = self._open()
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        left = blobs.content(database)
        while left and (size := self.file.stat().st_size) > limit:
            left = blobs.evict(database, int(KEPT * left * limit / size))
            blobs.give_back(database)

    def clear(self) -> None:
        """Remove all values. Raises sqlite3.Error or OSError if that is impossible."""
        if self.file.exists():
            try:
                database = self._open()
                database.executescript("DELETE FROM blobs; DELETE FROM kinds")
                blobs.give_back(database)
            except sqlite3.DatabaseError as error:
                if not blobs.is_damage(error):  # locked or read-only: the file must stay
                    raise
                self._move_aside()
        self._aside.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the database; it is opened again when it is needed."""
        connection = self._connections.pop(os.getpid(), None)
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()

    def __del__(self) -> None:
        self.close()

    @property
    def _aside(self) -> Path:
        return self.folder / f"{FILE}.damaged"

    def _open(self) -> sqlite3.Connection:
        """The connection of this process; a fork leaves alone the one that it has inherited."""
        if os.getpid() not in self._connections:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._connections[os.getpid()] = blobs.opened(self.file)
        return self._connections[os.getpid()]

    def _attempt(self, action: Callable[[sqlite3.Connection], Result], otherwise: Result) -> Result:
        """The result of the action; if it fails, `otherwise`, and after one warning the store is not used any more."""
        if self._broken:
            return otherwise
        try:
            try:
                return action(self._open())
            except sqlite3.DatabaseError as error:
                if not blobs.is_damage(error):
                    raise
                self._move_aside()
                logger.warning("%s: damaged (%s); it is moved to %s", self.file, error, self._aside.name)
                return action(self._open())
        except (sqlite3.Error, OSError) as error:
            self._broken = True
            self.close()
            if self.file not in _reported:
                _reported.add(self.file)
                logger.warning("%s: the cache is not used (%s)", self.file, error)
            return otherwise

    def _move_aside(self) -> None:
        self.close()
        for end in ("-wal", "-shm"):  # first, so that they are not taken for those of a new database
            self.file.with_name(FILE + end).unlink(missing_ok=True)
        with suppress(FileNotFoundError):  # another process has done it
            self.file.replace(self._aside)

    def _keep_to_limit(self, database: sqlite3.Connection, added: int) -> None:
        """Remove values beyond the limit. Their bytes are counted once in a process, when there are enough pages."""
        if self._content is not None:
            self._content += added
        if self.limit is None or blobs.extent(database) <= FULL * self.limit:
            return
        if self._content is None:
            self._content = blobs.content(database)
        if self._content > FULL * self.limit:
            self._content = blobs.evict(database, int(KEPT * FULL * self.limit))


def user_store() -> Store | None:
    """The user's store; None if the user wants none (`RERANK_CACHE` is empty)."""
    folder = cache_folder()
    return Store(folder, cache_limit()) if folder else None
