"""The common parts of the formats in JSON: JSON lines, whole documents, and the values that reranking adds to a record.

A file holds JSON lines, one record a line, or a single document, which may span lines. A record holds one list or
several. A rescored list is one JSON line: the record of the list with its hypotheses in the new order, and beside them

    "rerank": {"segment": "utt-7", "scores": [the totals], "features": {"name": [a value per hypothesis]}}

which takes precedence when the line is read again. Other keys are kept. A list of a record that holds several, and one
that was merged or changed, is written as a line of its own.

A hypothesis is read as one line (`one_line.py`), and a warning counts those that were none. A record that is written
again has its texts as they were.

The id of a list is that of the part of the record that holds it, or else that of the record, with -1, -2 … added where
the record holds several lists (`record_keys.py` has the keys). Without an id it is the place of the list in the file,
from 0. An id that occurs twice in a file is an error: the second list may be that of another segment.
"""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from math import inf
from operator import ne
from typing import Any, ClassVar, TypeGuard

from rerank_adapters.formats.delimited import reordered
from rerank_adapters.formats.list_files import files_in, stem
from rerank_adapters.formats.one_line import in_lines
from rerank_adapters.formats.record_keys import ADDED, JsonKeys, KeysError
from rerank_plugins import FormatError, Hypothesis, NBestFormat, NBestList, Rescored, open_text, option
from rerank_plugins.core.json_and_toml import json_line, read_json
from rerank_plugins.core.nbest import NO_SPARSE
from rerank_plugins.kit.files.text import MAX_SCORE, wild

STREAM = "<stdin>"
logger = logging.getLogger(__name__)


class FormatMismatch(ValueError):
    """A record does not have the form of the format; the text states the form expected."""


@dataclass
class JsonList:
    """One list of a record.

    `record`        the record, or the part of it that holds this list
    `texts`         the hypotheses, best first
    `columns`       the decoder's features by name, one value per hypothesis; higher is better
    `scores`        the totals, or None
    `id`            the id of the segment, "" where its keys tell it
    `default_id`    the id of a list that has none
    `joined`        the number of texts that were read as one line, but were several
    """

    record: Any
    texts: list[str]
    columns: dict[str, list[float]] = field(default_factory=dict)
    scores: list[float] | None = None
    id: str = ""
    default_id: str = ""
    joined: int = 0


Part = tuple[JsonList, str, int]


