r"""N-best lists as the rows of a table: CSV or TSV with a line of names, JSON lines, or a file of Parquet or Arrow.

    id,text,score,source,lm                 {"id": 7, "text": "so it is", "score": -1.5, "lm": -3.5}
    7,so it is,-1.5,so ist es,-3.5          {"id": 7, "text": "so is it", "score": -2.0, "lm": -4.5}
    7,so is it,-2.0,so ist es,-4.5

A row is a hypothesis. Columns have the names `id` (or `segment_id`), `text`, `score` and `source`, or those that the
options say; score and source may be absent. Every other column with a number in the first row is a feature (higher is
better), unless the option `features` names some; other columns are not read. A column without a value in the first row
and with a number in a later one is an error, and so is a column such as `pred_text` beside `text`, which may then be
the transcript: an option names the one that is meant. A run of rows with the same id is a list,
best first. The line of names shows what separates the columns: a tab, a comma or a semicolon. Values in quotation marks
may hold these, and line ends, which are read as spaces. Rows of Parquet and Arrow are read as JSON lines (columnar.py).

A list that was not changed is written as it was read. A rescored one, and one of another format, is written as JSON
lines, which need no line of names: its rows with the id, the text, the total, the source and all features. Rows that
were read as JSON keep their other keys.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

from rerank_adapters.formats.columnar import ENDINGS, open_lines
from rerank_adapters.formats.delimited import reordered, with_end
from rerank_adapters.formats.frames import Roles
from rerank_adapters.formats.list_files import files_in
from rerank_adapters.formats.named_columns import Row, delimited_rows
from rerank_adapters.formats.one_line import one_line
from rerank_plugins import ConfigError, FormatError, Hypothesis, NBestFormat, NBestList, Rescored, option
from rerank_plugins.core.errors import suggestion
from rerank_plugins.core.json_and_toml import json_line, read_json
from rerank_plugins.core.nbest import NO_SPARSE
from rerank_plugins.kit.files.text import finite_value

MISSING = ("", "NA", "N/A", "NULL", "null", "None", "<NA>")  # as programs write a cell without a value


@dataclass(frozen=True)
class RowsFormat(NBestFormat):
    """Rows of a table, one for each hypothesis: CSV or TSV with a line of names, JSON lines, Parquet or Arrow."""

    reads_json: ClassVar[bool] = True

    id: str = option("", doc="column of the segment's id; default: id or segment_id")
    text: str = option("", doc="column of the hypothesis; default: text")
    score: str = option("", doc="column of the total score; default: score, if there is one")
    source: str = option("", doc="column of the source sentence; default: source, if there is one")
    features: tuple[str, ...] = option((), doc="columns that are features; default: all others that have numbers")

    def read(self, lines: Iterable[str], path: str) -> Iterator[NBestList]:
        """Yield one list per run of rows with the same id. Raises FormatError with the path and the line."""
        roles: dict[str, str] = {}
        names: tuple[str, ...] = ()
        filled: set[str] = set()  # columns with a value in the first row
        current, source, start = "", None, 0
        hypotheses: list[Hypothesis] = []
        for row in _rows(lines, path):
            if not roles:
                roles = self._roles(row, path)
                names = self._feature_names(row, roles, path)
                filled = {*roles.values()} | {name for name, value in row.columns.items() if not _is_missing(value)}
            _check_empty(row, filled, ("score",) if self.features else row.columns, path)
            id_ = _text(row, roles["id"], path)
            if not id_:
                raise FormatError(f"the {roles['id']} is missing", path=path, line=row.line)
            if hypotheses and id_ != current:
                yield NBestList(current, tuple(hypotheses), names, source, line=start)
                hypotheses = []
            of_row = _text(row, roles["source"], path) or None if "source" in roles else None
            if not hypotheses:
                current, source, start = id_, of_row, row.line
            elif of_row != source:
                fault = f"another {roles['source']} than in the first row of segment {id_}: {of_row!r:.60}"
                raise FormatError(fault, path=path, line=row.line)
            score = _number(row, roles["score"], path) if "score" in roles else None
            features = tuple(_number(row, name, path) for name in names)
            text = one_line(_text(row, roles["text"], path))
            hypotheses.append(Hypothesis(text, features, score, NO_SPARSE, row.raw))
        if hypotheses:
            yield NBestList(current, tuple(hypotheses), names, source, line=start)

    def read_folder(self, folder: str) -> Iterator[NBestList]:
        """Yield the lists of the Parquet and Arrow files of a folder, in the order of their names."""
        for path in files_in(folder, ENDINGS):
            with open_lines(path) as lines:
                yield from self.read(lines, str(path))

    def spelling(self, text: str) -> str:
        """The text as one line."""
        return one_line(text)

    def write(self, nbest: NBestList, rescored: Rescored | None = None) -> Iterator[str]:
        """Yield the lines of a list, as they were read or, otherwise, a line of JSON for each hypothesis.

        Raises ConfigError for a feature that is called as one of the other columns.
        """
        lines = nbest.lines
        if rescored is None and all(lines):
            yield from (with_end(line, "\n") for line in lines[:-1])
            yield from lines[-1:]
            return
        ordered = nbest if rescored is None else reordered(nbest, rescored)
        id_, text, total, source = self.id or "id", self.text or "text", self.score or "score", self.source or "source"
        if taken := [name for name in ordered.feature_names if name in (id_, text, total, source)]:
            role = {id_: "id", text: "text", total: "score", source: "source"}[taken[0]]
            raise ConfigError(f"a feature is called {taken[0]!r}: name another column for the {role}, as {role}=COLUMN")
        for hypothesis in ordered:
            row: dict[str, Any] = _record(hypothesis.raw)
            row |= {id_: nbest.segment_id, text: one_line(hypothesis.text)}
            row |= {} if hypothesis.score is None else {total: hypothesis.score}
            row |= {} if nbest.source is None else {source: nbest.source}
            row |= dict(zip(ordered.feature_names, hypothesis.features, strict=True))
            yield json_line(row | dict(hypothesis.sparse)) + "\n"

    def _roles(self, row: Row, path: str) -> dict[str, str]:
        """By role, the column of the table that has it. Raises FormatError for one that is missing, or not certain."""
        usual = "source" if "source" in row.columns else None
        try:
            own = Roles(self.id or None, self.text or None, self.score or None, self.source or usual)
            texts = {name for name, value in row.columns.items() if isinstance(value, str) and not _is_number(value)}
            roles = own.named(row.columns, texts)
        except ConfigError as error:
            raise FormatError(str(error), path=path, line=row.line) from None
        if not self.score and _is_missing(row.columns.get(roles.get("score", ""))):
            roles.pop("score", None)  # a table without scores may have the column
        return roles

    def _feature_names(self, row: Row, roles: Mapping[str, str], path: str) -> tuple[str, ...]:
        """The columns that are features, by the options or by the first row. Raises FormatError for a missing one."""
        for name in self.features:
            if name not in row.columns:
                message = f"no column {name!r} for a feature{suggestion(name, row.columns)}"
                raise FormatError(message, path=path, line=row.line)
        others = [name for name in row.columns if name not in roles.values()]
        return self.features or tuple(name for name in others if _is_number(row.columns[name]))


def _rows(lines: Iterable[str], path: str) -> Iterator[Row]:
    """The rows of a table, by the form of its first line. Raises FormatError for lines that are not rows."""
    numbered = enumerate(lines, 1)
    first = next(numbered, None)
    if first is None:
        return
    if first[1].lstrip().startswith("{"):
        yield from (_json_row(line, number, path) for number, line in chain([first], numbered) if line.strip())
    else:
        yield from delimited_rows(first[1], numbered, path)


def _json_row(line: str, number: int, path: str) -> Row:
    try:
        record = read_json(line)
    except ValueError as error:
        raise FormatError(f"not JSON ({error})", path=path, line=number) from None
    if not isinstance(record, dict):
        raise FormatError(
            f"found {line.strip()!r:.60}, expected an object with a column in each key", path=path, line=number
        )
    return Row(record, number, line)


def _text(row: Row, name: str, path: str) -> str:
    """The text of a column; a whole number is one too. Raises FormatError for other values of JSON."""
    value = row.columns.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise FormatError(f"{name} is {value!r:.60}, wanted a text", path=path, line=row.line)
    return value.strip()


def _number(row: Row, name: str, path: str) -> float:
    """The number of a column. Raises FormatError for one that is missing, or not finite."""
    value = row.columns.get(name)
    if value is None or isinstance(value, bool) or not isinstance(value, str | int | float):
        raise FormatError(f"{name} is {value!r:.60}, wanted a finite number", path=path, line=row.line)
    return finite_value(str(value), name, path, row.line)


def _is_number(value: object) -> bool:
    if isinstance(value, bool):
        return False
    if isinstance(value, str):
        try:
            float(value)
        except ValueError:
            return False
        return True
    return isinstance(value, int | float)


def _check_empty(row: Row, filled: Collection[str], names: Iterable[str], path: str) -> None:
    """Raise FormatError for a number in a column that had no value in the first row, and is not read therefore."""
    for name in names:
        value = row.columns.get(name)
        if name not in filled and _is_number(value):
            fault = f"{name} is {value!r:.60}, but the first row has no number there"
            wanted = "wanted one in each row, or the features named by the option features=['NAME', …]"
            raise FormatError(f"{fault}; {wanted}", path=path, line=row.line)


def _is_missing(value: object) -> bool:
    return value is None or value in MISSING


def _record(raw: str) -> dict[str, Any]:
    """The record that a hypothesis was read from, if it is one of JSON; otherwise an empty one."""
    return dict(read_json(raw)) if raw.lstrip().startswith("{") else {}
