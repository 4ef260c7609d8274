"""Looks up the values that earlier runs have extracted, and keeps those of this run for later ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rerank_adapters.chain.extraction.chunk import Extracted, Task
from rerank_adapters.chain.extraction.plan import Plan
from rerank_adapters.chain.extraction.value_cache import Keys, StoredValues, ValueCache
from rerank_adapters.chain.extraction.value_identity import value_identity
from rerank_adapters.chain.extraction.value_keys import KeysOf, keys_for
from rerank_plugins import FloatArray, NBestList


@dataclass(frozen=True)
class LookedUp:
    """Lists, their values (rows, columns) as far as they are known, the task to extract the others, and their keys."""

    nbests: Sequence[NBestList]
    values: FloatArray
    task: Task
    keys: Mapping[str, Keys]


class KnownValues:
    """Where the values of each feature of a plan are kept.

    They are kept in `cache` if their identity allows it (value_identity.py), otherwise in `work`, a cache in a folder
    of the job; None stands for a cache that is not there.
    """

    def __init__(self, plan: Plan, cache: ValueCache | None, work: ValueCache | None) -> None:
        """Prepare the caches; nothing is read yet. Raises PluginError for an extractor that cannot be described."""
        self._cache, self._work = cache, work
        self._stores: dict[str, StoredValues] = {}
        self._lasting: set[str] = set()
        self._columns: dict[str, slice] = {}
        self._keys: dict[str, KeysOf] = {}
        self._width = 0
        for label, extractor in plan.extractors.items():
            width = len(extractor.components)
            self._columns[label] = slice(self._width, self._width + width)
            self._width += width
            if cache is None and work is None:
                continue
            identity = value_identity(plan, label)
            store = cache if identity.lasting and cache is not None else work
            if store is not None:
                self._keys[label] = keys_for(extractor)
                self._stores[label] = store.of(identity.text, width)
                if store is cache:
                    self._lasting.add(label)

    def look_up(self, nbests: Sequence[NBestList]) -> LookedUp:
        """What is known of the lists."""
        rows = sum(map(len, nbests))
        values = np.zeros((rows, self._width))
        keys_by: dict[KeysOf, Keys] = {}
        keys: dict[str, Keys] = {}
        wanted = {}
        for label, columns in self._columns.items():
            known = np.zeros(rows, bool)
            if label in self._stores:
                of = self._keys[label]
                keys[label] = keys_by[of] if of in keys_by else keys_by.setdefault(of, of(nbests))
                values[:, columns], known = self._stores[label].load(keys[label])
                if label in self._lasting and self._cache is not None and known.any():
                    self._cache.taken[label] += int(known.sum())
            if not known.all():
                wanted[label] = ~known
        return LookedUp(nbests, values, Task(nbests, wanted), keys)

    def add(self, looked_up: LookedUp, extracted: Extracted) -> FloatArray:
        """(rows, columns) all values of the lists; the extracted ones are kept."""
        for label, values in extracted.values.items():
            rows = looked_up.task.wanted[label]
            looked_up.values[rows, self._columns[label]] = values
            if label in self._stores:
                self._stores[label].add(looked_up.keys[label][rows], values)
        return looked_up.values

    def close(self) -> None:
        """Write what has not been written, and keep the cache within its limit."""
        for store in self._stores.values():
            store.close()
        if self._lasting and self._cache is not None:
            self._cache.shrink()
