"""Records of JSON: the values at a path, the ids of the records, and a stream of them that holds one at a time.

Lists, references and outputs take the keys of their records from here, and find ids by one rule. The id is the text or
whole number under the first of `ID_KEYS` that a record has, or else the name of the audio file under one of
`FILE_KEYS`, without folder and ending: NeMo's `wav/utt-7.flac` is `utt-7`. Without either the place of the record is
its id. But where a key has another value in each record, and these values do not merely count the records, nothing is
counted: the key probably has the ids, and `id_key` must name it, or say `none`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from json import JSONDecodeError, JSONDecoder
from typing import Any, Literal, NamedTuple

from rerank_adapters.formats.list_files import stem
from rerank_plugins import FormatError

Role = Literal["source", "reference", "output"]

ID_KEYS = (
    "id", "utt_id", "utterance_id", "uttid", "utt", "key", "segment_id", "seg_id", "sent_id", "audio_id", "sample_id",
    "example_id", "custom_id", "uid", "uuid", "ID", "segment",
)  # fmt: skip
FILE_KEYS = (
    "audio_filepath", "audio_file", "audio_path", "audio", "wav", "wav_path", "wav_file", "wav_filename", "file",
    "file_name", "filename", "path",
)  # fmt: skip
REFERENCE_KEYS = ("ref", "reference", "ref_text", "reference_text", "target", "target_text", "ground_truth", "gold")
OUTPUT_KEYS = (
    "hyp", "hypothesis", "hyp_text", "pred", "pred_text", "prediction", "predicted_text", "mt", "generated_text",
    "translation_text", "completion", "response",
)  # fmt: skip
TEXT_KEYS = (
    "text", "txt", "transcript", "transcription", "sentence", "raw_text", "normalized_text", "output", "translation",
)  # fmt: skip
SOURCE_KEYS = ("source", "src", "source_text", "src_text", "source_sentence", "input")
OF_ROLE: Mapping[Role, tuple[str, ...]] = {
    "source": SOURCE_KEYS, "reference": REFERENCE_KEYS, "output": OUTPUT_KEYS,
}  # fmt: skip
NO_IDS = "none"  # the `id_key` under which ids are not read
ADDED = "rerank"  # the key of the values that reranking adds to a record, its id among them
MAX_FILE_NAME = 1000  # characters of a file name; the audio itself is longer
MAX_REMEMBERED = 10_000  # records whose values are compared to find a key that may hold ids

STRING_OR_BRACKET = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|([\[{])|([\]}])')
BRACKET = re.compile(r"[\[\]{}]")
BLANK = re.compile(r"[ \t\r\n]*")
DECODER = JSONDecoder()
OPEN, CLOSE = object(), object()
WANTED = "expected JSON lines or one JSON document"


# --- paths


def found(value: Any, path: str) -> list[Any]:
    """All values at a path: `a.b` a key in a key, `[]` each element, `-1` an element, `**a|b` the
    objects with a key a or b.

    >>> found({"a": {"b": [[1, 2], [3]]}}, "a.b.[].0"), found([{"x": {"a": 1}}], "**a"), found(7, "")
    ([1, 3], [{'a': 1}], [7])
    """
    here = [value]
    for step in path.split(".") if path else ():
        if step == "[]":
            here = [element for each in here if isinstance(each, list) for element in each]
        elif step.startswith("**"):
            here = [holder for each in here for holder in _holders(each, {*step[2:].split("|")})]
        elif step.removeprefix("-").isdigit():
            at = int(step)
            here = [each[at] for each in here if isinstance(each, list) and -len(each) <= at < len(each)]
        else:
            here = [each[step] for each in here if isinstance(each, dict) and each.get(step) is not None]
    return here


def _holders(value: Any, keys: Set[str]) -> Iterator[Any]:
    if isinstance(value, dict) and not keys.isdisjoint(value):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _holders(inner, keys)


# --- ids


class Ids:
    """The ids of the records of a file under `key`, or under the usual keys, and what may be ids though none is read.

    `no_ids` are keys that hold no ids of segments, though their values differ.
    """

    def __init__(self, key: str = "", no_ids: Collection[str] = ()) -> None:
        self.key = key
        self._no_ids = {*no_ids, ADDED, *TEXT_KEYS, *(key for keys in OF_ROLE.values() for key in keys)}
        self._count = 0
        self._values: dict[str, set[Any]] | None = None  # by key, where all of them have been different so far
        self._counting: set[str] = set()  # keys whose values have been the places of the records so far
        self._lines: dict[str, int] = {}

    def known(self, record: Any) -> str:
        """The id of a record; "" for a record without one, and for a value that is not an object."""
        if not isinstance(record, dict) or self.key == NO_IDS:
            return ""
        added = record.get(ADDED)
        if isinstance(added, dict) and "segment" in added:
            return str(added["segment"])
        if self.key:
            return id_of(record.get(self.key))
        for key in ID_KEYS:
            if key in record and key not in self._no_ids and (own := id_of(record[key])):
                return own
        for key in FILE_KEYS:
            if key in record and (own := _file_id(record[key])):
                return own
        return ""

    def next(self, record: Any) -> str:
        """The id of the next record of the file. Raises ValueError where `key` names a key that holds none."""
        own = self.known(record)
        if not own and self.key not in ("", NO_IDS):
            raise ValueError(f"no id under {self.key!r}, which id_key names{keys_found(record)}")
        if not self.key:
            self._remember({} if own or not isinstance(record, dict) else record)
        return own

    def check_new(self, id_: str, line: int) -> None:
        """Raise ValueError for an id that another record has, on an earlier line."""
        if id_ in self._lines:
            advice = "name another key by the option id_key, or number the records by id_key=none"
            raise ValueError(f"the id {id_!r} occurs twice, first on line {self._lines[id_]}; {advice}")
        self._lines[id_] = line

    def check_hypotheses(self, array: Sequence[Any]) -> None:
        """Raise ValueError for an array whose elements have ids of segments, so that they are no hypotheses of one."""
        first, second = (self.known(element) for element in (array[0], array[-1]))
        if first and second and first != second and not (first.isdigit() and int(first) in (0, 1)):
            fault = f"the elements of an array have the ids {first!r} and {second!r}"
            raise ValueError(f"{fault}, so they are records and no hypotheses: name what leads to each, as at=KEY.[]")

    def check_read(self, path: str) -> None:
        """Raise FormatError, once all records are read, where a key that was not read probably holds their ids."""
        key = next((key for key in self._values or () if key not in self._counting), None)
        if key is not None and self._count > 1:
            advice = f"id_key={key} reads them, id_key=none counts the records"
            differs = f"{key!r} has another value in each record, so it may hold the ids of the segments"
            raise FormatError(f"no record has an id under a usual key, but {differs}: {advice}", path=path)

    def _remember(self, record: Mapping[str, Any]) -> None:
        self._count += 1
        if self._values == {}:
            return
        own = {
            key: value
            for key, value in record.items()
            if key not in self._no_ids and (type(value) is int or (type(value) is str and len(value.split()) == 1))
        }
        if self._values is None:
            self._values, self._counting = {key: set() for key in own}, set(own)
        self._values = {key: seen for key, seen in self._values.items() if key in own and own[key] not in seen}
        if self._count <= MAX_REMEMBERED:
            for key, seen in self._values.items():
                seen.add(own[key])
        places = (self._count - 1, self._count)
        self._counting = {key for key in self._counting & own.keys() if own[key] in places}


def id_of(value: Any) -> str:
    """A text or a whole number as an id (1.0, as tables write numbers, is 1); "" for any other value."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _file_id(file: Any) -> str:
    if isinstance(file, dict):  # Hugging Face's audio: {"path": …, "array": …}
        file = file.get("path")
    return stem(file.strip()) if isinstance(file, str) and 0 < len(file.strip()) < MAX_FILE_NAME else ""


