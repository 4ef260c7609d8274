"""The table of blobs in an SQLite database: values by kind and key, with checksums and the hours of their last use."""

from __future__ import annotations

import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

PATIENCE = 60.0  # seconds to wait for the transaction of another process
QUERIED = 500  # keys of one query: old versions of SQLite allow 999 values
HOUR, FRESH = 3600, 24  # seconds of an hour, and hours within which a use is not noted again
SCHEMA = """
    CREATE TABLE IF NOT EXISTS kinds (
        id INTEGER PRIMARY KEY, family TEXT NOT NULL, identity TEXT NOT NULL, UNIQUE (family, identity)
    );
    CREATE TABLE IF NOT EXISTS blobs (
        kind INTEGER NOT NULL, key BLOB NOT NULL, used INTEGER NOT NULL, checksum INTEGER NOT NULL, value BLOB NOT NULL,
        PRIMARY KEY (kind, key)
    ) WITHOUT ROWID;
"""
OF_KIND = "kind = (SELECT id FROM kinds WHERE family = ? AND identity = ?)"
BYTES = "length(key) + length(value)"


class Kind(NamedTuple):
    """What blobs are (`parses`, say), and the JSON text of all that they depend on besides their keys."""

    family: str
    identity: str


class Found(NamedTuple):
    """Values by their keys; the keys whose use was noted a day ago or earlier, and those whose values are damaged."""

    values: dict[bytes, bytes]
    stale: list[bytes]
    damaged: list[bytes]


def opened(file: Path) -> sqlite3.Connection:
    """The database, in write-ahead mode. Raises sqlite3.Error."""
    database = sqlite3.connect(file, timeout=PATIENCE, check_same_thread=False)
    try:
        _write_ahead(database)
        database.execute("PRAGMA synchronous = NORMAL")
        database.executescript(SCHEMA)
    except sqlite3.Error:
        database.close()
        raise
    return database


def _write_ahead(database: sqlite3.Connection) -> None:
    """Choose the write-ahead mode, which fails at once, and does not wait, while another process does the same."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
        time.sleep(0.02)


def is_damage(error: sqlite3.DatabaseError) -> bool:
    """Whether the file is damaged or no database; subclasses stand for locks, full disks and the like."""
    return type(error) is sqlite3.DatabaseError


def read(database: sqlite3.Connection, kind: Kind, keys: Sequence[bytes] | None) -> Found:
    """The values of the keys that are in the table, or of all keys of the kind (None)."""
    query = f"SELECT key, value, checksum, used FROM blobs WHERE {OF_KIND}"
    queries = [(query, tuple(kind))] if keys is None else _for_keys(query, kind, keys)
    found, recent = Found({}, [], []), hour() - FRESH
    for sql, values in queries:
        for key, value, checksum, used in database.execute(sql, values):
            if not isinstance(value, bytes) or zlib.crc32(value) != checksum:
                found.damaged.append(key)
                continue
            found.values[key] = value
            if used < recent:
                found.stale.append(key)
    return found


def write(database: sqlite3.Connection, kind: Kind, blobs: Iterable[tuple[bytes, bytes]]) -> int:
    """Insert keys and values, or replace the values; return their bytes. The caller makes it a transaction."""
    rows = [(key, hour(), zlib.crc32(value), value, *kind) for key, value in blobs]
    database.execute("INSERT OR IGNORE INTO kinds (family, identity) VALUES (?, ?)", kind)
    database.executemany(
        "INSERT OR REPLACE INTO blobs (kind, key, used, checksum, value)"
        " SELECT id, ?, ?, ?, ? FROM kinds WHERE family = ? AND identity = ?",
        rows,
    )
    return sum(len(row[0]) + len(row[3]) for row in rows)


def remove(database: sqlite3.Connection, kind: Kind, keys: Sequence[bytes]) -> None:
    """Remove the blobs of these keys. The caller makes it a transaction."""
    for sql, values in _for_keys(f"DELETE FROM blobs WHERE {OF_KIND}", kind, keys):
        database.execute(sql, values)


def note_use(database: sqlite3.Connection, kind: Kind, keys: Sequence[bytes]) -> None:
    """Note that blobs are used now; nothing is noted while another process writes, which may take long."""
    if not keys:
        return
    update = f"UPDATE blobs SET used = {hour()} WHERE used < {hour() - FRESH} AND {OF_KIND}"
    with suppress(sqlite3.OperationalError):  # read-only, or locked
        database.execute("PRAGMA busy_timeout = 0")
        try:
            with database:
                for sql, values in _for_keys(update, kind, keys):
                    database.execute(sql, values)
        finally:
            database.execute(f"PRAGMA busy_timeout = {int(1000 * PATIENCE)}")


def hour() -> int:
    """The hours since 1970."""
    return int(time.time()) // HOUR


def _for_keys(sql: str, kind: Kind, keys: Sequence[bytes]) -> Iterator[tuple[str, tuple[object, ...]]]:
    """The statement, limited to some of the keys at a time, with its values."""
    for start in range(0, len(keys), QUERIED):
        part = keys[start : start + QUERIED]
        yield f"{sql} AND key IN ({','.join('?' * len(part))})", (*kind, *part)


def content(database: sqlite3.Connection) -> int:
    """The bytes of all keys and values. All pages are read, except those that continue long values."""
    return int(database.execute(f"SELECT coalesce(sum({BYTES}), 0) FROM blobs").fetchone()[0])


def extent(database: sqlite3.Connection) -> int:
    """The bytes of all pages."""
    pages, size = (database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
    return int(pages * size)


def evict(database: sqlite3.Connection, limit: int) -> int:
    """Remove the least recently used blobs until keys and values take at most `limit` bytes; return what is left.

    It is one transaction, which begins before the bytes are counted, so that two processes do not both remove the same
    excess.
    """
    with database:
        database.execute("BEGIN IMMEDIATE")
        database.execute(
            f"""DELETE FROM blobs WHERE (kind, key) IN (
                SELECT kind, key FROM (
                    SELECT kind, key, {BYTES} AS size,
                        sum({BYTES}) OVER (ORDER BY used, kind, key ROWS UNBOUNDED PRECEDING) AS upto FROM blobs
                ) WHERE upto - size < ?)""",
            (content(database) - limit,),
        )
        database.execute("DELETE FROM kinds WHERE id NOT IN (SELECT DISTINCT kind FROM blobs)")
        return content(database)


def give_back(database: sqlite3.Connection) -> None:
    """Give the space of removed blobs back to the disk."""
    database.execute("VACUUM")
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
