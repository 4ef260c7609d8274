"""Several lists of the same segment become one: tuning rounds, systems, files out of order.

A hypothesis with the same text and the same features as one before it is kept once, at its first place; a list that
comes once is left as it is. In memory any
order of lists will do; `merge_sorted` merges files that are each in order of their ids while holding one segment at a
time (a k-way merge: O(log k) comparisons a list).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from rerank_adapters.formats.feature_field import names_differ
from rerank_plugins.errors import FormatError
from rerank_plugins.nbest import Hypothesis, NBestList


def check_same_features(nbests: Sequence[NBestList]) -> tuple[str, ...]:
    """The dense feature names of all the lists, in their common order.

    Raises FormatError naming the segment and what it lacks or has beyond the first list. An order that differs is an
    error too: `same_order` gives lists the order of another first.
    """
    names = nbests[0].feature_names if nbests else ()
    for nbest in nbests:
        if nbest.feature_names != names:
            raise _features_error(nbest, names, nbests[0].segment_id)
    return names


def _features_error(nbest: NBestList, names: Sequence[str], first: str) -> FormatError:
    difference = names_differ(names, nbest.feature_names) or "has them in another order"
    return FormatError(f"the features of segment {nbest.segment_id} differ from those of segment {first}: {difference}")


def same_order(nbest: NBestList, names: tuple[str, ...], first: str, path: str = "") -> NBestList:
    """The list with its dense features in the order of `names` (those of segment `first`).

    Raises FormatError (with `path` and the list's line) where the names are not the same.
    """
    if nbest.feature_names == names:
        return nbest
    if sorted(nbest.feature_names) != sorted(names):
        raise FormatError(_features_error(nbest, names, first).message, path=path, line=nbest.line or None)
    columns = [nbest.feature_names.index(name) for name in names]
    hypotheses = tuple(h._replace(features=tuple(h.features[c] for c in columns)) for h in nbest)
    return replace(nbest, hypotheses=hypotheses, feature_names=names)


def merged(nbests: Sequence[NBestList]) -> NBestList:
    """One list of all hypotheses of lists with the same id; the same text with the same features is kept once.

    A list that is alone stays as it is, whatever it repeats. The lists have the same features (`check_same_features`).
    Source and context are those of the first list that has them.
    """
    first = nbests[0]
    if len(nbests) == 1:
        return first
    kept: dict[object, Hypothesis] = {}
    for hypothesis in (h for nbest in nbests for h in nbest):
        sparse = frozenset(hypothesis.sparse.items()) if hypothesis.sparse else None
        kept.setdefault((hypothesis.text, hypothesis.features, sparse), hypothesis)
    source = next((nbest.source for nbest in nbests if nbest.source is not None), None)
    context = next((nbest.context for nbest in nbests if nbest.context is not None), None)
    return replace(first, hypotheses=tuple(kept.values()), source=source, context=context)


def _separated(nbests: Iterable[NBestList]) -> Iterator[NBestList]:
    """The lists, so that each ends its line where another follows: the last line of a file may lack its end."""
    before: NBestList | None = None
    for nbest in nbests:
        if before is not None:
            yield _closed(before)
        before = nbest
    if before is not None:
        yield before


def _closed(nbest: NBestList) -> NBestList:
    if all(h.raw.endswith("\n") or not h.raw for h in nbest):
        return nbest
    end = "\r\n" if any(h.raw.endswith("\r\n") for h in nbest) else "\n"
    closed = tuple(h._replace(raw=h.raw + end) if h.raw and h.raw[-1] != "\n" else h for h in nbest)
    return replace(nbest, hypotheses=closed)


def merge_all(nbests: Iterable[NBestList]) -> list[NBestList]:
    """One list per segment id, in memory: ascending ids where all are numbers, else by first appearance."""
    by_id: dict[str, list[NBestList]] = {}
    for nbest in nbests:
        by_id.setdefault(nbest.segment_id, []).append(nbest)
    ids: Iterable[str] = by_id
    if all(map(is_number, by_id)):
        ids = sorted(by_id, key=int)
    return list(_separated(merged(by_id[id_]) for id_ in ids))


def merge_sorted(streams: Sequence[Iterable[NBestList]], names: Sequence[str] = ()) -> Iterator[NBestList]:
    """One list per segment id, from streams whose ids are numbers that never descend, one segment in memory at a time.

    `names` are the streams' files, for messages. Raises FormatError for an id that is no number or comes too late,
    and for lists whose features differ.
    """
    yield from _separated(_merged_groups(streams, names))


def _merged_groups(streams: Sequence[Iterable[NBestList]], names: Sequence[str]) -> Iterator[NBestList]:
    titles = [*names, *(f"stream {i + 1}" for i in range(len(names), len(streams)))]
    keyed = [_ascending(stream, title) for stream, title in zip(streams, titles, strict=True)]
    wanted: NBestList | None = None
    for _, group in groupby(heapq.merge(*keyed, key=lambda pair: pair[0]), key=lambda pair: pair[0]):
        nbests = []
        for _, nbest in group:
            wanted = nbest if wanted is None else wanted
            nbests.append(same_order(nbest, wanted.feature_names, wanted.segment_id))
        yield merged(nbests)


def in_order(stream: Iterable[NBestList]) -> bool:
    """Whether `merge_sorted` can take such a stream: ids that are numbers and never descend."""
    before = -1
    for nbest in stream:
        if not is_number(nbest.segment_id) or int(nbest.segment_id) < before:
            return False
        before = int(nbest.segment_id)
    return True


def _ascending(stream: Iterable[NBestList], title: str) -> Iterator[tuple[int, NBestList]]:
    before = -1
    for nbest in stream:
        if not is_number(nbest.segment_id):
            raise FormatError(f"segment id {nbest.segment_id!r} is no number", path=title, line=nbest.line or None)
        number = int(nbest.segment_id)
        if number < before:
            found = f"segment {number} comes after segment {before}, expected ascending ids"
            raise FormatError(found, path=title, line=nbest.line or None)
        before = number
        yield number, nbest


def is_number(segment_id: str) -> bool:
    """Whether an id is a line number: ASCII digits alone."""
    return segment_id.isascii() and segment_id.isdigit()