def keys_found(record: Any) -> str:
    """The keys of a record, as the end of an error message."""
    return f" (keys found: {', '.join(map(str, record))})" if isinstance(record, dict) else ""


# --- the stream


class Record(NamedTuple):
    """A value of a file of JSON, the text that it was read from and the number of its first line."""

    value: Any
    raw: str
    line: int


def json_records(
    lines: Iterable[str], path: str, is_list: Callable[[Any], bool] = lambda first: False
) -> Iterator[Record]:
    """Yield each record as soon as it is read: of JSON lines, of documents in a row, and the elements of an array.

    An array is a single record if `is_list` is true of its first element, or if it has none. Otherwise only one element
    is in memory, even where the array spans lines. Raises FormatError, with the line, for what is not JSON.
    """
    inside, whole, values, texts, line = False, False, list[Any](), list[str](), 0
    for value, text, number in _events(lines, path):
        if value is OPEN:
            inside, whole, values, texts, line = True, True, [], [text.lstrip()], number
        elif value is CLOSE:
            if whole:
                yield Record(values, "".join([*texts, text]), line)
            inside = whole = False
        elif not inside:
            yield Record(value, text.lstrip(), number)
        else:
            whole = whole and (bool(values) or is_list(value))
            if whole:
                values.append(value)
                texts.append(text)
            else:
                yield Record(value, text.lstrip(" \t\r\n,") + "\n", number)


