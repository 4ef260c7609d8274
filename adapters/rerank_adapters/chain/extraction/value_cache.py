"""Feature values in the store, so that no value is extracted twice by any command.

A blob is a block: the keys of its rows (two uint64 each, sorted by the first, which distinguishes them), then their
values; its key in the store is its hash. Blocks are never changed, so that several processes can add some at the same
time, and a killed process loses only the rows that it had not written yet (`PACE`).
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import FloatArray
from rerank_plugins.core.arrays import BoolArray
from rerank_plugins.kit.files.blobs import Kind
from rerank_plugins.kit.files.store import Store

VALUES = "values"  # the family of blobs that any command may use
LARGE = 64_000_000  # bytes of a block that is not merged with others any more
MANY = 8  # small blocks of an identity that are merged into one when a run ends
PACE = 2.0  # seconds after which finished rows are written

Keys = NDArray[np.uint64]  # (rows, 2)


class _Block(NamedTuple):
    first: NDArray[np.uint64]
    second: NDArray[np.uint64]
    values: FloatArray

    @classmethod
    def of_rows(cls, keys: Keys, values: FloatArray) -> Self:
        """The block of some rows, of which several may be equal."""
        order = np.lexsort((keys[:, 1], keys[:, 0]))
        distinct = np.ones(len(order), bool)
        distinct[1:] = (keys[order[1:]] != keys[order[:-1]]).any(axis=1)
        order = order[distinct]
        return cls(keys[order, 0], keys[order, 1], values[order])

    @classmethod
    def of_bytes(cls, blob: bytes, width: int) -> Self:
        rows = rows_of(len(blob), width)
        first, second = np.frombuffer(blob, np.uint64, 2 * rows).reshape(2, rows)
        return cls(first, second, np.frombuffer(blob, np.float64, rows * width, 16 * rows).reshape(rows, width))

    @classmethod
    def merged(cls, blocks: Iterable[_Block]) -> Self:
        firsts, seconds, values = zip(*blocks, strict=True)
        return cls.of_rows(np.column_stack([np.concatenate(firsts), np.concatenate(seconds)]), np.concatenate(values))

    def to_bytes(self) -> bytes:
        return self.first.tobytes() + self.second.tobytes() + self.values.tobytes()


def rows_of(size: int, width: int) -> int:
    """How many rows with `width` values each a block of so many bytes has."""
    return size // (16 + 8 * width)


@dataclass
class StoredValues:
    """The values of one identity, `width` numbers for each key; those in the store are read at the first call."""

    store: Store
    kind: Kind
    width: int
    _blocks: dict[bytes, _Block] | None = field(default=None, repr=False)
    _added: dict[bytes, _Block] = field(default_factory=dict, repr=False)
    _used: set[bytes] = field(default_factory=set, repr=False)
    _stale: set[bytes] = field(default_factory=set, repr=False)  # blocks whose use was noted a day ago or earlier
    _new: list[tuple[Keys, FloatArray]] = field(default_factory=list, repr=False)
    _written: float = field(default_factory=time.monotonic, repr=False)

    def load(self, keys: Keys) -> tuple[FloatArray, BoolArray]:
        """(rows, width) the values of the keys, and (rows) whether they are known; values of unknown keys are 0."""
        values, known = np.zeros((len(keys), self.width)), np.zeros(len(keys), bool)
        for name, block in self._read().items():
            left = np.flatnonzero(~known)
            if not len(left):
                break
            wanted = keys[left]
            place = np.minimum(np.searchsorted(block.first, wanted[:, 0]), len(block.first) - 1)
            hits = (block.first[place] == wanted[:, 0]) & (block.second[place] == wanted[:, 1])
            if hits.any():
                values[left[hits]] = block.values[place[hits]]
                known[left[hits]] = True
                self._used.add(name)
        return values, known

    def add(self, keys: Keys, values: FloatArray) -> None:
        """Keep values; they are written a while later, or when `flush` is called."""
        self._new.append((keys, values))
        if time.monotonic() - self._written > PACE:
            self.flush()

    def flush(self) -> None:
        """Write what has been added."""
        new, self._new, self._written = self._new, [], time.monotonic()
        if sum(len(keys) for keys, _ in new):
            keys, values = (np.concatenate(arrays) for arrays in zip(*new, strict=True))
            self._save(_Block.of_rows(keys, values))

    def close(self) -> None:
        """Write what has been added, merge the small blocks if there are many, and note which have been used."""
        self.flush()
        self.store.note_use(self.kind, sorted(self._used & self._stale))
        if not self._added:
            return
        blocks = {**self._read(), **self._added}
        small = {name: block for name, block in blocks.items() if block.values.nbytes < LARGE}
        if len(small) > MANY:
            self._save(_Block.merged(small.values()), instead=list(small))

    def _save(self, block: _Block, instead: Sequence[bytes] = ()) -> None:
        blob = block.to_bytes()
        name = hashlib.blake2b(blob, digest_size=16).digest()
        self.store.save(self.kind, [(name, blob)], instead)
        self._added[name] = block

    def _read(self) -> dict[bytes, _Block]:
        if self._blocks is None:
            loaded = self.store.load(self.kind)
            self._blocks = {name: _Block.of_bytes(blob, self.width) for name, blob in loaded.values.items() if blob}
            self._stale = set(loaded.stale)
        return self._blocks


@dataclass
class ValueCache:
    """The values of all identities in a store; a `family` of its own keeps them apart from those of other commands."""

    store: Store
    family: str = VALUES
    taken: Counter[str] = field(default_factory=Counter)  # rows that a run found in the cache, by feature

    def of(self, identity: str, width: int) -> StoredValues:
        """The values of an identity, a JSON text."""
        return StoredValues(self.store, Kind(self.family, identity), width)

    def clear(self) -> None:
        """Remove all values."""
        self.store.remove(self.family)
