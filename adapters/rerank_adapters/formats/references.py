"""Reference translations or transcripts: one file per reference, one line per segment, ids are line numbers from 0."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rerank_adapters.formats.compressed import display_name, open_text
from rerank_adapters.formats.merging import is_number
from rerank_plugins.errors import FormatError


def read_lines(path: str | Path) -> list[str]:
    r"""The lines of a file without their ends ("\n" or "\r\n"). Raises FormatError for an empty file."""
    with open_text(path) as lines:
        texts = [line.removesuffix("\n").removesuffix("\r") for line in lines]
    if not texts:
        raise FormatError("the file is empty, expected one line per segment", path=display_name(path))
    return texts


def line_of(segment_id: str, lines: int, name: str) -> int:
    """The line (from 0) that an id stands for. Raises FormatError naming id, file and its number of lines."""
    if not is_number(segment_id):
        raise FormatError(f"segment id {segment_id!r} is no number: it names no line of this file", path=name)
    if int(segment_id) >= lines:
        found = f"no line for segment id {segment_id}: the file has {lines} lines, for the ids 0 to {lines - 1}"
        raise FormatError(found, path=name)
    return int(segment_id)


@dataclass(frozen=True)
class References:
    """`lines[i]` are the references of the segment with id i, one per file of `names`."""

    lines: tuple[tuple[str, ...], ...]
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.lines)

    def for_segments(self, ids: Iterable[str]) -> list[tuple[str, ...]]:
        """The references of each id. Raises FormatError for an id that has none."""
        return [self.lines[line_of(id_, len(self.lines), self.names[0])] for id_ in ids]


def read_references(paths: Sequence[str | Path]) -> References:
    """One reference per file, any number of files.

    Raises FormatError for files with different numbers of lines, naming both, and for no file at all.
    """
    if not paths:
        raise FormatError("no reference file given, expected at least one")
    columns = [read_lines(path) for path in paths]
    names = tuple(display_name(path) for path in paths)
    for name, column in zip(names, columns, strict=True):
        if len(column) != len(columns[0]):
            found = f"{len(column)} lines, but {names[0]} has {len(columns[0])}: expected as many"
            raise FormatError(found, path=name)
    return References(tuple(zip(*columns, strict=True)), names)
