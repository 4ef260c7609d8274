"""Reads n-best files, as a stream in bounded memory or all at once; then the lists of a segment are merged."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from rerank_adapters.formats.catalogue import FORMATS
from rerank_adapters.formats.columnar import kind_of, open_lines
from rerank_adapters.formats.decoder_features import ConstantFeatures, as_first
from rerank_adapters.formats.items import Item, Reader, items_of, lists_of
from rerank_adapters.formats.merging import in_order, merge_all, merge_sorted
from rerank_adapters.formats.recognition import format_of
from rerank_plugins import FormatError, NBestFormat, NBestList
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
