"""Prints an evaluation on the terminal: tables, and the segments that changed most with the words that differ.

Differences are coloured where the terminal has colours, and marked as `[-deleted-]{+inserted+}` elsewhere.

A table that is too wide for the terminal is printed as several, each with as many of its columns as fit: one for each
metric on a narrow terminal.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from textwrap import wrap
from typing import Literal

from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable
from rich.text import Text

from rerank_adapters.evaluation.result import Change, Evaluation, MetricResult, most_changed
from rerank_adapters.report import numbers
from rerank_adapters.report.tables import (
    Table,
    bucket_table,
    error_table,
    gain_table,
    group_table,
    groups_that_fit,
    score_table,
    segment_table,
)
from rerank_adapters.report.words import marked, word_differences

MARGIN, GAP = 1, 3  # characters of a drawn table beside those of the cells: at its end, and for each column
STYLES = {"kept": "", "deleted": "red strike", "inserted": "green"}


def print_evaluation(
    evaluation: Evaluation,
    console: Console,
    *,
    changes: int = 5,
    changed: Collection[str] | None = None,
    tables: Sequence[Table] = (),
) -> None:
    """Print the `changes` segments that changed most, length buckets by the first metric, and wins and losses.

    The segments are those of the systems `changed`; of all but the baseline where that is None. Other `tables` of the
    same job follow, and the scores come last, where they stay visible on a terminal.
    """
    first = evaluation.metrics[0]
    for system in evaluation.systems:
        if changes and system != evaluation.baseline and (changed is None or system in changed):
            print_changes(evaluation, first, system, console, changes)
    print_table(bucket_table(evaluation, first), console)
    if evaluation.groups:
        print_table(group_table(evaluation, first), console)
    if len(evaluation.systems) > 1:
        print_table(segment_table(evaluation), console)
    for metric in evaluation.metrics:
        if metric.errors:
            print_table(error_table(evaluation, metric), console)
    if evaluation.metrics[0].pairs:
        tables = (*tables, gain_table(evaluation))
    for table in (*tables, score_table(evaluation)):
        print_table(table, console)


def print_table(table: Table, console: Console) -> None:
    """Print a table with its notes, at most as wide as the console.

    Where it is too wide, the heads of its columns are wrapped at spaces. Where that is not enough, several tables are
    printed, each with the first column and as many others as fit, at least one.
    """
    columns = list(zip(table.header, *table.rows, strict=True))
    widths = [max(map(_width, column)) for column in columns]
    if sum(widths) + GAP * len(widths) + MARGIN > console.width:
        widths = [max(map(_width, (*head.split(), *cells))) for head, *cells in columns]
    several_lines = any("\n" in cell for row in table.rows for cell in row)
    first, *others = (width + GAP for width in widths)
    for number, group in enumerate(groups_that_fit(others, console.width - first - MARGIN)):
        shown = [0, *(column + 1 for column in group)]
        title = f"{table.title} (continued)" if number else table.title
        drawn = RichTable(title=escape(title), title_justify="left", title_style="bold")
        for i in shown:
            justify: Literal["left", "right"] = "right" if i else "left"
            drawn.add_column(escape(table.header[i]), justify=justify, width=widths[i], overflow="fold")
        for row in table.rows:
            drawn.add_row(*(escape(row[i]) for i in shown), end_section=several_lines)
        console.print(drawn)
    for note in table.notes:
        for line in _lines(note, console.width - 2):
            console.print(f"  {line}", style="dim", markup=False, highlight=False, soft_wrap=True)
    console.print()


def _width(cell: str) -> int:
    return max(map(cell_len, cell.split("\n")))


def _lines(note: str, width: int) -> list[str]:
    """The note wrapped at spaces; on one line where a word of it, such as the signature of a metric, does not fit."""
    if max(map(len, note.split()), default=0) > width:
        return [note]
    return wrap(note, width, break_on_hyphens=False)


def print_changes(evaluation: Evaluation, metric: MetricResult, system: str, console: Console, count: int) -> None:
    """Print the segments whose sentence score changed most, with source, references, baseline and system."""
    changes = most_changed(evaluation, metric, system, count)
    title = f"Segments that changed most, {evaluation.baseline} → {system}, by sentence {metric.name}"
    console.print(title if changes else f"{system}: no output differs from {evaluation.baseline}", style="bold")
    for change in changes:
        _print_change(change, evaluation.baseline, system, metric, console)
    console.print()


def _print_change(change: Change, baseline: str, system: str, metric: MetricResult, console: Console) -> None:
    gain = metric.gain(change.system_score - change.baseline_score)
    style = "green" if gain > 0 else "red" if gain < 0 else ""
    head = f"segment {change.segment.segment_id}  "
    scores = f"{numbers.score(change.baseline_score)} → {numbers.score(change.system_score)}"
    lines = [Text(head, "bold").append(scores, style)]
    labels = ["source", *["reference"] * len(change.segment.references), baseline, system]
    width = max(len(label) for label in [*labels, "changes"])

    def line(label: str, text: Text | str) -> Text:
        return Text.assemble((f"  {label:<{width}}  ", "dim"), text)

    lines += [line("source", change.segment.source)] if change.segment.source is not None else []
    lines += [line("reference", reference) for reference in change.segment.references]
    if console.color_system is None:
        lines += [line(baseline, change.baseline), line(system, change.system)]
        lines += [line("changes", marked(change.baseline, change.system))]
    else:
        lines += [line(baseline, _coloured(change, "inserted")), line(system, _coloured(change, "deleted"))]
    for text in lines:
        console.print(text, soft_wrap=True, highlight=False)


def _coloured(change: Change, without: str) -> Text:
    pieces = word_differences(change.baseline, change.system)
    return Text(" ").join(Text(piece.text, STYLES[piece.kind]) for piece in pieces if piece.kind != without)
