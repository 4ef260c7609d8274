"""Scores computed elsewhere (by a neural model, a metric without references, people) as features of the hypotheses.

A file has a line for each hypothesis, in the order of the lines of the n-best files as they are read, before lists of
one segment are merged; a line has a number for each component, between white space.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from rerank_plugins import ConfigError, FeatureExtractor, FloatArray, FormatError, NBestList, PickledFields, option
from rerank_plugins.kit.files.text import display_name, finite, open_text


def read_columns(path: str | Path, width: int | None = None) -> FloatArray:
    """(lines, width) the numbers of a file, compressed or not; `-` is stdin.

    Without `width` the first line says how many numbers a line has. Raises FormatError, with the line, for another
    number of them and for what is no finite number, and for an empty file.
    """
    name = display_name(path)
    numbers: list[float] = []
    with open_text(path) as lines:
        for at, line in enumerate(lines, 1):
            fields = line.split()
            width = len(fields) if width is None else width
            if len(fields) != width or not width:
                shown = line.strip()[:40]
                wanted = "1 number" if width == 1 else f"{width or 'one or more'} numbers between white space"
                raise FormatError(f"found {shown!r}, wanted {wanted}", path=name, line=at)
            for column, field in enumerate(fields, 1):
                try:
                    numbers.append(finite(field))
                except ValueError as error:
                    which = f"number {column} " if width > 1 else "the line "
                    raise FormatError(f"{which}{error}", path=name, line=at) from None
    if not width or not numbers:
        raise FormatError("the file is empty, wanted a line of numbers for each hypothesis", path=name)
    return np.array(numbers).reshape(-1, width)


@dataclass
class ColumnFeature(PickledFields, FeatureExtractor):
    """Scores computed elsewhere, a line for each hypothesis in the order of the lists."""

    scope: ClassVar[Literal["text", "list"]] = "list"
    by_row: ClassVar[bool] = True

    file: Path = option(
        doc="file of the scores, a line for each hypothesis in the order of the n-best files; `{set}` in it stands for "
        "the name of a data set"
    )
    names: tuple[str, ...] = option((), doc="names of the columns, where a line has several numbers")

    def __post_init__(self) -> None:
        """Raise ValueError for columns of the same name."""
        if len(set(self.names)) < len(self.names):
            raise ValueError(f"the names of the columns must differ, found {', '.join(self.names)}")

    @property
    def components(self) -> tuple[str, ...]:
        """The option `names`; a single column without a name has no suffix."""
        return self.names or ("",)

    @cached_property
    def _values(self) -> FloatArray:
        """(lines, components) the numbers of the file; read on first use, in each process."""
        if "{set}" in str(self.file):
            raise ConfigError(f"{self.file}: it is not known which data set {{set}} stands for: name it by --set NAME")
        return read_columns(self.file, len(self.components))

    def check_lists(self, nbests: Sequence[NBestList]) -> None:
        """Raise FormatError unless the file has a line for each hypothesis of the files of these lists, and no more.

        Surplus lines cannot be detected where hypotheses were dropped when lists were merged.
        """
        last = -1
        for nbest in nbests:
            last = max(last, int(self._rows(nbest).max(initial=-1)))
        number, lines = sum(map(len, nbests)), len(self._values)
        if lines > last + 1 and number == last + 1:
            message = f"a surplus line: the lists have {number} hypotheses, the file has {lines} lines"
            raise FormatError(message, path=str(self.file), line=number + 1)

    def extract(self, nbest: NBestList) -> FloatArray:
        """(n, components) the numbers in the lines of the hypotheses.

        Raises ConfigError for a list that is not from a file, FormatError for a hypothesis beyond the last line and for
        what `read_columns` refuses.
        """
        return self._values[self._rows(nbest)]

    def _rows(self, nbest: NBestList) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        rows = np.array(nbest.rows, np.int64)
        if len(rows) != len(nbest):
            fault = f"segment {nbest.segment_id} was not read from an n-best file, so its hypotheses have no lines"
            raise ConfigError(f"{self.file}: {fault} in this one")
        if len(rows) and rows.max() >= len(self._values):
            wanted = f"wanted a line for hypothesis {int(rows.max()) + 1}, which belongs to segment {nbest.segment_id}"
            raise FormatError(
                f"the file ends after {len(self._values)} lines; {wanted}", path=str(self.file), line=len(self._values)
            )
        return rows
