"""Writes records of plain values for spreadsheets and scripts, or as tables for people."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rerank_adapters.report.output import drawn, report_console
from rerank_adapters.report.tables import Table
from rerank_adapters.report.terminal import print_table
from rerank_adapters.report.text import markdown_table
from rerank_plugins.kit.files.text import open_atomic

Record = Mapping[str, Any]
STYLES = ("table", "tsv", "json", "markdown")


def write_records(records: Sequence[Record], tables: Sequence[Table], style: str, path: str | Path = "-") -> None:
    """Write a report in one of STYLES; `-` is stdout. TSV and JSON hold the records, the other styles the tables."""
    if style == "table" and str(path) == "-":
        for table in tables:
            print_table(table, report_console())
        return
    with open_atomic(path) as out:
        if style == "tsv":
            out.write(records_tsv(records))
        elif style == "json":
            out.write(json.dumps(list(records), ensure_ascii=False, indent=1) + "\n")
        elif style == "markdown":
            out.write("\n".join(map(markdown_table, tables)))
        else:
            out.write("".join(drawn(partial(print_table, table)) for table in tables))


def records_tsv(records: Sequence[Record]) -> str:
    """A header and a line per record; the columns are the keys of all records, in order of first occurrence.

    >>> records_tsv([{"a": 0.5, "b": None}, {"a": 1, "c": "x"}]).split()
    ['a', 'b', 'c', '0.5', '1', 'x']
    """
    columns = list(dict.fromkeys(key for record in records for key in record))
    lines = ["\t".join(columns)]
    lines += ["\t".join(_cell(record.get(column)) for column in columns) for record in records]
    return "\n".join(lines) + "\n"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = f"{value:.9g}" if isinstance(value, float) else str(value)
    return " ".join(text.split()) if "\t" in text or "\n" in text else text
