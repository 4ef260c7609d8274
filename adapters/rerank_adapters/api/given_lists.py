"""The n-best lists that a caller gives, checked and numbered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import isfinite
from pathlib import Path

import numpy as np

from rerank_adapters.formats.frames import is_frame
from rerank_plugins import ConfigError, FormatError, NBestList
from rerank_plugins.core.columns import one_line
from rerank_plugins.core.nbest import PackedHypotheses
from rerank_plugins.core.sentences import check_lists


def numbered(nbests: Iterable[NBestList]) -> Iterator[NBestList]:
    """The lists, of which those without an id get the number of their place.

    Raises TypeError for other things, FormatError for an empty list and for a number that is not finite.
    """
    for place, nbest in enumerate(nbests):
        if not isinstance(nbest, NBestList):
            raise TypeError(f"wanted n-best lists, found {nbest!r:.60}: NBestList.from_texts and read_nbest make them")
        if not len(nbest):
            raise FormatError(f"segment {nbest.segment_id or place} has no hypotheses to choose from")
        _check_finite(nbest, nbest.segment_id or str(place))
        yield nbest if nbest.segment_id else replace(nbest, segment_id=str(place))


def checked_lists(nbests: Iterable[NBestList]) -> list[NBestList]:
    """The lists, numbered. Raises TypeError for a single list or text, ConfigError for no lists and an id of two."""
    if isinstance(nbests, str | Path):
        raise TypeError(f"wanted a sequence of n-best lists, found {nbests!r:.60}: read_nbest reads files")
    if not isinstance(nbests, Iterable) and not is_frame(nbests):
        raise TypeError(f"wanted a sequence of n-best lists, found {one_line(nbests)}")
    check_lists(nbests)
    if is_frame(nbests):
        raise TypeError("wanted n-best lists, found a data frame: read_nbest(frame) makes lists of it")
    lists = list(numbered(nbests))
    if not lists:
        raise ConfigError("wanted at least one n-best list, found none")
    seen: set[str] = set()
    for nbest in lists:
        if nbest.segment_id in seen:
            raise ConfigError(f"two lists are those of segment {nbest.segment_id}: give each an id of its own")
        seen.add(nbest.segment_id)
    return lists


def _check_finite(nbest: NBestList, segment: str) -> None:
    """Raise FormatError for a feature or a total that is not finite, as readers of files do."""
    values = nbest.values
    if (wrong := ~np.isfinite(values)).any():
        row, column = np.argwhere(wrong)[0]
        where = f"segment {segment}, hypothesis {row}: {nbest.feature_names[column]}"
        raise FormatError(f"{where} is {values[row, column]:g}, wanted a finite number")
    if isinstance(nbest.hypotheses, PackedHypotheses) and not np.isinf(nbest.totals).any():
        return  # its hypotheses, which have no score where the total is nan, stay packed
    totals = (hypothesis.score for hypothesis in nbest)
    if wild := [(row, score) for row, score in enumerate(totals) if score is not None and not isfinite(score)]:
        row, score = wild[0]
        where = f"segment {segment}, hypothesis {row}: the score"
        raise FormatError(f"{where} is {score:g}, wanted a finite number, or None in each hypothesis")