@dataclass(frozen=True)
class JsonFormat(NBestFormat):
    """A format in which a list is a JSON object or array.

    `items`          the key under which an array of hypotheses is put where something stands beside it
    `parallel`       the keys of a record whose values are arrays with a value per hypothesis
    `file_is_list`   whether the only record of a file has the name of the file as its id
    """

    items: ClassVar[str] = ""
    parallel: ClassVar[tuple[str, ...]] = ()
    file_is_list: ClassVar[bool] = False
    reads_json: ClassVar[bool] = True

    id_key: str = option("", doc="key that holds the segment's id; default: id, utt_id, audio_filepath …; none: ids"
                                 " are the places of the lists in the file, from 0")  # fmt: skip

    @abstractmethod
    def lists(self, record: Any) -> Iterator[JsonList]:
        """Yield the lists of a record. Raises FormatMismatch, which states the form expected."""

    @abstractmethod
    def compose(self, texts: Sequence[str]) -> dict[str, Any]:
        """A record with these hypotheses and nothing else."""

    def own_id(self, record: Any, keys: JsonKeys) -> str:
        """The id that a record, or the part of one, has under these keys; "" where it has none."""
        return keys.id_of(record)

    def read_folder(self, folder: str) -> Iterator[NBestList]:
        """Yield the lists of the .json and .jsonl files of a folder, in the order of their names."""
        for path in files_in(folder, (".json", ".jsonl")):
            with open_text(path) as lines:
                yield from self.read(lines, str(path))

    def read(self, lines: Iterable[str], path: str) -> Iterator[NBestList]:
        """Yield the lists of each record. Raises FormatError with the path and the line."""
        names: tuple[str, ...] | None = None
        joined = 0
        for parsed, raw, number in self._unlike_ids(self._parts(lines, path), path):
            nbest = _nbest(parsed, path, number)
            own = raw or record_line(self.tagged(parsed.record, nbest))
            names = nbest.feature_names if names is None else names
            if nbest.feature_names != names:
                has, wanted = (", ".join(features) or "none" for features in (nbest.feature_names, names))
                message = f"the features of segment {nbest.segment_id} are {has}, expected {wanted}"
                raise FormatError(message, path=path, line=number)
            joined += parsed.joined
            yield replace(nbest, hypotheses=(nbest[0]._replace(raw=own), *nbest[1:]))
        if joined:
            texts = "1 hypothesis has" if joined == 1 else f"{joined:,} hypotheses have"
            logger.warning("rerank: warning: %s: %s line ends or tabs, which are read as spaces", path, texts)

    def _parts(self, lines: Iterable[str], path: str) -> Iterator[Part]:
        """The lists of all records, each with the text and the number of its line; "" for a part of a record."""
        position = 0
        for index, (record, raw, number, alone) in enumerate(json_records(lines, path, self.file_is_list)):
            try:
                parts = list(self._with_added(record))
            except (FormatMismatch, KeysError) as error:
                raise FormatError(str(error), path=path, line=number) from None
            name = stem(path) if alone else str(index)
            for part, parsed in enumerate(parts, 1):
                default = str(position)
                if self.file_is_list:
                    default = name if len(parts) == 1 else f"{name}-{part}"
                parsed.default_id = default
                yield parsed, raw if len(parts) == 1 else "", number
                position += 1

    @staticmethod
    def _unlike_ids(parts: Iterable[Part], path: str) -> Iterator[Part]:
        """The parts, whose own ids all differ. Raises FormatError for one that comes again, but not in a stream."""
        lines: dict[str, int] = {}
        for parsed, raw, number in parts:
            if parsed.id and path != STREAM:
                if parsed.id in lines:
                    first = f"the id {parsed.id!r} occurs twice, first on line {lines[parsed.id]}"
                    other = "name another key with the format's option id_key, or number the lists with id_key=none"
                    raise FormatError(f"{first}; {other}", path=path, line=number)
                lines[parsed.id] = number
            yield parsed, raw, number

    def write(self, nbest: NBestList, rescored: Rescored | None = None) -> Iterator[str]:
        """Yield the record of a list as it was read or, with `rescored`, in its order with its totals and features."""
        raw = "".join(hypothesis.raw for hypothesis in nbest)
        record = self.own_record(nbest, raw)
        if rescored is None:
            yield raw if record is not None else record_line(self.tagged(self.compose(nbest.texts), nbest))
            return
        base = self.compose(nbest.texts) if record is None else record
        yield record_line(self.tagged(self.arranged(base, rescored.order), reordered(nbest, rescored)), raw)

    def arranged(self, record: Any, order: Sequence[int]) -> Any:
        """The record with its hypotheses in another order."""
        if isinstance(record, list):
            return [record[row] for row in order]
        keys = [*self.parallel, *([self.items] if self.items else [])]
        changed = {
            key: [record[key][row] for row in order]
            for key in keys
            if isinstance(record.get(key), list) and len(record[key]) == len(order)
        }
        return {**record, **changed}

    def own_record(self, nbest: NBestList, raw: str) -> Any:
        """The record that a list was read from; None where it holds other hypotheses, or several lists."""
        try:
            records = list(self._with_added(read_json(raw)))
        except (ValueError, FormatMismatch):
            return None
        return records[0].record if len(records) == 1 and records[0].texts == nbest.texts else None

    def _identified(self, record: Any) -> Iterator[JsonList]:
        """The lists of a record with their ids. Raises KeysError where `id_key` names a key that holds none."""
        keys = JsonKeys(id_key=self.id_key)
        parts = list(self.lists(record))
        whole = self.own_id(record, keys)
        for number, parsed in enumerate(parts, 1):
            own = self.own_id(parsed.record, keys) if parsed.record is not record else ""
            outer = f"{whole}-{number}" if whole and len(parts) > 1 else whole
            known = "" if self.id_key else parsed.id
            parsed.id = keys.checked_id(known or own or outer, record)
            yield parsed

    def _with_added(self, record: Any) -> Iterator[JsonList]:
        """The lists of a record; where reranking added totals and features to it, these instead of its own."""
        added = record.get(ADDED) if isinstance(record, dict) else None
        for parsed in self._identified(record):
            if isinstance(added, dict):
                if "scores" in added:
                    parsed.scores = _added("scores", added["scores"], parsed)
                if "features" in added:
                    features = added["features"].items() if isinstance(added["features"], dict) else ()
                    parsed.columns = {name: _added(name, column, parsed) for name, column in features}
            texts = in_lines(parsed.texts)
            if texts is not parsed.texts:
                parsed.joined = sum(map(ne, texts, parsed.texts))
                parsed.texts = list(texts)
            yield parsed

    def tagged(self, record: Any, nbest: NBestList) -> dict[str, Any]:
        """The record with the id, the totals and the features of a list, in the order of the record."""
        added: dict[str, Any] = {"segment": nbest.segment_id}
        if all(hypothesis.score is not None for hypothesis in nbest):
            added["scores"] = [hypothesis.score for hypothesis in nbest]
        if nbest.feature_names:
            added["features"] = {name: [h.features[c] for h in nbest] for c, name in enumerate(nbest.feature_names)}
        return {**(record if isinstance(record, dict) else {self.items: record}), ADDED: added}


def texts_of(values: Any, wanted: str) -> list[str]:
    """The values, which must be one or more texts. Raises FormatMismatch otherwise."""
    if not isinstance(values, list) or not values or not all(isinstance(text, str) for text in values):
        raise FormatMismatch(f"expected {wanted}")
    return [text.strip() for text in values]


