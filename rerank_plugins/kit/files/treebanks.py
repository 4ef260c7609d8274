"""Tells treebanks from text, and dependencies from trees in brackets: by the names of files, or by how they begin."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from rerank_plugins.core.errors import ConfigError, FormatError
from rerank_plugins.kit.files.text import open_text

SNIFFED_LINES = 100  # lines in which the first row of a treebank is looked for


def is_conllu(path: Path) -> bool:
    """Whether a file holds dependencies: by its name, `gsd.conllu` or `gsd.conllu.xz`, or by its first rows."""
    if ".conllu" in path.suffixes[-2:]:
        return True
    return bool(re.match(r"1(-\d+)?\t(.*\t){8}", _first_line(path)))


def begins_with_brackets(path: Path) -> bool:
    """Whether a file begins like a tree in brackets, `( (S …` or `(ROOT (S …`, whatever its name."""
    return bool(re.match(r"\([^\s()]*\s*\(", _first_line(path)))


def _first_line(path: Path) -> str:
    """The first line that is neither blank nor a comment of CoNLL-U; "" for a file that is no plain text."""
    if not path.is_file():
        return ""
    try:
        with open_text(path) as lines:
            return next(
                (line for line in islice(lines, SNIFFED_LINES) if line.strip() and not line.startswith("#")), ""
            )
    except FormatError:  # which reading the file will report
        return ""


def of_dependencies(paths: Iterable[Path]) -> bool:
    """Whether treebanks are of dependencies, all of them or none. Raises ConfigError naming two files that differ."""
    by_kind = {is_conllu(path): path for path in reversed(list(paths))}
    if len(by_kind) > 1:
        raise ConfigError(
            f"{by_kind[True]} has dependencies, {by_kind[False]} trees in brackets: a model cannot mix their labels"
        )
    return True in by_kind
