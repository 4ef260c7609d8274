"""The cache of parses on disk, so that no sentence is parsed twice by any run, feature or process.

It is an SQLite database in write-ahead mode; a batch is one transaction. The key of a parse is its parser
(`cached_parser.identity`) and a hash of the sentence's tokens. File systems shared between machines, where SQLite's
locks do not hold, are not supported. A save that makes the file exceed its limit removes the parses that have not been
used for the longest time. Pages are only about two thirds full, as keys are hashes: what counts is the bytes of keys
and parses, which may take `FULL` of the limit, and take `KEPT` of that after a removal. Uses are noted by the hour,
and again only after a day, so that reading hardly ever writes.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from rerank_plugins.core.interfaces import Parse, Sentence
from rerank_plugins.core.paths import this_machine
from rerank_plugins.kit.files.packed_parses import pack, unpack

FILE = "parses.sqlite3"
PATIENCE = 60.0  # seconds to wait for the transaction of another process
QUERIED = 500  # sentences of one query: old versions of SQLite allow 999 values
FULL = 0.5  # the least part of the file that holds keys and parses
KEPT = 0.9  # the part of what is allowed that a removal leaves
HOUR, FRESH = 3600, 24  # seconds of an hour, and hours within which a use is not noted again
SCHEMA = """
    CREATE TABLE IF NOT EXISTS parsers (id INTEGER PRIMARY KEY, identity TEXT UNIQUE NOT NULL);
    CREATE TABLE IF NOT EXISTS parses (
        parser INTEGER NOT NULL, tokens BLOB NOT NULL, parse BLOB NOT NULL, used INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (parser, tokens)
    ) WITHOUT ROWID;
"""
Result = TypeVar("Result")
logger = logging.getLogger(__name__)


class Holding(NamedTuple):
    """The parses of one parser: the number of sentences, and the compressed size of their parses in bytes."""

    identity: str
    sentences: int
    size: int


@dataclass
class ParseCache:
    """The cache in a folder. If it cannot be read or written, one warning says so, and it is not used any more.

    `limit` is the most bytes that the parses may take (None: any number), to the size of a batch.
    """

    folder: Path
    limit: int | None = None
    _connection: sqlite3.Connection | None = field(default=None, init=False, repr=False)
    _process: int = field(default=0, init=False, repr=False)
    _inherited: list[sqlite3.Connection] = field(default_factory=list, init=False, repr=False, compare=False)
    _broken: bool = field(default=False, init=False, repr=False)
    _content: int | None = field(default=None, init=False, repr=False, compare=False)  # bytes of keys and parses

    def __getstate__(self) -> dict[str, Any]:
        unopened: dict[str, Any] = {"_connection": None, "_process": 0, "_inherited": [], "_content": None}
        kept = {"folder": self.folder, "limit": self.limit, "_broken": self._broken}
        return {**kept, "machine": this_machine(), **unopened}

    def __setstate__(self, state: dict[str, Any]) -> None:
        elsewhere = state.pop("machine") != this_machine()
        self.__dict__.update(state, _inherited=[], _broken=state["_broken"] or elsewhere)

    @property
    def file(self) -> Path:
        """The file of the database."""
        return self.folder / FILE

    def load(self, identity: str, sentences: Sequence[Sentence]) -> list[Parse | None]:
        """The parse of each sentence by the parser of this identity; None for a sentence that is not in the cache."""
        keys = [_key(sentence) for sentence in sentences]

        def read(database: sqlite3.Connection) -> dict[bytes, bytes]:
            packed: dict[bytes, bytes] = {}
            query = """SELECT tokens, parse, used FROM parses JOIN parsers ON id = parser
                       WHERE identity = ? AND tokens IN (%s)"""
            stale, hour = list[bytes](), _hour()
            for start in range(0, len(keys), QUERIED):
                queried = keys[start : start + QUERIED]
                for key, parse, used in database.execute(query % ",".join("?" * len(queried)), (identity, *queried)):
                    packed[key] = parse
                    if used < hour - FRESH:
                        stale.append(key)
            _note_use(database, identity, stale)
            return packed

        nothing: dict[bytes, bytes] = {}
        packed = self._attempt(read, nothing)
        return [unpack(packed[k], s) if k in packed else None for k, s in zip(keys, sentences, strict=True)]

    def save(self, identity: str, parses: Iterable[tuple[Sentence, Parse]]) -> None:
        """Save parses by the parser of this identity, all or none of them."""
        rows = [(_key(sentence), pack(parse), identity) for sentence, parse in parses]

        def write(database: sqlite3.Connection) -> None:
            with database:
                database.execute("INSERT OR IGNORE INTO parsers (identity) VALUES (?)", (identity,))
                database.executemany(
                    "INSERT OR REPLACE INTO parses (parser, tokens, parse, used)"
                    f" SELECT id, ?, ?, {_hour()} FROM parsers WHERE identity = ?",
                    rows,
                )
            self._keep_to_limit(database, sum(len(key) + len(parse) for key, parse, _ in rows))

        self._attempt(write, None)

    def holdings(self) -> list[Holding]:
        """The contents of the cache by parser."""
        query = """SELECT identity, count(tokens), coalesce(sum(length(parse) + length(tokens)), 0)
                   FROM parsers LEFT JOIN parses ON id = parser GROUP BY id ORDER BY id"""
        if not self.file.exists():
            return []
        return self._attempt(lambda database: [Holding(*row) for row in database.execute(query)], [])

    def size(self) -> int:
        """The size on disk in bytes."""
        return sum(path.stat().st_size for path in self._files() if path.exists())

    def prune(self, limit: int) -> None:
        """Remove the parses that were used least recently until their file has `limit` bytes, and give the disk space
        back. Raises sqlite3.Error or OSError if that is impossible.
        """
        if not self.file.exists():
            return
        database = self._open()
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        left = _content(database)[1]
        while left and (size := self.file.stat().st_size) > limit:
            left = _evict(database, int(KEPT * left * limit / size))
            database.execute("VACUUM")
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def clear(self) -> None:
        """Delete all parses. Raises sqlite3.Error or OSError if that is impossible."""
        if not self.file.exists():
            return
        try:
            database = self._open()
            with database:
                database.execute("DELETE FROM parses")
                database.execute("DELETE FROM parsers")
            database.execute("VACUUM")
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):  # locked or read-only: the file must stay
                raise
            self.close()
            for path in self._files():  # damaged
                path.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the database; it is opened again when it is needed."""
        if self._connection is not None and self._process == os.getpid():
            with suppress(sqlite3.Error):
                self._connection.close()
        self._connection = None

    def __del__(self) -> None:
        self.close()

    def _keep_to_limit(self, database: sqlite3.Connection, added: int) -> None:
        """Remove parses beyond the limit. Their bytes are counted once in a process, when the file is large enough."""
        if self._content is not None:
            self._content += added
        if self.limit is None or _live_bytes(database) <= FULL * self.limit:
            return
        if self._content is None:
            self._content = _content(database)[1]
        if self._content > FULL * self.limit:
            self._content = _evict(database, int(KEPT * FULL * self.limit))

    def _files(self) -> list[Path]:
        return [self.file, *(self.file.with_name(self.file.name + end) for end in ("-wal", "-shm"))]

    def _attempt(self, action: Callable[[sqlite3.Connection], Result], otherwise: Result) -> Result:
        """The result of the action; if it fails, `otherwise`, and after one warning the cache is not used any more."""
        if self._broken:
            return otherwise
        try:
            return action(self._open())
        except (sqlite3.Error, OSError) as error:
            self._broken = True
            self.close()
            logger.warning("%s: the cache of parses is not used (%s)", self.file, error)
            return otherwise

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None and self._process != os.getpid():
            self._inherited.append(self._connection)  # inherited by a fork: not to be used or closed here
            self._connection = None
        if self._connection is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self.file, timeout=PATIENCE, check_same_thread=False)
            try:
                _with_patience(lambda: connection.execute("PRAGMA journal_mode = WAL"))
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.executescript(SCHEMA)
                _upgrade(connection)
            except sqlite3.Error:
                connection.close()
                raise
            self._connection, self._process = connection, os.getpid()
        return self._connection


