"""Rows, the results of functions on texts, for a loop, a data frame or a file."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias, overload

from rerank_plugins import ConfigError, open_atomic
from rerank_plugins.core.errors import suggestion

Row: TypeAlias = dict[str, Any]
SHOWN_ROWS = 20  # rows that are printed; of more rows, the first and the last
MAX_CELL_CHARACTERS = 60  # characters of a cell that is printed


class Rows(Sequence[Row]):
    """Rows with the same columns, in order. A row is a dict from the names of the columns to the values.

    `rows[0]` is a row, `rows[:10]` are the first ten, and `rows["word"]` is the list of the values of a column.

    >>> rows = Rows(["word", "surprisal"], [("It", 3.25), ("rains", 12.5)])
    >>> rows
    word   surprisal
    It          3.25
    rains       12.5
    >>> rows[1], rows["word"]
    ({'word': 'rains', 'surprisal': 12.5}, ['It', 'rains'])
    """

    def __init__(self, columns: Iterable[str], rows: Iterable[Sequence[Any]] = ()) -> None:
        self.columns = tuple(columns)
        self._rows = [tuple(row) for row in rows]
        for number, row in enumerate(self._rows):
            if len(row) != len(self.columns):
                raise ValueError(f"row {number} has {len(row)} values, wanted {len(self.columns)}: {self.columns}")

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> Rows: ...
    @overload
    def __getitem__(self, place: str) -> list[Any]: ...
    def __getitem__(self, place: int | slice | str) -> Row | Rows | list[Any]:
        """The row of an index, the rows of a slice, or the values of the column of that name.

        Raises ConfigError for a name that no column has.
        """
        if isinstance(place, str):
            if place not in self.columns:
                raise ConfigError(f"no column is named {place!r}{suggestion(place, self.columns)}")
            column = self.columns.index(place)
            return [row[column] for row in self._rows]
        if isinstance(place, slice):
            return Rows(self.columns, self._rows[place])
        return dict(zip(self.columns, self._rows[place], strict=True))

    def __iter__(self) -> Iterator[Row]:
        return (dict(zip(self.columns, row, strict=True)) for row in self._rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rows) and (self.columns, self._rows) == (other.columns, other._rows)

    __hash__ = None  # type: ignore[assignment]

    def to_pandas(self) -> Any:
        """A pandas.DataFrame. Raises ConfigError where pandas is not installed."""
        return self._frame_of("pandas")

    def to_polars(self) -> Any:
        """A polars.DataFrame. Raises ConfigError where polars is not installed."""
        return self._frame_of("polars")

    def to_arrow(self) -> Any:
        """A pyarrow.Table. Raises ConfigError where pyarrow is not installed."""
        return self._frame_of("pyarrow", "table")

    def _frame_of(self, library: str, frame: str = "DataFrame") -> Any:
        try:
            module = import_module(library)
        except ImportError:
            raise ConfigError(f"a data frame needs {library}: pip install {library}") from None
        return getattr(module, frame)({name: self[name] for name in self.columns})

    def to_csv(self, path: str | Path) -> None:
        """Write a file of comma-separated values, header first, in full or not at all.

        A path ending in `.tsv` (or `.tsv.gz`, …) has tabs instead of commas; None and nan are empty cells. `-` is
        stdout. Raises RerankError for a file that cannot be written.
        """
        with open_atomic(path) as out:
            writer = csv.writer(out, "excel-tab" if ".tsv" in Path(path).suffixes else "excel", lineterminator="\n")
            writer.writerow(self.columns)
            writer.writerows(["" if value is None or value != value else value for value in row] for row in self._rows)

    def __repr__(self) -> str:
        """A table in columns: the first and the last rows of many."""
        cells, left_out = self._printed()
        numeric = [any(isinstance(row[i], int | float) for row in self._rows) for i in range(len(self.columns))]
        widths = [max(map(len, column)) for column in zip(self.columns, *cells, strict=True)]
        lines = [
            "  ".join(
                cell.rjust(width) if right else cell.ljust(width)
                for cell, width, right in zip(row, widths, numeric, strict=True)
            ).rstrip()
            for row in (self.columns, *cells)
        ]
        if left_out:
            lines.insert(1 + SHOWN_ROWS // 2, "…")
            lines.append(f"({len(self._rows):,} rows)")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The same table for a notebook."""
        cells, left_out = self._printed()
        out = io.StringIO()
        out.write(f"<table><thead><tr>{''.join(f'<th>{escape(name)}</th>' for name in self.columns)}</tr></thead>")
        for number, row in enumerate(cells):
            if left_out and number == SHOWN_ROWS // 2:
                out.write(f'<tr><td colspan="{len(self.columns)}">… {left_out:,} more …</td></tr>')
            out.write(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>")
        out.write("</table>")
        return out.getvalue()

    def _printed(self) -> tuple[list[list[str]], int]:
        """The cells that are printed, and the number of rows that are left out after the first half of them."""
        left_out = max(0, len(self._rows) - SHOWN_ROWS)
        shown = [*self._rows[: SHOWN_ROWS // 2], *self._rows[-(SHOWN_ROWS // 2) :]] if left_out else self._rows
        return [[_cell(value) for value in row] for row in shown], left_out


def _cell(value: Any) -> str:
    if value is None or value != value:
        return ""
    text = f"{value:.6g}" if isinstance(value, float) else " ".join(str(value).split())
    return text if len(text) <= MAX_CELL_CHARACTERS else f"{text[: MAX_CELL_CHARACTERS - 1]}…"