def _events(lines: Iterable[str], path: str) -> Iterator[Record]:
    """Each element of an array and each other value, and OPEN and CLOSE where an outermost array begins and ends.

    The texts of the events, joined, are the lines. A value that spans lines is decoded once its brackets are closed.
    """
    wanted = ""  # what comes next in an array: "first", "comma" or "element"
    lead, parts, depth, begun = (
        "",
        list[str](),
        0,
        0,
    )  # the text of no event yet; an unfinished value and its first line
    for number, line in enumerate(lines, 1):
        if parts:
            parts.append(line)
            depth, lowest = _depths(line, 0, depth)
            if lowest > 0:
                continue
        else:
            parts, begun = [line], number
        text, at, counted, here = "".join(parts), 0, 0, begun
        parts = []
        while True:
            start = _after_blanks(text, at)
            if wanted == "comma" and text[start : start + 1] == ",":
                start, wanted = _after_blanks(text, start + 1), "element"
            here, counted = here + text.count("\n", counted, start), start
            mark = text[start : start + 1]
            if not mark:
                lead += text[at:]
                break
            value: Any = OPEN
            if mark == "[" and not wanted:
                wanted, end = "first", start + 1
            elif mark == "]" and wanted in ("first", "comma"):
                value, wanted, end = CLOSE, "", start + 1
            elif wanted == "comma":
                raise FormatError("not JSON (a comma is missing)", path=path, line=here)
            else:
                try:
                    value, end = _decoded(text, start)
                except JSONDecodeError as error:
                    depth, _ = _depths(text, start, 0)
                    if depth <= 0:
                        line_ = here + text.count("\n", start, error.pos)
                        raise FormatError(f"not JSON ({error.msg}); {WANTED}", path=path, line=line_) from None
                    lead, parts, begun = lead + text[at:start], [text[start:]], here
                    break
                wanted = "comma" if wanted else ""
            if not wanted:
                if _after_blanks(text, end) < len(text):
                    raise FormatError(f"not JSON (extra data on the line); {WANTED}", path=path, line=here)
                end = len(text)
            yield Record(value, lead + text[at:end], here)
            lead, at = "", end
    if parts or wanted:
        _check_complete("".join(parts), begun, path)


def _depths(text: str, at: int, depth: int) -> tuple[int, int]:
    """The number of brackets that are open at the end of a text, and the lowest number in it from `at` on."""
    lowest = depth
    if not (BRACKET.search(text, at)):
        return depth, depth
    for match in STRING_OR_BRACKET.finditer(text, at):
        depth += (match[1] is not None) - (match[2] is not None)
        lowest = min(lowest, depth)
    return depth, lowest


def _after_blanks(text: str, at: int) -> int:
    blank = BLANK.match(text, at)
    return at if blank is None else blank.end()


def _decoded(text: str, at: int) -> tuple[Any, int]:
    """The value that begins at a place, and its end. Raises JSONDecodeError."""
    try:
        return DECODER.raw_decode(text, at)
    except JSONDecodeError:
        raise
    except RecursionError:
        raise JSONDecodeError("nested too deeply", "", 0) from None
    except ValueError:  # the limit of sys.set_int_max_str_digits
        raise JSONDecodeError("an integer has too many digits", "", 0) from None


def _check_complete(rest: str, begun: int, path: str) -> None:
    """Raise FormatError for an array or another value whose end is missing, with the line where it goes wrong."""
    rest = rest.rstrip()
    why, line = "cut short: a bracket is not closed", begun
    try:
        _decoded(rest, 0)
    except JSONDecodeError as error:
        why, line = error.msg if rest else why, begun + error.lineno - 1 if rest else begun
    raise FormatError(f"not JSON ({why}); {WANTED}", path=path, line=line)
