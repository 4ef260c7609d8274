"""Parses on disk: what has been parsed once, by whatever run, feature or process, is not parsed again.

One SQLite database in write-ahead mode, so that several processes of a machine read and write it at a time; a batch is
one transaction, and an interrupted run loses at most a batch. A parse is found by its parser (`cached.identity`) and a
hash of the sentence's tokens; its value is packed by packed.py. Where: `paths.cache_folder`. Left out: file systems
shared between machines, where SQLite's locks do not hold (set `RERANK_CACHE` to a local folder there); a limit on its
size.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from rerank_plugins.interfaces import Parse, Sentence
from rerank_plugins.parsers.packed import pack, unpack

FILE = "parses.sqlite3"
PATIENCE = 60.0  # seconds to wait for another process's transaction
ASKED = 500  # sentences in a query: SQLite's oldest limit is 999 values
SCHEMA = """
    CREATE TABLE IF NOT EXISTS parsers (id INTEGER PRIMARY KEY, identity TEXT UNIQUE NOT NULL);
    CREATE TABLE IF NOT EXISTS parses (
        parser INTEGER NOT NULL, tokens BLOB NOT NULL, parse BLOB NOT NULL, PRIMARY KEY (parser, tokens)
    ) WITHOUT ROWID;
"""
Result = TypeVar("Result")
logger = logging.getLogger(__name__)


class Holding(NamedTuple):
    """What the cache has of one parser: sentences, and bytes of their parses (compressed)."""

    identity: str
    sentences: int
    size: int


@dataclass
class ParseCache:
    """The cache in a folder. A cache that cannot be read or written says so once, and is done without."""

    folder: Path
    _connection: sqlite3.Connection | None = field(default=None, init=False, repr=False)
    _process: int = field(default=0, init=False, repr=False)
    _inherited: list[sqlite3.Connection] = field(default_factory=list, init=False, repr=False, compare=False)
    _broken: bool = field(default=False, init=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        unopened: dict[str, Any] = {"_connection": None, "_process": 0, "_inherited": []}
        return {"folder": self.folder, "_broken": self._broken, **unopened}

    @property
    def file(self) -> Path:
        """The database."""
        return self.folder / FILE

    def load(self, identity: str, sentences: Sequence[Sentence]) -> list[Parse | None]:
        """The parse of each sentence by that parser; None where it is not known."""
        keys = [_key(sentence) for sentence in sentences]

        def read(database: sqlite3.Connection) -> dict[bytes, bytes]:
            found: dict[bytes, bytes] = {}
            query = "SELECT tokens, parse FROM parses JOIN parsers ON id = parser WHERE identity = ? AND tokens IN (%s)"
            for start in range(0, len(keys), ASKED):
                asked = keys[start : start + ASKED]
                found.update(database.execute(query % ",".join("?" * len(asked)), (identity, *asked)))
            return found

        nothing: dict[bytes, bytes] = {}
        found = self._attempt(read, nothing)
        return [unpack(found[k], s) if k in found else None for k, s in zip(keys, sentences, strict=True)]

    def save(self, identity: str, parses: Iterable[tuple[Sentence, Parse]]) -> None:
        """Keep these parses by that parser, all or none of them."""
        rows = [(identity, _key(sentence), pack(parse)) for sentence, parse in parses]

        def write(database: sqlite3.Connection) -> None:
            with database:
                database.execute("INSERT OR IGNORE INTO parsers (identity) VALUES (?)", (identity,))
                database.executemany(
                    "INSERT OR REPLACE INTO parses SELECT id, ?2, ?3 FROM parsers WHERE identity = ?1", rows
                )

        self._attempt(write, None)

    def holdings(self) -> list[Holding]:
        """What is there, by parser."""
        query = """SELECT identity, count(tokens), coalesce(sum(length(parse) + length(tokens)), 0)
                   FROM parsers LEFT JOIN parses ON id = parser GROUP BY id ORDER BY id"""
        if not self.file.exists():
            return []
        return self._attempt(lambda database: [Holding(*row) for row in database.execute(query)], [])

    def size(self) -> int:
        """Bytes on disk."""
        return sum(path.stat().st_size for path in self._files() if path.exists())

    def clear(self) -> None:
        """Forget every parse. Raises sqlite3.Error or OSError where that cannot be done."""
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
            if isinstance(error, sqlite3.OperationalError):  # locked, read-only: not ours to remove
                raise
            self.close()
            for path in self._files():  # damaged
                path.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the database; it opens again when it is needed."""
        if self._connection is not None and self._process == os.getpid():
            with suppress(sqlite3.Error):
                self._connection.close()
        self._connection = None

    def __del__(self) -> None:
        self.close()

    def _files(self) -> list[Path]:
        return [self.file, *(self.file.with_name(self.file.name + end) for end in ("-wal", "-shm"))]

    def _attempt(self, action: Callable[[sqlite3.Connection], Result], otherwise: Result) -> Result:
        """What the action gives, or `otherwise`: whatever fails ends the use of the cache, with one warning."""
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
            self._inherited.append(self._connection)  # through a fork: neither to be used nor to be closed here
            self._connection = None
        if self._connection is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self.file, timeout=PATIENCE, check_same_thread=False)
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.executescript(SCHEMA)
            except sqlite3.Error:
                connection.close()
                raise
            self._connection, self._process = connection, os.getpid()
        return self._connection


def _key(sentence: Sentence) -> bytes:
    return hashlib.blake2b(json.dumps(list(sentence)).encode(), digest_size=16).digest()
