"""Extraction of features from n-best lists, into a table or as a stream.

Extractors of scope "text" see each distinct text of a list once. Tables are the same byte for byte, whatever the number
of processes and the chunks, and whether or not the extraction was interrupted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from rerank_adapters.extraction.chunk import chunks
from rerank_adapters.extraction.fingerprint import of_lists
from rerank_adapters.extraction.plan import Plan
from rerank_adapters.extraction.pool import extract_in_order
from rerank_adapters.extraction.work import WorkFolder
from rerank_adapters.text import TextPipeline
from rerank_plugins import (
    ConfigError,
    FeatureExtractor,
    FeatureTable,
    FloatArray,
    NBestList,
    SparseBlock,
    __version__,
)
from rerank_plugins.identity import plain_hash

Report = Callable[[int, Mapping[str, float]], None]  # (hypotheses done since the last call, CPU seconds by label)


def extract_features(
    nbests: Sequence[NBestList],
    extractors: Mapping[str, FeatureExtractor],
    *,
    texts: Mapping[str, TextPipeline] | None = None,
    sources: Mapping[str, TextPipeline] | None = None,
    decoder: FeatureTable | None = None,
    jobs: int = 2,
    progress: Report = lambda rows, seconds: None,
    work: Path | None = None,
) -> FeatureTable:
    """The decoder's table with a column per component of each extractor, named `label` or `label.component`.

    `texts` and `sources` hold, by label, the pipelines that hypotheses and sources go through before an extractor sees
    them. `decoder` is the table of the decoder's features of these lists; without it there are only new columns. With
    `work`, finished chunks are kept in that folder and used again; clear it when the table has been saved
    (`WorkFolder(work).clear()`).
    Raises ConfigError for names that collide, PluginError for an extractor that breaks its contract.
    """
    plan = Plan(extractors, texts or {}, sources or {})
    offsets = np.cumsum([0, *map(len, nbests)], dtype=np.int64)
    ids = tuple(nbest.segment_id for nbest in nbests)
    if decoder is None:
        rows = int(offsets[-1])
        decoder = FeatureTable((), np.empty((rows, 0)), offsets, ids, SparseBlock.empty(rows))
    if decoder.segment_ids != ids or not np.array_equal(decoder.offsets, offsets):
        raise ConfigError("the decoder's table is not that of these n-best lists: their segments or sizes differ")
    plan.check(decoder.all_names)
    described = plan.describe()
    folder = WorkFolder(work, plain_hash([__version__, described])) if work else None
    parts: list[FloatArray] = []
    for _, part in extract_in_order(plan, chunks(nbests), jobs=jobs, rows=int(offsets[-1]), work=folder):
        parts.append(part.values)
        progress(len(part.values), part.seconds)
    values = np.hstack([decoder.values, np.concatenate([np.empty((0, len(plan.names))), *parts])])
    provenance = {
        **decoder.provenance,
        "version": __version__,
        "lists": of_lists(nbests, around=False),
        "features": described,
    }
    return FeatureTable(decoder.names + plan.names, values, offsets, ids, decoder.sparse, provenance)


def stream_features(
    nbests: Iterable[NBestList],
    extractors: Mapping[str, FeatureExtractor],
    *,
    texts: Mapping[str, TextPipeline] | None = None,
    sources: Mapping[str, TextPipeline] | None = None,
    jobs: int = 2,
    progress: Report = lambda rows, seconds: None,
) -> Iterator[tuple[NBestList, FloatArray]]:
    """Yield each list with its values (hypotheses, columns of `feature_names`); some thousand hypotheses are held."""
    plan = Plan(extractors, texts or {}, sources or {})
    plan.check()
    for group, part in extract_in_order(plan, chunks(nbests), jobs=jobs):
        progress(len(part.values), part.seconds)
        cuts = np.cumsum([len(nbest) for nbest in group])[:-1]
        yield from zip(group, np.split(part.values, cuts), strict=True)
