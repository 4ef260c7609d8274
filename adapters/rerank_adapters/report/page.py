"""The frame of an HTML page that needs no other file, and the parts that all pages have."""

from __future__ import annotations

import base64
import gzip
import json
import math
from collections.abc import Iterable
from html import escape
from importlib.resources import files
from typing import Any

from rerank_adapters.report.tables import Table


def page(title: str, body: Iterable[str], script: str = "") -> str:
    """The whole page as text, with the style of all pages; write it as UTF-8. `script` names a file of this package."""
    package = files("rerank_adapters.report")
    style = (package / "page.css").read_text(encoding="utf-8")
    code = f"<script>\n{(package / script).read_text(encoding='utf-8')}</script>" if script else ""
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title><style>\n{style}</style></head><body>",
        *body,
        f"{code}</body></html>",
    ]
    return "\n".join(parts) + "\n"


def table_part(table: Table, *, heading: bool = True) -> str:
    """A table that scrolls by itself where the screen is narrow; its notes follow, folded where they are many."""
    rows = [row("th", table.header), *(row("td", cells) for cells in table.rows)]
    notes = "".join(f"<li>{escape(note)}</li>" for note in table.notes)
    listed = f'<ul class="notes">{notes}</ul>' if notes else ""
    if len(table.notes) > 2:
        listed = f"<details><summary>How to read this table</summary>{listed}</details>"
    return (
        (f"<h2>{escape(table.title)}</h2>\n" if heading else "")
        + f'<div class="wide"><table><thead>{rows[0]}</thead><tbody>\n'
        + "\n".join(rows[1:])
        + f"\n</tbody></table></div>{listed}"
    )


def row(tag: str, cells: Iterable[str]) -> str:
    """A row of a table; cells of several lines keep them."""
    written = (escape(cell).replace("\n", "<br>") for cell in cells)
    return "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in written) + "</tr>"


def figure(drawing: str, caption: str, heading: str = "") -> str:
    """A drawing with a heading above it and a caption below."""
    head = f"<h3>{escape(heading)}</h3>" if heading else ""
    return f"<figure>{head}{drawing}<figcaption>{escape(caption)}</figcaption></figure>"


def packed(value: Any, name: str) -> str:
    """A script element of the id `name` with the value as JSON, compressed by gzip, in base64."""
    text = json.dumps(_rounded(value), ensure_ascii=False, separators=(",", ":"))
    data = base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode("ascii")
    return f'<script type="application/gzip" id="{name}">{data}</script>'


def _rounded(value: Any) -> Any:
    """The value with floats of five significant digits, which is what a page shows at most; None if not finite."""
    if isinstance(value, float):
        return float(f"{value:.5g}") if math.isfinite(value) else None  # JSON has neither nan nor infinity
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, (list, tuple)) else value
