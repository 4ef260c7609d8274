"""An evaluation as one HTML page that needs no other file: style, drawings and the search are in the page.

It shows the scores, the differences as intervals on a line, length buckets as bars, and every segment with the words
that changed. The segments can be searched and sorted; without JavaScript the page still shows everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files

from rerank_adapters.evaluation.result import Evaluation, MetricResult
from rerank_adapters.report import numbers
from rerank_adapters.report.errors import error_table, group_table
from rerank_adapters.report.svg import grouped_bars, interval_line
from rerank_adapters.report.tables import Table, bucket_table, gain_table, score_table, segment_table
from rerank_adapters.report.words import word_differences

TAGS = {"kept": "{}", "deleted": "<del>{}</del>", "inserted": "<ins>{}</ins>"}


def html_page(evaluation: Evaluation, title: str = "Evaluation", tables: Sequence[Table] = ()) -> str:
    """The whole page as text; write it as UTF-8. Other `tables` of the same job follow the scores."""
    package = files("rerank_adapters.report")
    style = (package / "page.css").read_text(encoding="utf-8")
    script = (package / "page.js").read_text(encoding="utf-8")
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title><style>\n{style}</style></head><body>",
        f"<h1>{escape(title)}</h1>",
        _table(score_table(evaluation)),
        *([_table(gain_table(evaluation))] if evaluation.metrics[0].pairs else []),
        *map(_table, tables),
        *(_table(error_table(evaluation, metric)) for metric in evaluation.metrics if metric.errors),
        *_differences(evaluation),
        *([_table(segment_table(evaluation))] if len(evaluation.systems) > 1 else []),
        *_lengths(evaluation),
        *(_table(group_table(evaluation, metric)) for metric in evaluation.metrics if evaluation.groups),
        *_segments(evaluation),
        f"<script>\n{script}</script></body></html>",
    ]
    return "\n".join(parts) + "\n"


def _table(table: Table) -> str:
    rows = [_row("th", table.header), *(_row("td", row) for row in table.rows)]
    notes = "".join(f"<li>{escape(note)}</li>" for note in table.notes)
    return (
        f"<h2>{escape(table.title)}</h2>\n<table><thead>{rows[0]}</thead><tbody>\n"
        + "\n".join(rows[1:])
        + "\n</tbody></table>"
        + (f'\n<ul class="notes">{notes}</ul>' if notes else "")
    )


def _row(tag: str, cells: Iterable[str]) -> str:
    written = (escape(cell).replace("\n", "<br>") for cell in cells)
    return "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in written) + "</tr>"


def _differences(evaluation: Evaluation) -> Iterable[str]:
    """For each metric a table with a line per system: the difference to the baseline, drawn with its interval."""
    for metric in evaluation.metrics:
        compared = [(s.system, s.comparison) for s in metric.systems if s.comparison is not None]
        if not compared:
            return
        ends = [abs(x) for _, c in compared for x in (c.difference, *(c.interval or ()))]
        reach = max(ends) or 1.0
        better = "right" if metric.higher_is_better else "left"
        yield f"<h3>{escape(metric.name)}: difference to {escape(evaluation.baseline)} (better: {better})</h3><table>"
        for system, comparison in compared:
            drawn = interval_line(comparison.difference, comparison.interval, reach)
            text = f"{numbers.difference(comparison)} {numbers.difference_interval(comparison)}"
            yield f"<tr><td>{escape(system)}</td><td>{drawn}</td><td>{escape(text)}</td></tr>"
        yield "</table>"


def _lengths(evaluation: Evaluation) -> Iterable[str]:
    for metric in evaluation.metrics:
        table = bucket_table(evaluation, metric)
        labels = [bucket.label for bucket in evaluation.buckets]
        series = {scores.system: scores.bucket_scores for scores in metric.systems}
        yield f"<details><summary>{escape(table.title)}</summary>"
        yield grouped_bars(labels, series)
        yield _table(table) + "</details>"


def _segments(evaluation: Evaluation) -> Iterable[str]:
    """One row per segment: texts with their differences to the baseline, and sentence scores by the first metric."""
    first = evaluation.metrics[0]
    yield '<h2>Segments</h2><p class="tools"><input id="search" type="search" placeholder="search segments">'
    yield f'<span id="shown"></span></p><p>Scores are sentence {escape(first.name)}; click a heading to sort.</p>'
    headings = ["segment", "text", *evaluation.systems]
    headings += [f"{s} − {evaluation.baseline}" for s in evaluation.systems if s != evaluation.baseline]
    yield '<table id="segments"><thead>' + _row("th", headings) + "</thead><tbody>"
    for position in range(len(evaluation.segments)):
        yield _segment(evaluation, first, position)
    yield "</tbody></table>"


def _segment(evaluation: Evaluation, metric: MetricResult, position: int) -> str:
    segment = evaluation.segments[position]
    old = evaluation.systems.index(evaluation.baseline)
    lines = [] if segment.source is None else [_line("source", escape(segment.source))]
    lines += [_line("reference", escape(reference)) for reference in segment.references]
    for i, system in enumerate(evaluation.systems):
        output = segment.outputs[i]
        lines.append(_line(system, escape(output) if i == old else _differing(segment.outputs[old], output)))
    scores = [metric.of(system).sentence_scores[position] for system in evaluation.systems]
    changes = [scores[i] - scores[old] for i in range(len(scores)) if i != old]
    cells = [f"<td>{score:.2f}</td>" for score in scores] + [_change(metric, change) for change in changes]
    return f"<tr><td>{escape(segment.segment_id)}</td><td>{''.join(lines)}</td>{''.join(cells)}</tr>"


def _line(label: str, text: str) -> str:
    return f"<div><b>{escape(label)}</b> {text}</div>"


def _differing(before: str, after: str) -> str:
    return " ".join(TAGS[piece.kind].format(escape(piece.text)) for piece in word_differences(before, after))


def _change(metric: MetricResult, change: float) -> str:
    kind = "same" if abs(change) < 0.005 else "better" if metric.gain(change) > 0 else "worse"
    return f'<td class="{kind}">{change:+.2f}</td>'
