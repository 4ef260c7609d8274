"""Reads n-best files, as a stream in bounded memory or all at once, and merges the lists of each segment.

Several lists of a segment are those of tuning rounds, of systems, or of files out of order. Of hypotheses with the same
text and the same features only the first is kept; a segment's only list is left as it is. Lists in memory may be in any
order. `merge_sorted` merges files that are each in the order of their ids, while it holds one segment at a time (a
k-way merge, with O(log k) comparisons per list).
"""

from __future__ import annotations

import heapq
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from rerank_adapters.formats.catalogue import FORMATS
from rerank_adapters.formats.columnar import kind_of, open_lines
from rerank_adapters.formats.decoder_features import ConstantFeatures, as_first, without_scores
from rerank_adapters.formats.items import Item, Reader, items_of, lists_of
from rerank_adapters.formats.recognition import format_of
from rerank_adapters.formats.segment_ids import is_number, order_of_ids
from rerank_plugins import FormatError, Hypothesis, NBestFormat, NBestList
from rerank_plugins.core.contracts import checked_lists
from rerank_plugins.kit.files.text import STANDARD, display_name

logger = logging.getLogger(__name__)
Sentence = Callable[[str], str]  # the source sentence of the segment with an id


def stream_file(path: str | Path, format: NBestFormat, *, repeated: bool = False) -> Iterator[NBestList]:
    """Yield the lists of one file, or of a folder where the format has folders.

    Lists that a plugin's format yields are checked as those of all formats. Raises FormatError as `lists_of` does, for
    a violation of the format, and for a Parquet or Arrow file where the format reads no JSON.
    """
    name = display_name(path)
    if str(path) != STANDARD and Path(path).is_dir():
        yield from lists_of(_folder_items(format, name), name, repeated=repeated)
        return
    if not format.reads_json and (kind := kind_of(path)):
        wanted = "the format rows reads it: its options id, text and score name columns"
        raise FormatError(f"is a file of {kind}, which this format does not read; {wanted}", path=name)
    with open_lines(path) as lines:
        yield from lists_of_lines(lines, name, format, repeated=repeated)


def lists_of_lines(
    lines: Iterable[str], path: str, format: NBestFormat, *, repeated: bool = False
) -> Iterator[NBestList]:
    """Yield the lists of the lines of a file. Raises FormatError as `stream_file` does."""
    if isinstance(format, Reader):
        items = format.items(lines, path)
    else:
        items = items_of(checked_lists(format, lambda: format.read(lines, path)))
    return lists_of(items, path, repeated=repeated)


def _folder_items(format: NBestFormat, folder: str) -> Iterator[Item]:
    if isinstance(format, Reader):
        return format.folder_items(folder)
    return items_of(checked_lists(format, lambda: format.read_folder(folder)))


def stream_nbest(
    paths: Sequence[str | Path],
    format: NBestFormat,
    source: Sentence | None = None,
    *,
    repeated: bool = False,
) -> Iterator[NBestList]:
    """Yield the lists of the files one after the other; only one is held in memory.

    All lists get their dense features in the order of the first one. With `source`, each list gets its
    sentence. The hypotheses are numbered in the order of the files (`NBestList.rows`).
    Raises FormatError, with path and line, also for lists whose features differ, for lists of which only some have
    totals, for an id without a source sentence and, unless `repeated`, for a segment that comes again in the same file.
    Features that tell no hypotheses apart are logged.
    """
    first: NBestList | None = None
    constant = ConstantFeatures()
    row, names = 0, list[str]()
    for path in paths:
        names.append(display_name(path))
        for nbest in stream_file(path, format, repeated=repeated):
            first = nbest if first is None else first
            ordered = as_first(nbest, first, display_name(path))
            constant.add(ordered)
            rows, row = range(row, row + len(nbest)), row + len(nbest)
            if source is None:
                yield replace(ordered, rows=rows)
            else:
                yield replace(ordered, source=source(nbest.segment_id), rows=rows)
    if constant.names:
        which = ", ".join(map(repr, constant.names))
        files_read = names[0] if len(names) == 1 else f"{names[0]} and others"
        told = "has one value in each list, and tells no hypotheses apart"
        logger.warning("rerank: warning: %s: each of these features %s: %s", files_read, told, which)


def read_nbest(
    paths: Sequence[str | Path],
    format: NBestFormat | None = None,
    source: Sentence | None = None,
    *,
    repeated: bool = False,
    samples: bool = False,
    lines: bool = True,
) -> list[NBestList]:
    """Read all lists, one per segment id, in the order of ids. Lists of a segment in several files are merged.

    Without a format it is the one that the first file shows. Of `samples`, equal ones all count. The lists are
    packed (`NBestList.packed`); without `lines` they can be read and scored, but not written again as they were.
    How many segments have lists in several files is logged. Raises FormatError as `stream_nbest` does and, unless
    `repeated`, for a segment that comes again in the same file: two decodings that each count from 0 look like
    that.
    """
    format = format or FORMATS[format_of(paths[0])]()
    read = stream_nbest(paths, format, source, repeated=repeated)
    lists = [nbest.packed(lines=lines) for nbest in read]
    together = [nbest.packed(lines=lines) for nbest in merge_all(lists, samples=samples)]
    if len(paths) > 1 and len(together) < len(lists):
        several = sum(times > 1 for times in Counter(nbest.segment_id for nbest in lists).values())
        names = f"{display_name(paths[0])}, {display_name(paths[1])}" + (" …" if len(paths) > 2 else "")
        told = f"{several} of {len(together)} segments have several lists, which become one, as those of one decoder"
        logger.info("rerank: %s: %s; `rerank lists merge NAME=FILE NAME=FILE` combines several decoders", names, told)
    return together


def merge_files(paths: Sequence[str | Path], format: NBestFormat) -> Iterator[NBestList]:
    """Yield the lists that `read_nbest` returns, in bounded memory where every file is in the order of its ids.

    The files are read twice, the first time to check their order. Where one of them is stdin, all lists are read into
    memory.
    """
    names = [display_name(path) for path in paths]
    if STANDARD not in map(str, paths) and all(in_order(stream_file(path, format, repeated=True)) for path in paths):
        return merge_sorted([stream_file(path, format, repeated=True) for path in paths], names)
    return iter(read_nbest(paths, format, repeated=True))


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
