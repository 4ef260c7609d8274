"""Reads groups of segments, such as speakers: an id and its group on each line, as in Kaldi's `utt2spk`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rerank_plugins.core.errors import FormatError
from rerank_plugins.kit.files.text import display_name, open_text


def read_groups(path: str | Path, ids: Iterable[str]) -> list[str]:
    """The group of each segment.

    Raises FormatError, with the line, for a line that has not two columns and for an id that has a group already, and
    for a segment without a group.
    """
    groups: dict[str, str] = {}
    name = display_name(path)
    with open_text(path) as lines:
        for number, line in enumerate(lines, 1):
            columns = line.split()
            if not columns:
                continue
            if len(columns) != 2:
                raise FormatError(f"found {len(columns)} columns, expected an id and its group", path=name, line=number)
            if columns[0] in groups:
                raise FormatError(f"the id {columns[0]!r} has a group already", path=name, line=number)
            groups[columns[0]] = columns[1]
    wanted = list(ids)
    missing = next((id_ for id_ in wanted if id_ not in groups), None)
    if missing is not None:
        raise FormatError(f"no group for segment id {missing!r} among the {len(groups)} ids of the file", path=name)
    return [groups[id_] for id_ in wanted]
