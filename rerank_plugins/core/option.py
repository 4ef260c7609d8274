"""Declares an option of a plugin: a field of its dataclass, with a default and a description."""

from __future__ import annotations

import dataclasses
from typing import Any


def option(
    default: Any = dataclasses.MISSING,
    *,
    doc: str,
    changes_results: bool = True,
    within: str = "",
    short: str = "",
    metavar: str = "",
    writes: bool = False,
) -> Any:
    """A dataclass field with a one-line description, which `rerank plugins` shows; required if it has no default.

    `changes_results` is false for the size of a batch and the like: what was computed with another value is used again.
    The options of trainers may have an interval of numbers that they lie `within`, as in "[1, 6]" or "(0, ]"; on the
    command line, a `short` letter and a `metavar`; `writes` is true of a path that training writes.
    """
    command_line = {"within": within, "short": short, "metavar": metavar, "writes": writes}
    return dataclasses.field(default=default, metadata={"doc": doc, "changes_results": changes_results, **command_line})
