"""Writes reports of an evaluation, and records of plain values, to a file or stdout in any of their forms."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from rich.console import Console

from rerank_adapters.evaluation import Evaluation
from rerank_adapters.report import page, text
from rerank_adapters.report.tables import Table
from rerank_adapters.report.terminal import print_evaluation, print_table
from rerank_adapters.report.text import Record, markdown_table, records_tsv
from rerank_plugins import open_atomic
from rerank_plugins.kit.files.standard_streams import data_stream

WRITERS = {"tsv": text.tsv, "json": text.json, "markdown": text.markdown, "latex": text.latex, "html": page.html_page}
WIDTH = 80  # columns of reports that go to no terminal


class ReportConsole(Console):
    """A console that lets the command line handle a closed pipe."""

    def on_broken_pipe(self) -> None:
        """Raise the BrokenPipeError that is being handled again (rich itself would exit with code 1)."""
        raise  # noqa: PLE0704


def write_report(
    evaluation: Evaluation, style: str, path: str | Path, *, changes: int = 5, plots: Path | None = None
) -> None:
    """Write a report in the form `style`, "table" or one of WRITERS; `-` is stdout, `plots` a folder for PNG files."""
    if style == "table" and str(path) == "-":
        print_evaluation(evaluation, report_console(), changes=changes)
    else:
        with open_atomic(path) as stream:
            if style == "table":
                stream.write(drawn(partial(print_evaluation, evaluation, changes=changes)))
            else:
                stream.write(WRITERS[style](evaluation))
    if plots is not None:
        from rerank_adapters.report.plots import plot_differences, plot_lengths

        plots.mkdir(parents=True, exist_ok=True)
        plot_differences(evaluation, plots / "differences.png")
        for metric in evaluation.metrics:
            plot_lengths(evaluation, metric, plots / f"lengths-{metric.name}.png")


def report_console() -> Console:
    """A console for stdout, as wide as the terminal, or WIDTH characters wide where stdout is no terminal."""
    console = ReportConsole(file=data_stream(), highlight=False)
    return console if console.is_terminal else ReportConsole(file=data_stream(), highlight=False, width=WIDTH)


def drawn(print_report: Callable[[Console], None]) -> str:
    """The text that `print_report` prints on a console of WIDTH columns without colours."""
    console = Console(file=io.StringIO(), highlight=False, width=WIDTH)
    with console.capture() as captured:
        print_report(console)
    return captured.get()


def write_records(records: Sequence[Record], tables: Sequence[Table], style: str) -> None:
    """Print a report as table, tsv, json or markdown. TSV and JSON hold the records, the other styles the tables."""
    if style == "table":
        for table in tables:
            print_table(table, report_console())
        return
    with open_atomic("-") as out:
        if style == "tsv":
            out.write(records_tsv(records))
        elif style == "json":
            out.write(json.dumps(list(records), ensure_ascii=False, indent=1) + "\n")
        else:
            out.write("\n".join(map(markdown_table, tables)))
