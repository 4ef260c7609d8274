"""The cache on disk: parses and feature values that no command shall compute again.

It is one SQLite table of bytes by kind and key. A `put` is one transaction, so that a process can be killed at any
moment, and several can use the cache at once. Only the requested values are read: memory does not grow with the cache.
File systems shared between machines, where SQLite's locks do not hold, are not supported. A value whose checksum is
wrong counts as missing; a database that SQLite finds damaged is moved aside. A cache that cannot be read or written is
reported once, and is not used any more.

Beyond the limit, the values that have not been used for the longest time are removed. Uses are noted by the day, so
that reading hardly ever writes.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from rerank_plugins.core.files import cache_folder, cache_limit
from rerank_plugins.core.identity import constructor_call

FILE = "cache.sqlite3"
SECONDS_TO_WAIT = 60.0  # seconds to wait for the transaction of another process
KEYS_OF_QUERY = 500  # old versions of SQLite allow 999 values
VERSION = 1  # of the tables: those of another version are dropped, and their values computed again
SCHEMA = (
    *(f"DROP TABLE IF EXISTS {table}" for table in ("kinds", "kept", "blobs")),
    """
    CREATE TABLE kinds (
        id INTEGER PRIMARY KEY, unit TEXT NOT NULL, identity TEXT NOT NULL, plugin TEXT NOT NULL,
        UNIQUE (unit, identity)
    )
    """,
    """
    CREATE TABLE kept (
        kind INTEGER NOT NULL, key BLOB NOT NULL, used INTEGER NOT NULL, checksum INTEGER NOT NULL, value BLOB NOT NULL,
        PRIMARY KEY (kind, key)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX by_use ON kept (used)",
    f"PRAGMA user_version = {VERSION}",
)
OF_KIND = "kind = (SELECT id FROM kinds WHERE unit = ? AND identity = ?)"
OLDEST = "SELECT kind, key FROM kept ORDER BY used LIMIT (SELECT count(*) / 10 + 1 FROM kept)"
Result = TypeVar("Result")

logger = logging.getLogger(__name__)
_reported: set[Path] = set()  # caches that were reported as unusable


class Kind(NamedTuple):
    """A kind of values: their unit (`sentences`), and the identity and the name of the plugin that computed them."""

    unit: str
    identity: str
    plugin: str

    @classmethod
    def of(cls, unit: str, plugin: object, identity: str) -> Kind:
        """The kind of the values of a plugin of this identity."""
        return cls(unit, identity, constructor_call(plugin))


class Usage(NamedTuple):
    """The number of values of a kind, and their bytes."""

    kind: Kind
    values: int
    size: int


