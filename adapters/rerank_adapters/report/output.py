"""Writes reports of an evaluation to a file or stdout, in any of their forms."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from pathlib import Path

from rich.console import Console

from rerank_adapters.evaluation import Evaluation
from rerank_adapters.report import html, text
from rerank_adapters.report.terminal import print_evaluation
from rerank_plugins.kit.files.text import open_atomic

WRITERS = {
    "tsv": text.tsv,
    "json": text.json,
    "markdown": text.markdown,
    "latex": text.latex,
    "html": html.html_page,
}
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
    console = ReportConsole(highlight=False)
    return console if console.is_terminal else ReportConsole(highlight=False, width=WIDTH)


def drawn(print_report: Callable[[Console], None]) -> str:
    """The text that `print_report` prints on a console of WIDTH columns without colours."""
    console = Console(file=io.StringIO(), highlight=False, width=WIDTH)
    with console.capture() as captured:
        print_report(console)
    return captured.get()
