"""Reads n-best files: as a stream in bounded memory, or all at once with the lists of each segment merged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from rerank_adapters.formats.merging import in_order, merge_all, merge_sorted, same_order
from rerank_adapters.formats.references import line_of, read_lines
from rerank_plugins import FormatError, NBestFormat, NBestList, open_text
from rerank_plugins.kit.files.text import STANDARD, display_name


def stream_file(path: str | Path, format: NBestFormat) -> Iterator[NBestList]:
    """Yield the lists of one file, or of a folder where the format has folders, unchanged.

    Raises FormatError for a file without lists and for what violates the format.
    """
    nbest = None
    if str(path) != STANDARD and Path(path).is_dir():
        for nbest in format.read_folder(str(path)):
            yield nbest
    else:
        with open_text(path) as lines:
            for nbest in format.read(lines, display_name(path)):
                yield nbest
    if nbest is None:
        raise FormatError("the file holds no n-best list", path=display_name(path))


def stream_nbest(
    paths: Sequence[str | Path], format: NBestFormat, source: str | Path | None = None
) -> Iterator[NBestList]:
    """Yield the lists of the files one after the other; only one is held in memory.

    All lists get their dense features in the order of the first one. With `source`, a file with one sentence per line,
    each list gets the sentence on the line whose number, from 0, is the list's id. The hypotheses are numbered in the
    order of the files (`NBestList.rows`). Raises FormatError, with path and line, also for lists whose features differ
    and for an id without a source sentence.
    """
    sentences = read_lines(source) if source is not None else None
    first: NBestList | None = None
    row = 0
    for path in paths:
        for nbest in stream_file(path, format):
            first = nbest if first is None else first
            ordered = same_order(nbest, first.feature_names, first.segment_id, display_name(path))
            rows, row = range(row, row + len(nbest)), row + len(nbest)
            if sentences is None:
                yield replace(ordered, rows=rows)
            else:
                at = line_of(nbest.segment_id, len(sentences), display_name(source or ""))
                yield replace(ordered, source=sentences[at], rows=rows)


def read_nbest(paths: Sequence[str | Path], format: NBestFormat, source: str | Path | None = None) -> list[NBestList]:
    """Read all lists, one per segment id: lists of the same segment are merged, wherever they stand in the files.

    The ids ascend where all of them are numbers; otherwise the segments are in the order of their first appearance.
    Raises FormatError as `stream_nbest` does.
    """
    return merge_all(stream_nbest(paths, format, source))


def merge_files(paths: Sequence[str | Path], format: NBestFormat) -> Iterator[NBestList]:
    """Yield the lists that `read_nbest` returns, in bounded memory where every file is in the order of its ids.

    The files are read twice, the first time to check their order. Where one of them is stdin, all lists are read into
    memory.
    """
    names = [display_name(path) for path in paths]
    if STANDARD not in map(str, paths) and all(in_order(stream_file(path, format)) for path in paths):
        return merge_sorted([stream_file(path, format) for path in paths], names)
    return iter(read_nbest(paths, format))
