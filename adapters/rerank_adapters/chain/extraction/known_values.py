"""Looks up the values that earlier runs have extracted, and keeps those of this run for later ones.

The key of a hypothesis is a hash of all that a value depends on besides the feature. A feature of sentences
(SentenceFeature) depends on the text alone, so that a hypothesis has the same key in every list. Other features of
scope "text" may read the source as well, and those of scope "list" anything in the list. A feature `by_row` reads
nothing but the numbers of the hypotheses in their files.

Values are kept under the description of the feature and its text pipelines, with the code of its package and the
libraries that compute (core/fingerprint.py); where these are not all that the values may depend on, for one job only. A
class variable `cached` of the extractor decides otherwise: False keeps its values out of the cache; True declares that
its own source file, options and `resources` are all that they depend on.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from rerank_adapters.chain.extraction.plan import Extracted, Plan, Task
from rerank_adapters.chain.extraction.value_cache import KEY, Keys, StoredValues, ValueCache
from rerank_plugins import FeatureExtractor, FloatArray, NBestList, SentenceFeature, __version__
from rerank_plugins.core.fingerprint import Fingerprint

TEXT = "rerank_adapters.text"  # the package of the text pipelines
KeysOf = Callable[[NBestList], list[bytes]]


def of_lists(nbests: Sequence[NBestList], *, around: bool = True) -> str:
    """Hash of all that an extractor can see of the lists; without source and context unless `around`."""
    digest = hashlib.sha256()
    for nbest in nbests:
        beside = [nbest.source, nbest.context] if around else []
        head = [nbest.segment_id, *beside, nbest.feature_names, len(nbest)]
        sparse = [dict(values) for values in nbest.sparse] if any(nbest.sparse) else []
        text = json.dumps([head, nbest.texts, sparse], ensure_ascii=False, sort_keys=True)
        digest.update(text.encode("utf-8", "surrogatepass"))
        digest.update(np.column_stack([nbest.totals, nbest.values]).tobytes())
    return digest.hexdigest()


def fingerprint_of_values(plan: Plan, label: str) -> Fingerprint:
    """What the values of one feature of a plan depend on besides the hypotheses. Raises what `describe` raises."""
    extractor, description = plan.extractors[label], plan.description(label, file_names=False)
    values = {"values": description, "version": __version__}
    if extractor.cached is False:
        return Fingerprint(values, complete=False)
    own = Fingerprint.of(values, TEXT)
    described = "options" in description["extractor"]
    return replace(own, complete=extractor.cached or (own.complete and described))


@dataclass(frozen=True)
class LookedUp:
    """The known values of some lists (rows, columns), the task to extract the others, and all keys by label."""

    values: FloatArray
    task: Task
    keys: Mapping[str, Keys]


class _Feature(NamedTuple):
    """The columns of a feature, the function of its keys, and the cache with its values, if they are kept."""

    columns: slice
    keys_of: KeysOf
    kept: tuple[ValueCache, StoredValues] | None


class KnownValues:
    """Where the values of each feature of a plan are kept.

    They are kept in `cache` if their fingerprint is complete, otherwise in `work`, until the job is done; None stands
    for a cache that is not there.
    """

    def __init__(self, plan: Plan, cache: ValueCache | None, work: ValueCache | None) -> None:
        """Prepare the caches; nothing is read yet. Raises PluginError for an extractor that cannot be described."""
        self._features: dict[str, _Feature] = {}
        self._width = 0
        for label, extractor in plan.extractors.items():
            width, kept = len(extractor.components), None
            if cache is not None or work is not None:
                own = fingerprint_of_values(plan, label)
                owner = cache if cache is not None and own.complete else work
                kept = None if owner is None else (owner, owner.of(own.text, width))
            columns = slice(self._width, self._width + width)
            self._features[label] = _Feature(columns, keys_for(extractor), kept)
            self._width += width

    def look_up(self, nbests: Sequence[NBestList]) -> LookedUp:
        """What is known of the lists."""
        rows = sum(map(len, nbests))
        values = np.zeros((rows, self._width))
        keys_by: dict[KeysOf, Keys] = {}
        keys: dict[str, Keys] = {}
        wanted = {}
        for label, feature in self._features.items():
            known = np.zeros(rows, bool)
            if feature.kept is not None:
                if feature.keys_of not in keys_by:
                    keys_by[feature.keys_of] = np.array([key for n in nbests for key in feature.keys_of(n)], KEY)
                keys[label] = keys_by[feature.keys_of]
                cache, stored = feature.kept
                values[:, feature.columns], known = stored.load(keys[label])
                if known.any():
                    cache.taken[label] += int(known.sum())
            if not known.all():
                wanted[label] = ~known
        return LookedUp(values, Task(nbests, wanted), keys)

    def add(self, looked_up: LookedUp, extracted: Extracted) -> FloatArray:
        """(rows, columns) all values of the lists; the extracted ones are kept."""
        for label, values in extracted.values.items():
            rows, feature = looked_up.task.wanted[label], self._features[label]
            looked_up.values[rows, feature.columns] = values
            if feature.kept is not None:
                feature.kept[1].add(looked_up.keys[label][rows], values)
        return looked_up.values

    def close(self) -> None:
        """Write what has not been written."""
        for feature in self._features.values():
            if feature.kept is not None:
                feature.kept[1].close()


def keys_for(extractor: FeatureExtractor) -> KeysOf:
    """The function that gives each hypothesis of a list its key, by what this extractor can read."""
    if extractor.by_row:
        return of_rows
    if extractor.scope == "list":
        return of_whole_list
    kind = type(extractor)
    inherited = kind.extract is SentenceFeature.extract and kind.extract_all is SentenceFeature.extract_all
    return of_texts if inherited else of_texts_and_source


def of_texts(nbest: NBestList) -> list[bytes]:
    """Keys by the text of a hypothesis."""
    return [_hash(text) for text in nbest.texts]


def of_texts_and_source(nbest: NBestList) -> list[bytes]:
    """Keys by the source, the id and the context of the list, and the text of a hypothesis."""
    around = _hash(repr((nbest.source, nbest.segment_id, nbest.context)))
    return [_hash(text, around) for text in nbest.texts]


def of_whole_list(nbest: NBestList) -> list[bytes]:
    """Keys by everything in the list and the number of the hypothesis in it."""
    whole = bytes.fromhex(of_lists([nbest]))
    return [_hash(str(number), whole) for number in range(len(nbest))]


def of_rows(nbest: NBestList) -> list[bytes]:
    """Keys by the number of a hypothesis in its files; those of a list without numbers are of the whole list."""
    return [_hash(f"row {row}") for row in nbest.rows] if len(nbest.rows) else of_whole_list(nbest)


def _hash(text: str, around: bytes = b"") -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=KEY.itemsize, key=around).digest()