def _upgrade(database: sqlite3.Connection) -> None:
    """Add the column of uses to a database of an older version; its parses count as never used."""
    if "used" not in {row[1] for row in database.execute("PRAGMA table_info(parses)")}:
        with suppress(sqlite3.OperationalError):  # another process has just done it, or the file is read-only
            database.execute("ALTER TABLE parses ADD COLUMN used INTEGER NOT NULL DEFAULT 0")


def _with_patience(action: Callable[[], object]) -> None:
    """Do what fails at once, and does not wait, while another process does the same."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            action()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(0.02)
        else:
            return


def _hour() -> int:
    return int(time.time()) // HOUR


def _note_use(database: sqlite3.Connection, identity: str, keys: Sequence[bytes]) -> None:
    """Note that parses are used now; nothing is noted while another process writes, which may take long."""
    update = "UPDATE parses SET used = ? WHERE parser = (SELECT id FROM parsers WHERE identity = ?) AND tokens IN (%s)"
    for start in range(0, len(keys), QUERIED):
        read = keys[start : start + QUERIED]
        with suppress(sqlite3.OperationalError):  # read-only, or locked
            database.execute("PRAGMA busy_timeout = 0")
            try:
                with database:
                    database.execute(update % ",".join("?" * len(read)), (_hour(), identity, *read))
            finally:
                database.execute(f"PRAGMA busy_timeout = {int(1000 * PATIENCE)}")


def _live_bytes(database: sqlite3.Connection) -> int:
    """The bytes of the pages that hold something."""
    pages, free, size = (
        int(database.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size


def _content(database: sqlite3.Connection) -> tuple[int, int]:
    """The number of parses, and the bytes of their keys and values. The whole file is read."""
    query = "SELECT count(*), coalesce(sum(length(tokens) + length(parse)), 0) FROM parses"
    rows, size = database.execute(query).fetchone()
    return int(rows), int(size)


def _evict(database: sqlite3.Connection, limit: int) -> int:
    """Remove the least recently used parses until keys and values take about `limit` bytes; return what is left.

    It is one transaction, which begins before the bytes are counted, so that two processes do not both remove the same
    excess.
    """
    with database:
        database.execute("BEGIN IMMEDIATE")
        rows, size = _content(database)
        excess = -(-rows * max(0, size - limit) // max(1, size))
        database.execute(
            "DELETE FROM parses WHERE (parser, tokens) IN (SELECT parser, tokens FROM parses ORDER BY used LIMIT ?)",
            (excess,),
        )
        database.execute("DELETE FROM parsers WHERE id NOT IN (SELECT DISTINCT parser FROM parses)")
        return _content(database)[1]


def _key(sentence: Sentence) -> bytes:
    return hashlib.blake2b(json.dumps(list(sentence)).encode(), digest_size=16).digest()
