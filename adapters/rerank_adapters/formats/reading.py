"""N-best files to n-best lists: streaming in bounded memory, or whole with the lists of a segment merged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from rerank_adapters.formats.compressed import STANDARD, display_name, open_text
from rerank_adapters.formats.merging import check_same_features, in_order, merge_all, merge_sorted, same_order
from rerank_adapters.formats.references import line_of, read_lines
from rerank_plugins.errors import FormatError
from rerank_plugins.interfaces import NBestFormat
from rerank_plugins.nbest import NBestList

__all__ = ["check_same_features", "merge_files", "read_nbest", "stream_file", "stream_nbest"]


def stream_file(path: str | Path, format: NBestFormat) -> Iterator[NBestList]:
    """The lists of one file as they stand. Raises FormatError for an empty file and whatever the format objects to."""
    nbest = None
    with open_text(path) as lines:
        for nbest in format.read(lines, display_name(path)):
            yield nbest
    if nbest is None:
        raise FormatError("the file holds no n-best list", path=display_name(path))


def stream_nbest(
    paths: Sequence[str | Path], format: NBestFormat, source: str | Path | None = None
) -> Iterator[NBestList]:
    """The lists of the files, one after the other as they stand; no more than one is held in memory.

    All have their dense features in the order of the first list. With `source`, a file with one sentence per line,
    each list gets the sentence on the line that its id says (from 0). Raises FormatError, with path and line, also
    for lists whose features differ and for an id without source sentence.
    """
    sentences = read_lines(source) if source is not None else None
    first: NBestList | None = None
    for path in paths:
        for nbest in stream_file(path, format):
            first = nbest if first is None else first
            ordered = same_order(nbest, first.feature_names, first.segment_id, display_name(path))
            if sentences is None:
                yield ordered
            else:
                at = line_of(nbest.segment_id, len(sentences), display_name(source or ""))
                yield replace(ordered, source=sentences[at])


def read_nbest(paths: Sequence[str | Path], format: NBestFormat, source: str | Path | None = None) -> list[NBestList]:
    """All lists in memory, one per segment id: lists of the same segment, wherever they stand, are merged.

    Ids ascend where all are numbers; otherwise segments come in order of their first appearance.
    Raises FormatError as `stream_nbest` does.
    """
    return merge_all(stream_nbest(paths, format, source))


def merge_files(paths: Sequence[str | Path], format: NBestFormat) -> Iterator[NBestList]:
    """What `read_nbest` gives, list by list: in bounded memory where every file is in order of its ids.

    Files are read twice, the first time to see their order; with stdin among them all is read into memory.
    """
    names = [display_name(path) for path in paths]
    if STANDARD not in map(str, paths) and all(in_order(stream_file(path, format)) for path in paths):
        return merge_sorted([stream_file(path, format) for path in paths], names)
    return iter(read_nbest(paths, format))