def are_objects(value: Any) -> TypeGuard[list[dict[str, Any]]]:
    """Whether a value is an array of one or more objects."""
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def number_of(item: Mapping[str, Any], key: str) -> float | None:
    """The number under a key, also where it is written as a text; None where there is none.

    Raises FormatMismatch for one that is not finite, and for one that is too large for a score.
    """
    number = _parsed(item.get(key))
    return None if number is None else _checked(number, key or "a number")


def _parsed(value: Any) -> float | None:
    """A number, also where it is written as a text; None for any other value."""
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return None
    return None if isinstance(value, bool) or not isinstance(value, int | float) else value


def _checked(number: float, name: str) -> float:
    if not _is_finite(number):
        raise FormatMismatch(f"{name} is {number}, expected a finite number")
    if abs(number) > MAX_SCORE:
        raise FormatMismatch(f"{name} {wild(max(-1e308, min(1e308, number)))}")
    return float(number)


def _is_finite(number: float) -> bool:
    """Whether a number is neither nan nor infinite; `isfinite` would fail for a whole number of 400 digits."""
    return number == number and number not in (inf, -inf)


def numbers_of(values: Any, wanted: int, message: str) -> list[float]:
    """The `wanted` numbers of an array. Raises FormatMismatch, with the message, for anything else."""
    numbers = [_parsed(value) for value in values] if isinstance(values, list) else []
    finite = [number for number in numbers if number is not None and _is_finite(number)]
    if len(numbers) != wanted or len(finite) != wanted:
        raise FormatMismatch(message)
    return [_checked(number, "a number") for number in finite]


def complete(columns: Mapping[str, Sequence[float | None]]) -> dict[str, list[float]]:
    """The columns in which every hypothesis has a value."""
    whole = {name: [v for v in column if v is not None] for name, column in columns.items()}
    return {name: column for name, column in whole.items() if len(column) == len(columns[name])}


def _added(name: str, values: Any, parsed: JsonList) -> list[float]:
    count = len(parsed.texts)
    return numbers_of(values, count, f"{name!r} must be {count} finite numbers, one for each hypothesis")


def json_records(lines: Iterable[str], path: str, of_file: bool = False) -> Iterator[tuple[Any, str, int, bool]]:
    """Each record as soon as it is read, the text it was read from, its line, and whether it is the only one of a file.

    The last is found out with `of_file` alone, since the next record must be waited for.
    """
    stream = iter(lines)
    first = next(stream, None)
    if first is None:
        return
    try:
        record = read_json(first)
    except ValueError:
        text = first + "".join(stream)
        try:
            documents = [(read_json(text), text, 1)]
        except ValueError as error:
            documents = _documents(text)
            if not documents:
                line = getattr(error, "lineno", 1)
                message = f"not JSON ({getattr(error, 'msg', error)}); expected JSON lines or one JSON document"
                raise FormatError(message, path=path, line=line) from None
        yield from ((record, raw, line, len(documents) == 1) for record, raw, line in documents)
        return
    numbered = ((number, line) for number, line in enumerate(stream, 2) if line.strip())
    second = next(numbered, None) if of_file else None
    yield record, first, 1, of_file and second is None
    for number, line in chain([second] if second else [], numbered):
        try:
            record = read_json(line)
        except ValueError as error:
            raise FormatError(f"not JSON ({error})", path=path, line=number) from None
        yield record, line, number, False


def _documents(text: str) -> list[tuple[Any, str, int]]:
    """The documents of a text that holds several, as Vosk prints its results, with their texts and first lines.

    Each ends with a bracket at the beginning of a line. Empty for a text of another form.
    """
    documents: list[tuple[Any, str, int]] = []
    raw, start = "", 1
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        raw, start = (raw + line, start) if raw.strip() else (line, number)
        if line.startswith(("}", "]")):
            try:
                documents.append((read_json(raw), raw, start))
            except ValueError:
                continue
            raw = ""
    return [] if raw.strip() else documents


def _nbest(parsed: JsonList, path: str, number: int) -> NBestList:
    columns = list(parsed.columns.values())
    wrong = next((name for name, column in parsed.columns.items() if len(column) != len(parsed.texts)), None)
    if wrong is not None or (parsed.scores is not None and len(parsed.scores) != len(parsed.texts)):
        raise FormatError(f"{wrong or 'the scores'}: not one value per hypothesis", path=path, line=number)
    rows: Sequence[tuple[float, ...]] = list(zip(*columns, strict=True)) if columns else [()] * len(parsed.texts)
    scores: Sequence[float | None] = [None] * len(parsed.texts) if parsed.scores is None else parsed.scores
    hypotheses = tuple(
        Hypothesis(text, row, score, NO_SPARSE, "") for text, row, score in zip(parsed.texts, rows, scores, strict=True)
    )
    return NBestList(parsed.id or parsed.default_id, hypotheses, tuple(parsed.columns), line=number)


def record_line(record: Any, raw: str = "") -> str:
    """A record as a line, with the line end of the line that it was read from."""
    end = "\r\n" if raw.endswith("\r\n") else "\n"
    return json_line(record) + end
