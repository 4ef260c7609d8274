"""Which format of n-best lists the first lines of a file show, or the names and first lines of the files of a folder.

The first row of the catalogue counts whose sign is there; the sign of a plugin's format beside it is an error. A shape
that no format has is answered with the option that would read it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from rerank_adapters.formats.catalogue import BAR, FORMATS, NUMBER, Row
from rerank_adapters.formats.columnar import kind_of, open_lines
from rerank_adapters.formats.list_files import lists_in
from rerank_adapters.formats.no_text import check_no_dump
from rerank_adapters.formats.records import json_records
from rerank_adapters.formats.shapes import advice
from rerank_plugins import FormatError
from rerank_plugins.core.json_and_toml import read_json
from rerank_plugins.kit.files.text import STANDARD, display_name, peek_lines

MAX_LINES = 40  # lines by which a format is recognised
MAX_CHARACTERS = 1 << 18  # of these lines that are searched
MAX_FILES = 5  # files of a folder by which a format is recognised
RANKED = re.compile(r"[1-9][0-9]*best_recog")  # a folder of ESPnet

logger = logging.getLogger(__name__)


class Shown(NamedTuple):
    """The name of the format that lines show, and whether they can be no text."""

    name: str
    sure: bool


WAYS = (
    "plain,n=N (N lines for each segment)",
    "kaldi (utt-1 words)",
    "espnet (utterance words)",
    "nemo,beam=N (text<TAB>score)",
    "moses (id ||| text ||| features)",
    "rows,id=COLUMN,text=COLUMN (CSV or TSV whose first line names the columns)",
)
TWO_COLUMNS = rf"\A(?:{NUMBER} \|\|\| (?:(?!\|\|\|).)*\n)+\Z"
ADVICE = (  # shapes that no format has, and what would read them
    (rf"(?=[\s\S]*(?m:^(\d+) .*\n\1 )){TWO_COLUMNS}",
     "reads as id ||| text; wanted a third column, which may be empty: id ||| text |||"),
    (TWO_COLUMNS,
     "reads as score ||| text; name the number of lines of each segment, --format plain,n=N,prefix=true"),
)  # fmt: skip
JSON = r"\A\s*(?:\{|\[\s*(?:[\[{\"]|\Z))"
JSON_WANTED = (
    'expected an object with "hyps", a list of texts (docs/formats.md has other JSON), or a hypothesis in each, whose'
    " keys --format rows,id=KEY,text=KEY names"
)
GROUPS = (
    "reads as groups of lines between blank lines; wanted as many lines for each segment, --format plain,n=N, or its id"
    " before each, id ||| text |||"
)


def shown_by(lines: Sequence[str], formats: Mapping[str, Any] = FORMATS) -> Shown | None:
    """What the first lines of a file show; None where they show no format.

    The `formats` are rows and classes of plugins. Raises FormatError, without a path, where the lines have the signs of
    a row and of a plugin's class.
    """
    shown = _shown(lines[:MAX_LINES])
    for sure, kind in ((True, "sign"), (False, "doubt")):
        signs = ((name, str(getattr(format, kind, ""))) for name, format in formats.items())
        found = [name for name, sign in signs if sign and re.search(sign, shown)]
        rows = [name for name in found if isinstance(formats[name], Row)]
        others = [name for name in found if name not in rows]
        if len(others) + bool(rows) > 1:
            ways = " or ".join(f"--format {name}" for name in (*rows[:1], *others))
            raise FormatError(f"has the signs of several formats; name one: {ways}")
        if found:
            return Shown(found[0], sure)
    return None


def _shown(lines: Sequence[str]) -> str:
    """The lines that are not empty, of which a document of many megabytes in one line is not searched to its end."""
    shown, size = list[str](), 0
    for line in lines:
        if line.strip() and size < MAX_CHARACTERS:
            shown.append(f"{line[:MAX_CHARACTERS].rstrip()}\n")
            size += len(shown[-1])
    return "".join(shown)


def guess(lines: Sequence[str], path: str, formats: Mapping[str, Any] = FORMATS) -> Shown:
    """What the first lines of a file show. Raises FormatError, with the option that would read it, where nothing is."""
    filled = [line for line in lines[:MAX_LINES] if line.strip()]
    if not filled:
        raise FormatError("the file holds no n-best list", path=path)
    try:
        found = shown_by(lines, formats)
    except FormatError as error:
        raise FormatError(error.message, path=path, line=1) from None
    if found is None and kind_of(path):
        return Shown("rows", sure=False)  # with one hypothesis for each segment
    if found is None:
        raise FormatError(_advice(lines[:MAX_LINES], filled), path=path, line=1)
    return found


def _advice(lines: Sequence[str], filled: Sequence[str]) -> str:
    """What is said of lines that show no format: the option that would read them."""
    shown = _shown(filled)
    first = filled[0].strip()
    short = first if len(first) <= 60 else f"{first[:57]}…"
    for sign, said in ADVICE:
        if re.search(sign, shown):
            return said
    if any(not line.strip() for line in lines[1:-1]):
        return GROUPS
    message = f"the first line, {short!r}, does not show the format of these lists"
    if re.search(JSON, shown):
        return f"{message}: {_advice_of_record(lines) or JSON_WANTED}"
    return f"{message}; name it with --format: {'; '.join(WAYS)}"


def _advice_of_record(lines: Sequence[str]) -> str:
    """The option that would read the first record of JSON; "" where it has no array of texts or objects."""
    try:
        record = next(json_records(lines, ""), None)
    except FormatError:  # a document of which these are only the first lines
        return ""
    option = record and advice(record.value)
    return f"{option} reads it" if option else ""


def unambiguous(lines: Sequence[str]) -> str | None:
    """The name of the format of lists that these lines show, where they can be no text; otherwise None."""
    filled = [line for line in lines[:MAX_LINES] if line.strip()]
    try:
        shown = shown_by(lines) if filled else None
    except FormatError:
        return None
    if shown is None or not shown.sure:
        return None
    columns = BAR in FORMATS[shown.name].sign
    return shown.name if not columns or all(line.count("|||") > 1 for line in filled) else None


def shows_no_lists(path: str) -> bool:
    """Whether the first lines of a file show no format of lists, as those of a plain text do.

    Raises FormatError for lines that are not text either.
    """
    head = head_of(path)
    if any(line.strip() for line in head):
        try:
            guess(head, path)
        except FormatError:
            check_no_dump(head, path)
        else:
            return False
    return True


def shown_name(path: str) -> str | None:
    """The name of the format that the first lines of a file show; None where they show none, or perhaps by chance."""
    if not Path(path).is_file():
        return None
    try:
        shown = guess(head_of(path), path)
    except FormatError:
        return None
    return shown.name if shown.sure else None


def head_of(path: str | Path) -> list[str]:
    """The first lines of a file; those of stdin are read again by whatever opens it next."""
    if str(path) == STANDARD:
        return peek_lines(path, MAX_LINES)
    with open_lines(path) as lines:
        return list(islice(lines, MAX_LINES))


def guess_file(path: str | Path, formats: Mapping[str, Any] = FORMATS) -> Shown:
    """The format that a file or a folder shows. Raises FormatError, with the option that would read it, for others."""
    if str(path) != STANDARD and Path(path).is_dir():
        return Shown(_guess_folder(Path(path), formats), sure=True)
    if RANKED.fullmatch(Path(path).parent.name):
        return Shown("espnet", sure=True)
    return guess(head_of(path), display_name(path), formats)


def _guess_folder(folder: Path, formats: Mapping[str, Any]) -> str:
    """The format of a folder of lists, by the names of its files or by what the first files with lists show."""
    rows = {name: row for name, row in formats.items() if isinstance(row, Row)}
    names = "".join(f"{path.relative_to(folder)}\n" for path in sorted(folder.rglob("*")) if _is_shown(path))
    for name, row in rows.items():
        if row.folder and re.search(row.folder, names):
            return name
    files = [path for path in sorted(folder.iterdir()) if _is_shown(path)]
    lists = [path for path in files if path.suffix in (".json", ".jsonl")] or (lists_in(str(folder)) if files else [])
    shown = {_of_utterance(path, formats) for path in lists[:MAX_FILES]}
    if len(lists) > 1 and len(shown) == 1 and (name := shown.pop()) and getattr(formats[name], "per_file", False):
        return name
    advice = (
        f"; for a file per utterance name it with --format: {', '.join(n for n, row in rows.items() if row.per_file)}"
    )
    raise FormatError(f"is a folder, expected a file{advice * bool(files)}", path=str(folder))


def _is_shown(path: Path) -> bool:
    return path.is_file() and not path.name.startswith(".")


def _of_utterance(path: Path, formats: Mapping[str, Any]) -> str:
    """The format of a file that holds the list of one utterance; "" for others, such as several JSON lines."""
    try:
        lines = [line for line in head_of(path) if line.strip()]
        shown = shown_by(lines, formats)
    except FormatError:
        return ""
    return shown.name if shown and not (len(lines) > 1 and _is_json(lines[0])) else ""


def _is_json(line: str) -> bool:
    try:
        value = read_json(line)
    except ValueError:
        return False
    return isinstance(value, dict | list)


def format_of(path: str | Path, formats: Mapping[str, Any] = FORMATS) -> str:
    """The name of the format that a file or a folder shows; it is logged where a text could be taken for such lists.

    Raises FormatError as `guess_file` does.
    """
    shown = guess_file(path, formats)
    level = logging.DEBUG if shown.sure else logging.INFO
    logger.log(level, "rerank: %s reads as %s; --format names another format", display_name(path), shown.name)
    return shown.name
