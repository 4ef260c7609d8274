"""Feature values in the store, so that no value is extracted twice by any command.

A blob is a block: the keys of its rows, sorted, then their values; its key in the store is its hash. Blocks are never
changed, so that several processes can add some at the same time, and a killed process loses only the rows that it had
not written yet (`PACE`).
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

KEY = np.dtype("S16")
Keys = NDArray[np.bytes_]  # (rows)


class _Block(NamedTuple):
    keys: Keys  # sorted, each once
    values: FloatArray

    @classmethod
    def merged(cls, parts: Iterable[tuple[Keys, FloatArray]]) -> Self:
        """The block of all rows, of which several may be equal."""
        keys, values = map(np.concatenate, zip(*parts, strict=True))
        distinct, rows = np.unique(keys, return_index=True)
        return cls(distinct, values[rows])

    @classmethod
    def of_bytes(cls, blob: bytes, width: int) -> Self:
        rows = rows_of(len(blob), width)
        values = np.frombuffer(blob, np.float64, rows * width, rows * KEY.itemsize)
        return cls(np.frombuffer(blob, KEY, rows), values.reshape(rows, width))

    def to_bytes(self) -> bytes:
        return self.keys.tobytes() + self.values.tobytes()


def rows_of(size: int, width: int) -> int:
    """How many rows with `width` values each a block of so many bytes has."""
    return size // (KEY.itemsize + 8 * width)


@dataclass
class StoredValues:
    """The values of one identity, `width` numbers for each key; those in the store are read at the first call."""

    store: Store
    kind: Kind
    width: int
    _blocks: dict[bytes, _Block] | None = field(default=None, repr=False)
    _added: dict[bytes, _Block] = field(default_factory=dict, repr=False)
    _used: set[bytes] = field(default_factory=set, repr=False)
    _new: list[tuple[Keys, FloatArray]] = field(default_factory=list, repr=False)
    _written: float = field(default_factory=time.monotonic, repr=False)

    def load(self, keys: Keys) -> tuple[FloatArray, BoolArray]:
        """(rows, width) the values of the keys, and (rows) whether they are known; values of unknown keys are 0."""
        values, known = np.zeros((len(keys), self.width)), np.zeros(len(keys), bool)
        for name, block in self._read().items():
            left = np.flatnonzero(~known)
            if not len(left):
                break
            place = np.minimum(np.searchsorted(block.keys, keys[left]), len(block.keys) - 1)
            hits = block.keys[place] == keys[left]
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
            self._save(_Block.merged(new))

    def close(self) -> None:
        """Write what has been added, merge the small blocks if there are many, and note which have been used."""
        self.flush()
        self.store.note_use(self.kind, sorted(self._used))
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
            blobs = self.store.load(self.kind).items()
            self._blocks = {name: _Block.of_bytes(blob, self.width) for name, blob in blobs if blob}
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
