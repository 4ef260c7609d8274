"""Merges the lists of each segment: those of tuning rounds, of systems, or of files out of order.

Of hypotheses with the same text and the same features only the first is kept; a segment's only list is left as it is,
and samples all count. Lists in memory may be in any order. `merge_sorted` merges files that are each in the order of
their ids, while it holds one segment at a time (a k-way merge, with O(log k) comparisons per list).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter

from rerank_adapters.formats.decoder_features import as_first, without_scores
from rerank_adapters.formats.segment_ids import is_number, order_of_ids
from rerank_plugins import FormatError, Hypothesis, NBestList


def merged(nbests: Sequence[NBestList], *, samples: bool = False) -> NBestList:
    """One list of all hypotheses of lists with the same id; of equal texts with equal features the first is kept.

    All are kept of `samples`, and where there are neither features nor totals: then equal texts are samples that count.
    A single list stays as it is, even where it repeats hypotheses. The lists must have the same features
    (`check_same_features`). The source and the context are those of the first list that has them.
    """
    first = nbests[0]
    if len(nbests) == 1:
        return first
    kept: dict[object, Hypothesis] = {}
    rows: list[int] = []
    samples = samples or without_scores(nbests)
    for nbest in nbests:
        numbers = nbest.rows or [-1] * len(nbest)
        for hypothesis, row in zip(nbest, numbers, strict=True):
            sparse = frozenset(hypothesis.sparse.items()) if hypothesis.sparse else None
            before = len(kept)
            same = before if samples else (hypothesis.text, hypothesis.features, sparse)
            kept.setdefault(same, hypothesis)
            rows += [row] * (len(kept) - before)
    source = next((nbest.source for nbest in nbests if nbest.source is not None), None)
    context = next((nbest.context for nbest in nbests if nbest.context is not None), None)
    numbered = rows if all(nbest.rows for nbest in nbests) else ()
    return replace(first, hypotheses=tuple(kept.values()), source=source, context=context, rows=tuple(numbered))


def _separated(nbests: Iterable[NBestList]) -> Iterator[NBestList]:
    """The lists, with a line end added where another list follows: the last line of a file may lack its end."""
    before: NBestList | None = None
    for nbest in nbests:
        if before is not None:
            yield _closed(before)
        before = nbest
    if before is not None:
        yield before


def _closed(nbest: NBestList) -> NBestList:
    if all(line.endswith("\n") or not line for line in nbest.lines):
        return nbest
    end = "\r\n" if any(h.raw.endswith("\r\n") for h in nbest) else "\n"
    closed = tuple(h._replace(raw=h.raw + end) if h.raw and h.raw[-1] != "\n" else h for h in nbest)
    return replace(nbest, hypotheses=closed)


def merge_all(nbests: Iterable[NBestList], *, samples: bool = False) -> list[NBestList]:
    """One list per segment id: in ascending order where all ids are numbers, otherwise by first appearance.

    Hypotheses are kept as `merged` keeps them.
    """
    by_id: dict[str, list[NBestList]] = {}
    for nbest in nbests:
        by_id.setdefault(nbest.segment_id, []).append(nbest)
    return list(_separated(merged(by_id[id_], samples=samples) for id_ in order_of_ids(by_id)))


def merge_sorted(streams: Sequence[Iterable[NBestList]], names: Sequence[str] = ()) -> Iterator[NBestList]:
    """Yield one list per segment id from streams whose ids are numbers that never descend; one segment is in memory.

    `names` are the names of the streams' files, for error messages. Raises FormatError for an id that is not a number
    or is smaller than the one before it, and for lists whose features differ.
    """
    yield from _separated(_merged_groups(streams, names))


def _merged_groups(streams: Sequence[Iterable[NBestList]], names: Sequence[str]) -> Iterator[NBestList]:
    titles = [*names, *(f"stream {i + 1}" for i in range(len(names), len(streams)))]
    wanted: NBestList | None = None
    for group in by_number(streams, titles):
        nbests = []
        for title, nbest in group:
            wanted = nbest if wanted is None else wanted
            nbests.append(as_first(nbest, wanted, title))
        yield merged(nbests)


def by_number(
    streams: Sequence[Iterable[NBestList]], titles: Sequence[str]
) -> Iterator[Iterator[tuple[str, NBestList]]]:
    """Yield the lists of one segment after another, each with the title of its stream, in the order of the streams.

    Raises FormatError as `merge_sorted` does.
    """
    numbered = [_ascending(stream, title) for stream, title in zip(streams, titles, strict=True)]
    number = itemgetter(0)
    for _, group in groupby(heapq.merge(*numbered, key=number), key=number):
        yield ((title, nbest) for _, title, nbest in group)


def in_order(stream: Iterable[NBestList]) -> bool:
    """Whether `merge_sorted` can take the stream: its ids are numbers and never descend."""
    before = -1
    for nbest in stream:
        if not is_number(nbest.segment_id) or int(nbest.segment_id) < before:
            return False
        before = int(nbest.segment_id)
    return True


def _ascending(stream: Iterable[NBestList], title: str) -> Iterator[tuple[int, str, NBestList]]:
    before = -1
    for nbest in stream:
        if not is_number(nbest.segment_id):
            raise FormatError(f"segment id {nbest.segment_id!r} is not a number", path=title, line=nbest.line or None)
        number = int(nbest.segment_id)
        if number < before:
            message = f"segment {number} comes after segment {before}, expected ascending ids"
            raise FormatError(message, path=title, line=nbest.line or None)
        before = number
        yield number, title, nbest


def without_lines(nbest: NBestList) -> NBestList:
    """The list without the lines that it was read from, so that another format composes its own."""
    return replace(nbest, hypotheses=tuple(hypothesis._replace(raw="") for hypothesis in nbest))