class Cache:
    """The cache in a folder, which may take `limit` bytes (None: any number)."""

    def __init__(self, folder: Path, limit: int | None = None) -> None:
        self.folder, self.limit, self._broken = folder, limit, False
        self._databases: dict[int, sqlite3.Connection] = {}  # by process: a fork leaves those of its parent alone

    @property
    def file(self) -> Path:
        """The file of the database."""
        return self.folder / FILE

    def get(self, kind: Kind, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The values of those keys that are in the cache; their use is noted."""

        def read(database: sqlite3.Connection) -> dict[bytes, bytes]:
            query = f"SELECT key, value, checksum, used FROM kept WHERE {OF_KIND}"
            rows = [row for sql, values in _for_keys(query, kind, keys) for row in database.execute(sql, values)]
            sound = [row for row in rows if isinstance(row[1], bytes) and zlib.crc32(row[1]) == row[2]]
            if len(sound) < len(rows):
                logger.warning("%s: %d values are damaged; they are computed again", self.file, len(rows) - len(sound))
            if old := [key for key, _, _, used in sound if used < _today()]:
                with suppress(sqlite3.OperationalError), database:  # read-only, or locked
                    for sql, values in _for_keys(f"UPDATE kept SET used = {_today()} WHERE {OF_KIND}", kind, old):
                        database.execute(sql, values)
            return {key: value for key, value, *_ in sound}

        return self._attempt(read, {}) if keys else {}

    def put(self, kind: Kind, values: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep values by their keys, all or none."""
        rows = [(key, _today(), zlib.crc32(value), value, kind.unit, kind.identity) for key, value in values]

        def write(database: sqlite3.Connection) -> None:
            with database:
                database.execute("INSERT OR IGNORE INTO kinds (unit, identity, plugin) VALUES (?, ?, ?)", kind)
                database.executemany(
                    "INSERT OR REPLACE INTO kept (kind, key, used, checksum, value)"
                    " SELECT id, ?, ?, ?, ? FROM kinds WHERE unit = ? AND identity = ?",
                    rows,
                )
            if self.limit is not None:
                _remove_oldest(database, self.limit)

        self._attempt(write, None)

    def usage(self) -> list[Usage]:
        """The contents of the cache, by kind."""
        query = (
            "SELECT unit, identity, plugin, count(*), sum(length(value)) FROM kinds JOIN kept ON id = kind GROUP BY id"
        )
        if not self.file.exists():
            return []
        rows: list[Any] = self._attempt(lambda database: database.execute(query).fetchall(), [])
        return [Usage(Kind(unit, identity, plugin), number, size) for unit, identity, plugin, number, size in rows]

    def size(self) -> int:
        """The size on disk in bytes."""
        return sum(path.stat().st_size for path in self.folder.glob(f"{FILE}*"))

    def prune(self, limit: int) -> None:
        """Remove the least recently used values until the file has `limit` bytes, and give the disk space back.

        Raises sqlite3.Error or OSError if that is impossible.
        """
        if self.file.exists():
            _remove_oldest(self._open(), limit)
            self._open().execute("VACUUM")

    def clear(self) -> None:
        """Remove all values. Raises sqlite3.Error or OSError if that is impossible."""
        if self.file.exists():
            try:
                self._open().executescript("DELETE FROM kept; DELETE FROM kinds; VACUUM")
            except sqlite3.DatabaseError as error:
                if not _is_damage(error):  # locked or read-only: the file must stay
                    raise
                self._move_aside()
        self._aside.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the database; it is opened again when it is needed."""
        database = self._databases.pop(os.getpid(), None)
        if database is not None:
            with suppress(sqlite3.Error):
                database.close()

    def __del__(self) -> None:
        self.close()

    @property
    def _aside(self) -> Path:
        return self.folder / f"{FILE}.damaged"

    def _open(self) -> sqlite3.Connection:
        """The connection of this process. Raises sqlite3.Error and OSError."""
        if os.getpid() not in self._databases:
            self.folder.mkdir(parents=True, exist_ok=True)
            database = sqlite3.connect(self.file, timeout=SECONDS_TO_WAIT, check_same_thread=False)
            try:
                _prepare(database)
            except sqlite3.Error:
                database.close()
                raise
            self._databases[os.getpid()] = database
        return self._databases[os.getpid()]

    def _attempt(self, action: Callable[[sqlite3.Connection], Result], otherwise: Result) -> Result:
        """The result of the action; if it fails, `otherwise`, and after one warning the cache is not used any more."""
        if self._broken:
            return otherwise
        try:
            try:
                return action(self._open())
            except sqlite3.DatabaseError as error:
                if not _is_damage(error):
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
        with suppress(FileNotFoundError):  # another process has done it
            self.file.replace(self._aside)


def user_cache() -> Cache | None:
    """The user's cache, one object in a process; None if the user wants none (`RERANK_CACHE` is empty)."""
    folder = cache_folder()
    return _cache_in(folder, cache_limit()) if folder else None


_cache_in = cache(Cache)


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    """Whether the file is damaged or no database; subclasses stand for locks, full disks and the like."""
    return type(error) is sqlite3.DatabaseError


def _prepare(database: sqlite3.Connection) -> None:
    """Create the tables, in place of those of another version."""
    database.execute("PRAGMA synchronous = NORMAL")
    if _pragma(database, "user_version") == VERSION:
        return
    with database:
        database.execute("BEGIN IMMEDIATE")
        if _pragma(database, "user_version") != VERSION:  # no other process has been first
            for statement in SCHEMA:
                database.execute(statement)


def _pragma(database: sqlite3.Connection, name: str) -> int:
    return int(database.execute(f"PRAGMA {name}").fetchone()[0])


def _today() -> int:
    """The days since 1970."""
    return int(time.time()) // 86_400


def _for_keys(sql: str, kind: Kind, keys: Sequence[bytes]) -> Iterator[tuple[str, tuple[object, ...]]]:
    """The statement, limited to some of the keys at a time, with its values."""
    for start in range(0, len(keys), KEYS_OF_QUERY):
        part = keys[start : start + KEYS_OF_QUERY]
        yield f"{sql} AND key IN ({','.join('?' * len(part))})", (kind.unit, kind.identity, *part)


def _remove_oldest(database: sqlite3.Connection, limit: int) -> None:
    """Remove a tenth of the values, the least recently used, as long as they take more than `limit` bytes."""

    def used() -> int:
        pages = _pragma(database, "page_count") - _pragma(database, "freelist_count")
        return pages * _pragma(database, "page_size")

    while used() > limit:
        with database:
            if database.execute(f"DELETE FROM kept WHERE (kind, key) IN ({OLDEST})").rowcount < 1:
                return
            database.execute("DELETE FROM kinds WHERE id NOT IN (SELECT DISTINCT kind FROM kept)")
