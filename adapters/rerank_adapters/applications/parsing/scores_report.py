"""Prints the scores of a parser on gold trees: a table on a terminal, tab-separated rows for programs."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence

import click

Row = dict[str, str]


def print_scores(rows: Iterable[Row]) -> None:
    """Print a row for each gold file as soon as it is known, or, on a terminal, all files side by side in a table."""
    if sys.stdout.isatty():
        from rerank_adapters.report.output import report_console
        from rerank_adapters.report.tables import Table
        from rerank_adapters.report.terminal import print_table

        for alike in _alike(list(rows)):
            first, *scores = list(alike[0])
            header = (first, *(row[first] for row in alike))
            cells = tuple((name, *(row[name] for row in alike)) for name in scores)
            print_table(Table("Scores in percent", header, cells), report_console())
        return
    header_row: list[str] = []
    for row in rows:
        if list(row) != header_row:
            header_row = list(row)
            click.echo("\t".join(header_row))
        click.echo("\t".join(row.values()))


def _alike(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """The rows, grouped by the names of their columns."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row), []).append(row)
    yield from groups.values()
