"""Draws inline SVG: rows of values with intervals, grouped bars and lines, each over axes with a scale.

They are WIDTH units wide, which fits a phone, and take their colours from classes of the page: `s0` to `s5` for
series, `good` and `bad` for gains and losses, `axis` and `grid` for the lines behind them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

from rerank_adapters.evaluation.significance import Interval

STEPS = (1.0, 2.0, 5.0, 10.0)
WIDTH = 360
SERIES_COLOURS = 6  # classes of colours
ROW_HEIGHT = 34  # height of a row: a line of text above the drawing
LEFT, RIGHT, BOTTOM = 44, 12, 36  # margins of plots with two axes
LETTER_WIDTH = 6.3  # mean width of a character at 12 px


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """About `count` multiples of 1, 2 or 5 times a power of ten, from at most `low` to at least `high`.

    >>> ticks(0.0, 43.0)
    [0.0, 10.0, 20.0, 30.0, 40.0, 50.0]
    """
    if not high > low:
        low, high = low - 1.0, high + 1.0
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in STEPS if power * factor >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]


def tick_label(value: float) -> str:
    """As `0`, `−2.5` or `40`: no digits without meaning, and a true minus sign."""
    return f"{value:.6g}".replace("-", "−")


class Row(NamedTuple):
    """A labelled value with its interval, and how it is written; `kind` is a class of colour."""

    label: str
    value: float
    interval: Interval | None
    written: str
    kind: str = "s0"


def interval_rows(rows: Sequence[Row], axis: str, *, width: int = WIDTH) -> str:
    """For each row its label, a dot at the value, and a line over its interval, above one axis.

    The axis covers zero and all intervals, and `axis` names it.
    """
    ends = [0.0, *(x for row in rows for x in (row.value, *(row.interval or ())))]
    marks = ticks(min(ends), max(ends))
    low, high = marks[0], marks[-1]
    bottom = ROW_HEIGHT * len(rows) + 4

    def x(number: float) -> float:
        return 12 + (number - low) / (high - low) * (width - 24)

    parts = []
    for mark in marks:
        kind = "axis" if mark == 0 else "grid"
        parts.append(f'<line class="{kind}" x1="{x(mark):.1f}" x2="{x(mark):.1f}" y1="0" y2="{bottom}"/>')
        parts.append(_tick(x(mark), bottom + 14, tick_label(mark)))
    for number, row in enumerate(rows):
        middle = ROW_HEIGHT * number + 24
        room = int((width - LETTER_WIDTH * len(row.written) - 30) / LETTER_WIDTH)
        label = row.label if len(row.label) <= room else row.label[: room - 1] + "…"
        parts.append(f'<g class="{row.kind}">{_tooltip(f"{row.label}: {row.written}")}')
        parts.append(f'<text x="2" y="{middle - 10}">{escape(label)}</text>')
        parts.append(f'<text x="{width - 2}" y="{middle - 10}" text-anchor="end">{escape(row.written)}</text>')
        if row.interval is not None:
            ends_of_line = f'x1="{x(row.interval.low):.1f}" x2="{x(row.interval.high):.1f}"'
            parts.append(f'<line class="stroke" {ends_of_line} y1="{middle}" y2="{middle}" stroke-width="3"/>')
        parts.append(f'<circle class="fill" cx="{x(row.value):.1f}" cy="{middle}" r="5"/></g>')
    parts.append(_tick(width / 2, bottom + 30, axis))
    return _svg(parts, width, bottom + 36, axis)


def grouped_bars(
    labels: Sequence[str], series: Mapping[str, Sequence[float]], x_axis: str, y_axis: str, height: int = 160
) -> str:
    """Bars from zero: a group for each label with a bar for each series, values as tooltips, and a legend below."""
    marks = ticks(0.0, max((value for values in series.values() for value in values), default=0.0), 4)
    group = (WIDTH - LEFT - RIGHT) / max(1, len(labels))
    bar = group * 0.8 / max(1, len(series))
    top = 18
    parts = [_y_axis(marks, top, height, y_axis)]
    for i, (name, values) in enumerate(series.items()):
        for j, value in enumerate(values):
            tall = max(value, 0.0) / marks[-1] * height
            x, y = LEFT + group * (j + 0.1) + i * bar, top + height - tall
            place = f'x="{x:.1f}" y="{y:.1f}" width="{max(bar - 1, 1):.1f}" height="{tall:.1f}"'
            tooltip = _tooltip(f"{name}, {labels[j]}: {value:.2f}")
            parts.append(f'<g class="s{i % SERIES_COLOURS}"><rect class="fill" {place}>{tooltip}</rect></g>')
    for j, label in enumerate(labels):
        parts.append(_tick(LEFT + group * (j + 0.5), top + height + 15, label))
    return _with_legend(parts, list(series), top + height, x_axis, y_axis)


def lines(
    series: Mapping[str, Sequence[tuple[float, float]]],
    x_axis: str,
    y_axis: str,
    *,
    logarithmic: bool = False,
    height: int = 160,
) -> str:
    """A line with dots for each series of points (x, y); `logarithmic` spaces x, and marks its values on the axis."""
    points = [point for values in series.values() for point in values]
    marks = ticks(min(y for _, y in points), max(y for _, y in points), 4)
    places = sorted({x for x, _ in points})
    x_marks = places if logarithmic else [x for x in ticks(places[0], places[-1]) if places[0] <= x <= places[-1]]
    scaled = math.log if logarithmic else float
    low, high = scaled(places[0]), scaled(places[-1])
    top = 18

    def at(x: float, y: float) -> tuple[float, float]:
        across = (scaled(x) - low) / (high - low) if high > low else 0.5
        up = (y - marks[0]) / (marks[-1] - marks[0])
        return LEFT + 10 + across * (WIDTH - LEFT - RIGHT - 20), top + height * (1 - up)

    parts = [_y_axis(marks, top, height, y_axis)]
    last = -math.inf
    for mark in x_marks:
        place = at(mark, marks[0])[0]
        label = tick_label(mark)
        if place - last > LETTER_WIDTH * (len(label) + 1):  # labels that would run into each other are left out
            parts.append(_tick(place, top + height + 15, label))
            last = place
    for i, (name, values) in enumerate(series.items()):
        drawn = [at(x, y) for x, y in values]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in drawn)
        parts.append(f'<g class="s{i % SERIES_COLOURS}"><polyline class="stroke" points="{path}"/>')
        radius = 3 if len(drawn) <= 30 else 1.5
        for (x, y), (across, up) in zip(drawn, values, strict=True):
            tooltip = _tooltip(f"{name}, {across:g}: {up:.2f}")
            parts.append(f'<circle class="fill" cx="{x:.1f}" cy="{y:.1f}" r="{radius}">{tooltip}</circle>')
        parts.append("</g>")
    return _with_legend(parts, list(series) if len(series) > 1 else [], top + height, x_axis, y_axis)


def _y_axis(marks: Sequence[float], top: int, height: int, name: str) -> str:
    parts = [_tick(2, 11, name, "start")]
    for number, mark in enumerate(marks):
        y = top + height * (1 - number / (len(marks) - 1))
        kind = "axis" if number == 0 else "grid"
        parts.append(f'<line class="{kind}" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(_tick(LEFT - 6, y + 4, tick_label(mark), "end"))
    return "".join(parts)


def _tick(x: float, y: float, text: str, anchor: str = "middle") -> str:
    """A small text, as at the ticks of an axis."""
    return f'<text class="tick" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _tooltip(text: str) -> str:
    return f"<title>{escape(text)}</title>"


def _with_legend(parts: list[str], names: Sequence[str], bottom: int, x_axis: str, y_axis: str) -> str:
    """The plot with the title of the x-axis below its `bottom`, and then a line with a square for each name."""
    parts = [*parts, _tick((LEFT + WIDTH - RIGHT) / 2, bottom + 32, x_axis)]
    top = bottom + BOTTOM + 8
    for i, name in enumerate(names):
        square = f'<rect class="fill" x="{LEFT}" y="{top + 18 * i}" width="11" height="11" rx="2"/>'
        parts.append(f'<g class="s{i % SERIES_COLOURS}">{square}</g>')
        parts.append(f'<text x="{LEFT + 17}" y="{top + 10 + 18 * i}">{escape(name)}</text>')
    return _svg(parts, WIDTH, top + 18 * len(names), f"{y_axis} by {x_axis}")


def _svg(parts: Sequence[str], width: int, height: float, label: str) -> str:
    size = f'width="{width}" height="{height:g}" viewBox="0 0 {width} {height:g}"'
    return f'<svg {size} role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>'
