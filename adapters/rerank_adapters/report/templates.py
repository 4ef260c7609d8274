"""Fills the templates of pages that need no other file: style and scripts are in them, data compressed."""

from __future__ import annotations

import base64
import gzip
import json
import math
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment

REPORT = "rerank_adapters.report"  # the package of `frame.html.j2`, which all pages extend


def render(template: str, values: dict[str, Any], *, package: str = REPORT) -> str:
    """The page that a template of a package makes of the values, as text; write it as UTF-8.

    Values are escaped. A template can extend those of the package REPORT; `file(NAME)` is the text of a file beside it.
    """
    return _environment(package).get_template(template).render(values)


@cache
def _environment(package: str) -> Environment:
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    loader = ChoiceLoader([PackageLoader(name, "") for name in dict.fromkeys((package, REPORT))])
    environment = Environment(
        loader=loader,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    environment.globals["file"] = lambda name: loader.get_source(environment, name)[0]
    return environment


def packed(value: Any) -> str:
    """The value as JSON, compressed by gzip, in base64; floats have five significant digits."""
    text = json.dumps(_rounded(value), ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode("ascii")


def _rounded(value: Any) -> Any:
    """The value with floats as a page shows them; None for those that are not finite, which JSON cannot hold."""
    if isinstance(value, float):
        return float(f"{value:.5g}") if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, (list, tuple)) else value
