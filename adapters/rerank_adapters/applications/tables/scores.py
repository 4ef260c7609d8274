"""Makes a feature table of scores computed elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rerank_adapters.chain.extraction import of_lists
from rerank_plugins import ConfigError, FeatureTable, NBestList, SparseBlock, __version__
from rerank_plugins.lists.column import ColumnFeature


def score_table(nbests: Sequence[NBestList], path: Path, names: Sequence[str]) -> FeatureTable:
    """A table of these lists with a column for each name, from the lines of the file at `path`.

    The columns count as the decoder's own: nothing extracts them anew. Raises ConfigError for equal or empty names, and
    FormatError as ColumnFeature does.
    """
    if len(set(names)) < len(names) or not all(name.strip() for name in names):
        raise ConfigError(f"each column needs a name of its own, found {', '.join(map(repr, names))}")
    feature = ColumnFeature(path, tuple(names))
    feature.check_lists(nbests)
    offsets = np.cumsum([0, *map(len, nbests)], dtype=np.int64)
    values = np.concatenate([np.empty((0, len(names))), *map(feature.extract, nbests)])
    ids = tuple(nbest.segment_id for nbest in nbests)
    record = {"version": __version__, "lists": of_lists(nbests, around=False)}
    return FeatureTable(tuple(names), values, offsets, ids, SparseBlock.empty(len(values)), record)
