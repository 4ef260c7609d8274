"""Assigns files of scores to the lists whose hypotheses they score, and makes a feature `column` for each.

A feature names the files of all sets at once, with `{set}` in the place of a set's name: `{set}.comet` are `dev.comet`
and `test.comet`. Scores that one of the sets lacks can be no feature.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rerank_adapters.chain.first_config.assignment import Set
from rerank_adapters.chain.job import SET
from rerank_plugins import FormatError
from rerank_plugins.lists.column import read_columns

ENDINGS = {".txt", ".tsv", ".csv", ".scores", ".score", ".gz", ".xz", ".bz2", ".zst"}


@dataclass(frozen=True)
class Column:
    """A feature `column`: its label, the path of its files, and how many numbers a line has."""

    label: str
    path: Path
    width: int


def assign_scores(files: Sequence[Path], sets: Sequence[Set], found: Collection[Path] = ()) -> list[Path]:
    """Give each file of scores to the set that has as many hypotheses as it has lines, by name or folder where several
    have; return those among `found`, which nobody named, that fit none. Raises FormatError for another such file.
    """
    unused = []
    for file in files:
        lines = len(read_columns(file))
        fitting = [one for one in sets if one.rows == lines]
        pieces = re.split(r"[^A-Za-z0-9]+", file.name)
        near = [2 * (one.name in pieces) + (file.parent.name == one.folder.name) for one in fitting]
        best = [one for one, nearness in zip(fitting, near, strict=True) if nearness == max(near)]
        if len(best) == 1:
            best[0].scores.append(file)
        elif file in found:
            unused.append(file)
        else:
            sizes = " and ".join(f"{one.rows} for {one.name}" for one in sets)
            raise FormatError(
                f"{lines} lines of scores, expected a line for each hypothesis of one set: {sizes}"
                + (", whose name in that of the file would tell which" if best else ""), path=str(file),
            )  # fmt: skip
    return unused


def columns_of(sets: Sequence[Set]) -> tuple[list[Column], list[Path]]:
    """The features, in the order of the first set's files; and the files that are in none of them."""
    columns: list[Column] = []
    left = {file for one in sets for file in one.scores}
    for file in sets[0].scores:
        for path in _patterns(file, sets[0].name):
            files = [Path(str(path).replace(SET, one.name)) for one in sets]
            if all(file in one.scores for file, one in zip(files, sets, strict=True)):
                label = _label(path)
                label += f"-{len(columns) + 1}" if label in [column.label for column in columns] else ""
                columns.append(Column(label, path, read_columns(file).shape[1]))
                left.difference_update(files)
                break
    return columns, sorted(left)


def _patterns(file: Path, name: str) -> Iterator[Path]:
    """The path of a file, and with `{set}` for the name of a set in its own name, in its folder's, and in both."""
    folder, own = (part.replace(name, SET) for part in (file.parent.name, file.name))
    yield file
    yield file.with_name(own)
    if file.parent.name:
        yield file.parent.with_name(folder) / file.name
        yield file.parent.with_name(folder) / own


def _label(path: Path) -> str:
    """What the name of a file calls its scores: what is left without the set's name and endings such as `.txt.gz`."""
    while path.suffix in ENDINGS:
        path = path.with_suffix("")
    return path.name.replace(SET, "").strip("._-") or path.parent.name.replace(SET, "").strip("._-") or "scores"
