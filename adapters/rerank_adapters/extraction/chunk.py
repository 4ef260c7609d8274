"""Extraction of a chunk of lists by all extractors of a plan: the unit of parallel and resumable work.

The arrays that extractors return are checked: their shape, their type, and that all values are finite. No value depends
on which lists share a chunk.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from rerank_adapters.extraction.plan import Plan
from rerank_adapters.text import TextPipeline
from rerank_plugins import FeatureExtractor, FloatArray, NBestList, PluginError, RerankError
from rerank_plugins.arrays import LongArray

FIRST, LARGEST = 64, 512  # hypotheses in the first chunk, and in those from the fourth on


@dataclass(frozen=True)
class Extracted:
    """The values (rows, columns) of a chunk, and the CPU seconds that each extractor took, by label."""

    values: FloatArray
    seconds: dict[str, float] = field(default_factory=dict)


def chunks(nbests: Iterable[NBestList]) -> Iterator[list[NBestList]]:
    """Lists in groups of at least 64, 128, 256, then 512 hypotheses; the first, small ones are timed soon."""
    size, group, rows = FIRST, list[NBestList](), 0
    for nbest in nbests:
        group.append(nbest)
        rows += len(nbest)
        if rows >= size:
            yield group
            size, group, rows = min(2 * size, LARGEST), [], 0
    if group:
        yield group


def extract_chunk(plan: Plan, nbests: Sequence[NBestList]) -> Extracted:
    """Extract all columns of some lists. Raises PluginError for an extractor that breaks its contract."""
    rows = sum(map(len, nbests))
    columns: list[FloatArray] = [np.empty((rows, 0))]
    seconds: dict[str, float] = {}
    through = cache(lambda text, source: _through(nbests, text, source))
    for label, extractor in plan.extractors.items():
        started = time.process_time()
        lists, distinct, back = through(*plan.pipelines(label))
        if extractor.scope == "text":
            values = np.concatenate(_checked(label, extractor, distinct, lists))[back]
        else:
            values = np.concatenate(_checked(label, extractor, lists, lists))
        columns.append(values)
        seconds[label] = time.process_time() - started
    return Extracted(np.hstack(columns), seconds)


def _through(
    nbests: Sequence[NBestList], text: TextPipeline, source: TextPipeline
) -> tuple[list[NBestList], list[NBestList], LongArray]:
    """The lists as an extractor reads them, the same lists without repeated texts, and the row in these of each row."""
    processed = list(nbests)
    if text.steps or source.steps:
        texts = iter(text.apply([t for nbest in nbests for t in nbest.texts]))
        sources = source.apply([nbest.source or "" for nbest in nbests])
        processed = [
            nbest.with_texts([next(texts) for _ in nbest], None if nbest.source is None else new)
            for nbest, new in zip(nbests, sources, strict=True)
        ]
    distinct, back, base = [], [], 0
    for nbest in processed:
        first: dict[str, int] = {}
        back += [base + first.setdefault(t, len(first)) for t in nbest.texts]
        base += len(first)
        rows = dict(zip(reversed(nbest.texts), reversed(range(len(nbest))), strict=True))
        distinct.append(nbest if len(first) == len(nbest) else nbest.select([rows[t] for t in first]))
    return processed, distinct, np.array(back, np.int64)


def _checked(
    label: str, extractor: FeatureExtractor, nbests: Sequence[NBestList], whole: Sequence[NBestList]
) -> list[FloatArray]:
    """The extractor's values of `nbests`, which are `whole` without repeated texts; errors name rows of `whole`."""
    kind = type(extractor)
    who = f"feature {label!r} ({kind.__module__}.{kind.__qualname__})"
    try:
        arrays = extractor.extract_all(nbests)
    except RerankError:
        raise
    except Exception as error:  # the code of a plugin: say whose it is, and where it failed
        where = f"segments {nbests[0].segment_id} to {nbests[-1].segment_id}"
        raise PluginError(f"{who}, {where}: {type(error).__name__}: {error}") from error
    if len(arrays) != len(nbests):
        raise PluginError(f"{who}: extract_all returned {len(arrays)} arrays for {len(nbests)} lists")
    for nbest, original, values in zip(nbests, whole, arrays, strict=True):
        where, wanted = f"{who}, segment {nbest.segment_id}", (len(nbest), len(extractor.components))
        if not isinstance(values, np.ndarray) or values.dtype != np.float64:
            dtype = values.dtype if isinstance(values, np.ndarray) else type(values).__name__
            raise PluginError(f"{where}: found {dtype}, wanted a numpy array of float64")
        if values.shape != wanted:
            raise PluginError(f"{where}: shape {values.shape}, wanted {wanted} (hypotheses, components)")
        if not np.isfinite(values).all():
            at, column = map(int, np.argwhere(~np.isfinite(values))[0])
            value, text = values[at, column], nbest[at].text
            row = at if nbest is original else original.texts.index(text)
            name = f"component {extractor.components[column]!r} " if extractor.components[column] else ""
            raise PluginError(f"{where}, row {row}: {name}is {value}, wanted a finite number (text: {text[:60]!r})")
    return arrays
