r"""N-best lists as the rows of a table: CSV or TSV with a line of names, JSON lines, or a file of Parquet or Arrow.

    id,text,score,source,lm                 {"id": 7, "text": "so it is", "score": -1.5, "lm": -3.5}
    7,so it is,-1.5,so ist es,-3.5          {"id": 7, "text": "so is it", "score": -2.0, "lm": -4.5}
    7,so is it,-2.0,so ist es,-4.5

A row is a hypothesis, and a mapping of columns whatever it was read from. Columns have the names `id` (or
`segment_id`), `text`, `score` and `source`, in small letters or capitals, or those that the options say; score and
source may be absent. Every other column with a number in the first row is a feature (higher is better), unless the
option `features` names some; other columns are not read. A run of rows with the same id is a list, best first.

What would be read by chance is an error: a column without a value in the first row and with a number in a later one; a
column such as `pred_text`, or one with nearly the same words, beside `text`, which may then be the transcript; a column
that counts the rows. The index that pandas and R write has no name, or one of theirs, and is no feature.

A list that was not changed is written as it was read. A rescored one, and one of another format, is written as JSON
lines, which need no line of names: its rows with the id, the text, the total, the source and all features. Rows that
were read as JSON keep their other keys. Where a feature is called `score`, the total stands under `total`, and a table
with both is read so.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from math import isnan
from numbers import Real
from typing import Any, ClassVar

from rerank_adapters.formats.columnar import ENDINGS, open_lines
from rerank_adapters.formats.items import SCORE, Item, Reader
from rerank_adapters.formats.list_files import files_in
from rerank_adapters.formats.one_line import one_line
from rerank_adapters.formats.records import OUTPUT_KEYS, REFERENCE_KEYS, SOURCE_KEYS, id_of
from rerank_adapters.formats.splicing import reordered, with_end
from rerank_adapters.formats.table_rows import rows_of
from rerank_plugins import ConfigError, FormatError, NBestList, Rescored, option
from rerank_plugins.core.errors import suggestion
from rerank_plugins.core.json_and_toml import json_line, read_json
from rerank_plugins.core.nbest import NO_SPARSE

MISSING = ("", "NA", "N/A", "#N/A", "NULL", "null", "None", "<NA>")  # as programs write a cell without a value
TOTAL = "total"  # the column of the total where `score` is a feature
INDEX = re.compile(r"|Unnamed: \d+|__index_level_\d+__")  # names of the column that counts the rows of a data frame
MIN_SHARED_WORDS = 0.5  # of the words of two columns that may both be the hypotheses
MIN_DOUBTED_ROWS = 3  # rows from which on chance is unlikely
MAX_COMPARED_ROWS = 40  # rows in which columns of texts are compared


def is_missing(value: object) -> bool:
    """Whether a cell has no value: None, nan, the NA of pandas, or what programs write in its place."""
    if isinstance(value, str):
        return value in MISSING
    return value is None or (isinstance(value, float) and isnan(value)) or repr(value) in ("<NA>", "NaT")


def is_number(value: object) -> bool:
    """Whether a cell has a number or the text of one; truth values are none."""
    if isinstance(value, str):
        try:
            float(value)
        except ValueError:
            return False
        return True
    return isinstance(value, Real) and not isinstance(value, bool)


# --- columns


@dataclass(frozen=True)
class Roles:
    """The names of the columns; where one is None, the usual name is taken if there is such a column."""

    id: str | None = None
    text: str | None = None
    score: str | None = None
    source: str | None = None

    def named(self, columns: Iterable[str], texts: Collection[str] = ()) -> dict[str, str]:
        """By role, the column that has it; `texts` are those columns that hold texts.

        Raises ConfigError for one that is missing, and where no column is named for the hypotheses and two may have
        them: beside `pred_text`, `text` is a transcript.
        """
        known = list(columns)
        small = {name.lower(): name for name in reversed(known)}
        usual = {
            "id": ("id", "segment_id"),
            "text": ("text",),
            "score": (TOTAL, SCORE) if TOTAL in small and SCORE in small else (SCORE,),
            "source": ("source",),
        }
        found = {}
        for role, names in usual.items():
            own = getattr(self, role)
            name = next((small[name] for name in names if name in small), None) if own is None else own
            if name in known:
                found[role] = name
            elif own is not None or role in ("id", "text"):
                wanted = own or names[0]
                fault = f"no column {wanted!r} for the {role} of each hypothesis{suggestion(wanted, known)}"
                raise ConfigError(f"{fault}; name it by `{role}=`")
        rival = next((name for name in known if name in texts and has_outputs(name)), None)
        if self.text is None and rival not in (None, found["text"]):
            raise ConfigError(f"{found['text']!r} and {rival!r} may both be the hypotheses: name the column by `text=`")
        return found


def has_outputs(name: str) -> bool:
    """Whether a column is called as outputs are: `pred_text`, or `pred_text_stt_en_large` as NeMo appends the model."""
    small = name.lower()
    return small in OUTPUT_KEYS or small.startswith(tuple(f"{key}_" for key in OUTPUT_KEYS if key.endswith("text")))


class Doubts:
    """What a column may be by chance, as the rows of a table show it: the numbers of the rows, or the same words."""

    def __init__(self, row: Mapping[str, Any], text: str, others: Collection[str], numbers: Collection[str]) -> None:
        self._text, self._counting, self._rows, self._lists = text, {*numbers}, 0, 0
        known = (*REFERENCE_KEYS, *SOURCE_KEYS)
        self._words = {name: [0, 0] for name in others if isinstance(row[name], str) and name.lower() not in known}

    def add(self, row: Mapping[str, Any], *, is_first: bool) -> None:
        """Take in a row, which may be the first one of its list."""
        self._rows, self._lists = self._rows + 1, self._lists + is_first
        if self._counting:
            places = (self._rows - 1, self._rows)
            self._counting = {name for name in self._counting if _whole(row.get(name)) in places}
        if self._words and self._rows <= MAX_COMPARED_ROWS:
            words = {*str(row.get(self._text)).lower().split()}
            for name, counts in self._words.items():
                others = {*str(row.get(name)).lower().split()}
                counts[0] += len(words & others)
                counts[1] += max(len(words), len(others))

    def check(self, path: str) -> None:
        """Raise FormatError, at the end of a table, for what can hardly be chance."""
        if self._rows < MIN_DOUBTED_ROWS:
            return
        if self._counting and self._lists > 1:
            fault = f"{min(self._counting)!r} counts the rows, so it is no feature"
            raise FormatError(f"{fault}: name the features, as features=['NAME', …]", path=path)
        for name, (shared, words) in self._words.items():
            if shared >= MIN_SHARED_WORDS * max(1, words):
                fault = f"{self._text!r} and {name!r} have nearly the same words, and may both be the hypotheses"
                raise FormatError(f"{fault}: name the column by `text=`", path=path)


def _whole(value: Any) -> int | None:
    try:
        return int(value) if float(value) == int(value) else None
    except (TypeError, ValueError, OverflowError):
        return None


# --- the format


@dataclass(frozen=True)
class Tables(Reader):
    """Rows of a table, one for each hypothesis: CSV or TSV with a line of names, JSON lines, Parquet or Arrow."""

    reads_json: ClassVar[bool] = True

    id: str = option("", doc="column of the segment's id; default: id or segment_id")
    text: str = option("", doc="column of the hypothesis; default: text")
    score: str = option("", doc="column of the total score; default: score, if there is one")
    source: str = option("", doc="column of the source sentence; default: source, if there is one")
    features: tuple[str, ...] = option((), doc="columns that are features; default: all others that have numbers")

    def folder_items(self, folder: str) -> Iterator[Item]:
        """Yield the rows of the Parquet and Arrow files of a folder, in the order of their names."""
        for path in map(str, files_in(folder, ENDINGS)):
            with open_lines(path) as lines:
                yield from (item._replace(path=path) for item in self.items(lines, path))

    def items(self, lines: Iterable[str], path: str) -> Iterator[Item]:
        """Yield the hypotheses of the rows. Raises FormatError, with the line, for a row unlike the first one."""
        rows = rows_of(lines, path)
        first = next(rows, None)
        if first is None:
            return
        try:
            roles, names = self._roles(first.columns)
        except ConfigError as error:
            raise FormatError(str(error), path=path, line=first.line) from None
        id_at, text_at, total_at, source_at = roles["id"], roles["text"], roles.get("score"), roles.get("source")
        filled = {*roles.values(), *(name for name, value in first.columns.items() if not is_missing(value))}
        numbers, texts = (() if self.features else names), (() if self.text else first.columns.keys() - roles.values())
        doubts = Doubts(first.columns, text_at, texts, numbers)
        before, source_before = "", None
        for row in chain([first], rows):
            columns, line = row.columns, row.line
            id_, text = id_of(columns.get(id_at)), _text(text_at, columns.get(text_at), path, line)
            if not id_:
                raise FormatError(f"the {id_at} is missing", path=path, line=line)
            source = columns.get(source_at) if source_at else None
            source = None if source is None or source_at is None else _text(source_at, source, path, line) or None
            if id_ == before and source != source_before:
                fault = f"another {source_at} than in the first row of segment {id_}: {source!r:.60}"
                raise FormatError(fault, path=path, line=line)
            for name in {SCORE} - filled if self.features else columns.keys() - filled:
                _check_empty(name, columns.get(name), path, line)
            doubts.add(columns, is_first=id_ != before)
            before, source_before = id_, source
            values = [columns.get(name) for name in names]
            total = columns.get(total_at) if total_at else None
            yield Item(id_, line, one_line(text), total, names, values, NO_SPARSE, source, row.raw)
        doubts.check(path)

    def _roles(self, row: Mapping[str, Any]) -> tuple[dict[str, str], tuple[str, ...]]:
        """The column of each role, and the features. Raises ConfigError for one that is missing or uncertain."""
        texts = {name for name, value in row.items() if isinstance(value, str) and not is_number(value)}
        own = Roles(self.id or None, self.text or None, self.score or None, self.source or None)
        roles = own.named(row, texts)
        if not self.score and is_missing(row.get(roles.get("score", ""))):
            roles.pop("score", None)  # a table without scores may have the column
        if missing := next((name for name in self.features if name not in row), None):
            raise ConfigError(f"no column {missing!r} for a feature{suggestion(missing, row)}")
        others = (name for name in row if name not in roles.values() and not INDEX.fullmatch(name))
        return roles, self.features or tuple(name for name in others if is_number(row[name]))

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
        of_total = self.score or (TOTAL if SCORE in ordered.feature_names and not _is_total(ordered) else SCORE)
        roles = {"id": self.id or "id", "text": self.text or "text", "source": self.source or "source"}
        roles |= {"score": of_total} if of_total != SCORE or SCORE not in ordered.feature_names else {}
        if taken := next(((role, name) for role, name in roles.items() if name in ordered.feature_names), None):
            role, name = taken
            raise ConfigError(f"a feature is called {name!r}: name another column for the {role}, as {role}=COLUMN")
        for hypothesis in ordered:
            row = dict(read_json(hypothesis.raw)) if hypothesis.raw.lstrip().startswith("{") else {}
            row |= {roles["id"]: nbest.segment_id, roles["text"]: one_line(hypothesis.text)}
            row |= {} if hypothesis.score is None else {of_total: hypothesis.score}
            row |= {} if nbest.source is None else {roles["source"]: nbest.source}
            row |= dict(zip(ordered.feature_names, hypothesis.features, strict=True))
            yield json_line(row | dict(hypothesis.sparse)) + "\n"


def _is_total(nbest: NBestList) -> bool:
    """Whether the only feature is `score`, the total, as lists have it whose only numbers are totals."""
    return nbest.feature_names == (SCORE,) and all(h.features == (h.score,) for h in nbest)


def _text(name: str, value: Any, path: str, line: int) -> str:
    """The text of a column; a whole number is one too. Raises FormatError for other values of JSON."""
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise FormatError(f"{name} is {value!r:.60}, wanted a text", path=path, line=line)
    return str(value).strip()


def _check_empty(name: str, value: Any, path: str, line: int) -> None:
    """Raise FormatError for a number in a column that had no value in the first row, and is not read therefore."""
    if is_number(value) and not INDEX.fullmatch(name):
        fault = f"{name} is {value!r:.60}, but the first row has no number there"
        wanted = "wanted one in each row, or the features named by the option features=['NAME', …]"
        raise FormatError(f"{fault}; {wanted}", path=path, line=line)
