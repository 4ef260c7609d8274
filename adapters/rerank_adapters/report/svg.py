"""Two small drawings as inline SVG: an interval on a line, and grouped bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from rerank_adapters.evaluation.significance import Interval

COLOURS = ("#4c78a8", "#f58518", "#54a24b", "#b279a2", "#e45756", "#9d755d")


def interval_line(value: float, interval: Interval | None, reach: float, width: int = 360) -> str:
    """A dot at `value` and a bar over `interval`, on a scale from -reach to +reach with a mark at zero."""

    def x(number: float) -> float:
        return width / 2 + number / reach * (width / 2 - 8)

    bar = ""
    if interval is not None:
        ends = f'x1="{x(interval.low):.1f}" x2="{x(interval.high):.1f}"'
        bar = f'<line {ends} y1="10" y2="10" stroke="{COLOURS[0]}" stroke-width="3"/>'
    zero = f'<line x1="{width / 2}" x2="{width / 2}" y1="0" y2="20" stroke="gray"/>'
    dot = f'<circle cx="{x(value):.1f}" cy="10" r="5" fill="{COLOURS[0]}"/>'
    return f'<svg width="{width}" height="20" role="img">{zero}{bar}{dot}</svg>'


def grouped_bars(labels: Sequence[str], series: Mapping[str, Sequence[float]], height: int = 160) -> str:
    """Bars from zero: a group for each label with a bar for each series, values as tooltips, and a legend below."""
    highest = max((value for values in series.values() for value in values), default=0.0) or 1.0
    bar, gap = 18, 24
    group = bar * len(series) + gap
    parts = []
    for i, (name, values) in enumerate(series.items()):
        colour = COLOURS[i % len(COLOURS)]
        for j, value in enumerate(values):
            tall = max(value, 0.0) / highest * (height - 10)
            place = f'x="{gap + j * group + i * bar}" y="{height - tall:.1f}" width="{bar - 2}" height="{tall:.1f}"'
            tooltip = f"<title>{escape(f'{name}, {labels[j]} words: {value:.2f}')}</title>"
            parts.append(f'<rect {place} fill="{colour}">{tooltip}</rect>')
        legend = f'<rect x="{gap}" y="{height + 26 + 18 * i}" width="12" height="12" fill="{colour}"/>'
        parts.append(legend + f'<text x="{gap + 18}" y="{height + 36 + 18 * i}">{escape(name)}</text>')
    for j, label in enumerate(labels):
        middle = gap + j * group + (group - gap) / 2
        parts.append(f'<text x="{middle:.1f}" y="{height + 16}" text-anchor="middle">{escape(label)}</text>')
    width, tall = max(gap + group * len(labels), 320), height + 30 + 18 * len(series)
    return f'<svg width="{width}" height="{tall}" role="img">{"".join(parts)}</svg>'
