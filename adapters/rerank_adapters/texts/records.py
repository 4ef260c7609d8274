"""Texts of records: objects of JSON, or rows of a table with named columns, each in the role that the file is given in.

    {"id": "utt-7", "ref": ["so it is", "it is so"]}
    {"audio_filepath": "wav/utt-7.flac", "duration": 1.2, "text": "so it is", "pred_text": "so is it"}      NeMo
    [{"input": ["so is it", …], "output": "so it is"}, …]                                                    HyPoradise

    id,source,reference
    7,so ist es,so it is                                                                                     CSV or TSV

JSON has an object a line, or one document with an array of them. The keys are the names of columns as well; capitals,
spaces and hyphens in them do not matter. A file in which any record has a key of the role is read by such keys alone:
in a manifest with `pred_text`, a record without one has no output, and its transcript is not one. A record without an
id belongs to the segment whose id is its place in the file, from 0, as in n-best lists. Lists with a column of
references are references too, the same in all rows of an id.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from rerank_adapters.formats.records import ID_KEYS, NO_IDS, OF_ROLE, TEXT_KEYS, Ids, Role, json_records, keys_found
from rerank_adapters.formats.table_rows import SEPARATORS, rows_of
from rerank_adapters.texts.texts import Texts
from rerank_plugins import ConfigError, FormatError
from rerank_plugins.core.json_and_toml import read_json

SEVERAL = ("references", "refs", "targets")  # keys of references alone, which hold texts or one text
NUMBERED = re.compile(r"(ref|reference)_?\d+")  # keys of the references of a segment, one in each
OF_MODEL = re.compile(r"pred_text_\w+")  # NeMo's outputs by the name of the model (`append_pred`)
PARTS = ("segments", "transcription")  # the parts of a recording, of WhisperX and of whisper.cpp, with a text in each
NAME = re.compile(r"[^,;\t]{1,60}")  # of a column
WORD = re.compile(r"[\w.-]+")
DECIMAL = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
GAP = re.compile(r"[ \t\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+")


class JsonKeys(NamedTuple):
    """The keys that were named: of the text, and of the id, where "none" means none; "" means the usual ones."""

    key: str = ""
    id_key: str = ""

    @classmethod
    def named(cls, options: Sequence[str]) -> JsonKeys:
        """The keys of options such as `key=ref` and `id_key=uid`. Raises ConfigError for any other."""
        pairs = dict(option.partition("=")[::2] for option in options)
        if wrong := next((option for option, key in pairs.items() if option not in cls._fields or not key), ""):
            raise ConfigError(f"{wrong!r}; wanted key=KEY or id_key=KEY after `json,`")
        return cls(**pairs)


class Record(NamedTuple):
    """A record with its line, and its values by the usual spelling of their keys."""

    value: Mapping[str, Any]
    line: int
    folded: dict[str, Any]


def fold(key: str) -> str:
    """The usual spelling of a key: `Reference Text` is `reference_text`."""
    return re.sub(r"[\s-]+", "_", key.strip()).lower()


def is_of_role(key: str, role: Role) -> bool:
    """Whether a key, in its usual spelling, holds texts of one role alone."""
    if key in OF_ROLE[role]:
        return True
    if role == "reference":
        return key in SEVERAL or NUMBERED.fullmatch(key) is not None
    return role == "output" and OF_MODEL.fullmatch(key) is not None


# --- what shows records


def records_in(lines: Sequence[str], path: str, *, usual: bool = True) -> list[Record] | None:
    """The records of a file; None where it is neither JSON objects nor a table, with a usual name if `usual`.

    Raises FormatError for wrong ones.
    """
    with_ends = (f"{line}\n" for line in lines)
    if not shows_objects(lines):
        return (
            [_record(row.columns, row.line) for row in rows_of(with_ends, path)]
            if separator_of(lines, usual=usual)
            else None
        )
    records = []
    for value, _, line in json_records(with_ends, path):
        if not isinstance(value, dict):
            raise FormatError("expected an object with a text and an id", path=path, line=line)
        records.append(_record(value, line))
    return records


def shows_objects(lines: Iterable[str]) -> bool:
    """Whether the lines begin with a JSON object, or are one or an array of objects."""
    filled = [line for line in lines if line.strip()]
    if not filled or filled[0].lstrip()[:1] not in ("{", "["):
        return False
    for text in (filled[0], "\n".join(filled)):
        try:
            value = read_json(text)
        except ValueError:
            continue
        return isinstance(value[0] if isinstance(value, list) and value else value, dict)
    return False


def separator_of(lines: Sequence[str], *, usual: bool = False) -> str:
    """The separator of a table whose first line names its columns; "" where the lines are no table.

    They are one if the first line has a usual name among at least two, all of which are words where a space is beside a
    separator, or if it has words alone, of which the first may be empty, and all other lines have as many columns:
    three, or two with a comma or a semicolon between them. With `usual`, the first alone counts.
    """
    header = lines[0] if lines else ""
    separator = next((mark for mark in SEPARATORS if mark in header), "")
    if not separator:
        return ""
    try:
        names = next(csv.reader([header], delimiter=separator, strict=True))
        named = [name for name in names if name]
        bare = [name.strip() for name in named]
        if len(names) < 2 or len({*bare}) < len(bare) or not all(map(NAME.fullmatch, bare)):
            return ""
        words = named == bare or all(WORD.fullmatch(name) or is_usual(fold(name)) for name in bare)
        if words and any(is_usual(fold(name)) for name in names):
            return separator
        if usual or not all(map(WORD.fullmatch, named)) or len(names) < (3 if separator == "\t" else 2):
            return ""
        rows = [row for row in csv.reader(lines[1:], delimiter=separator) if row]
    except csv.Error:
        return ""
    return separator if rows and all(len(row) == len(names) for row in rows) else ""


def is_usual(key: str) -> bool:
    """Whether a key, in its usual spelling, holds ids or texts in some role."""
    return key in ID_KEYS or key in TEXT_KEYS or is_of_any_role(key)


def is_of_any_role(key: str) -> bool:
    """Whether a key, in its usual spelling, holds sources, references or outputs alone."""
    return any(is_of_role(key, role) for role in OF_ROLE)


def _record(value: Mapping[str, Any], line: int) -> Record:
    named = {key or "Unnamed: 0": cell for key, cell in value.items()}  # as pandas calls a column without a name
    folded: dict[str, Any] = {}
    for key, cell in named.items():
        folded.setdefault(fold(key), cell)
    return Record(named, line, folded)


def are_flat(records: Sequence[Record]) -> bool:
    """Whether no record holds arrays or objects, or has the id of another, as those of lists do."""
    return not are_repeated(records) and not any(
        isinstance(v, list | dict) for one in records for v in one.value.values()
    )


def are_repeated(records: Iterable[Record]) -> bool:
    """Whether records have ids that come again, as those of lists with a hypothesis in each row."""
    ids = [id_ for record in records if (id_ := Ids().known(record.folded))]
    return len({*ids}) < len(ids)


# --- the texts of a role


def own_keys(records: Iterable[Record], role: Role) -> list[str]:
    """The keys of a role under which any of the records has a text, several texts or null."""
    found = (key for _, _, folded in records for key, value in folded.items() if is_of_role(key, role) and (
        value is None or _texts_of(value, key, role)))  # fmt: skip
    return list(dict.fromkeys(found))


def record_texts(records: Sequence[Record], path: str, role: Role, keys: JsonKeys) -> Texts:
    """The texts of that role by the ids of their segments, in the order of the file; white space is single.

    Raises FormatError for a record without such a text, for one without an id among others that have one, and for an id
    that occurs twice, unless the rows of a list with a hypothesis in each repeat its source or its reference.
    """
    by_id: dict[str, tuple[str, ...]] = {}
    own, read_by = own_keys(records, role), set[str]()
    repeated = role != "output" and bool(own)  # in rows of lists, which repeat the text of their segment
    ids = Ids(keys.id_key, {key for record in records for key in record.folded if is_of_any_role(key)})
    counted: bool | None = None
    for place, (value, line, folded) in enumerate(records):
        try:
            named = {keys.id_key: value[keys.id_key]} if keys.id_key in value else {}
            id_ = ids.next({key: _as_in_json(cell) for key, cell in (folded | named).items()})
            if counted is not None and counted is bool(id_):
                raise ValueError(f"the record has {'an' if counted else 'no'} id, unlike those before it")
            counted = not id_
            key, texts = _text_of(value, folded, role, keys.key, own)
        except ValueError as error:
            raise FormatError(str(error), path=path, line=line) from None
        id_ = id_ or str(place)
        texts = tuple(GAP.sub(" ", text).strip() for text in texts)
        if id_ in by_id and not (repeated and texts == by_id[id_]):
            other = f", with another {role}" if repeated else ""
            raise FormatError(f"the id {id_!r} occurs twice{other}", path=path, line=line)
        by_id[id_] = texts
        read_by.add(key)
    ids.check_read(path)
    option = f"{form_option(role)} json,id_key=none"
    return Texts(path, by_id, "json", role, " ".join(sorted(read_by)), bool(counted), keys.id_key == NO_IDS, option)


def _text_of(
    value: Mapping[str, Any], folded: Mapping[str, Any], role: Role, key: str, own: Sequence[str]
) -> tuple[str, Sequence[str]]:
    """The key of the texts of a record, and the texts: one, or several references. Raises ValueError."""
    if key:
        if not (texts := _texts_of(value.get(key, folded.get(fold(key))), key, role)):
            raise ValueError(f"no text under {key!r}, which key names{keys_found(value)}")
        return key, texts
    for several in (own, () if own else TEXT_KEYS):
        found = {key: texts for key in several if (texts := _texts_of(folded.get(key), key, role))}
        if len(found) > 1 and len({re.sub(r"_?\d+", "", key) for key in found}) == 1:
            in_order = sorted(found, key=lambda key: int("0" + re.sub(r"\D", "", key)))
            texts = [text for key in in_order for text in found[key]]
            return " ".join(in_order), [text for text in texts if text] or texts[:1]
        if len({*map(tuple, found.values())}) > 1:
            some = " and ".join(f"{key!r}" for key in found)
            named = f"name the one that holds the {role}: {form_option(role)} json,key={next(iter(found))}"
            raise ValueError(f"{some} hold different texts; {named}")
        if found:
            return next(iter(found.items()))
    for part in () if own else PARTS:
        parts = folded.get(part)
        if isinstance(parts, list) and all(isinstance(one, dict) and isinstance(one.get("text"), str) for one in parts):
            return part, [" ".join(one["text"] for one in parts)]
    if own:
        under = " or ".join(map(repr, own))
        raise ValueError(f"no {role}: wanted a text under {under}, as other records have it{keys_found(value)}")
    wanted = ", ".join((*OF_ROLE[role], *TEXT_KEYS))
    raise ValueError(f"no {role}: expected one of {wanted}{keys_found(value)}")


def _texts_of(value: Any, key: str, role: Role) -> Sequence[str]:
    """The texts that a value is: one, or of references several; none for any other value."""
    if isinstance(value, str):
        return [value]
    if role != "reference" or not isinstance(value, list) or key in TEXT_KEYS:
        return []
    return [text for text in value if text is not None] if all(isinstance(t, str | None) for t in value) else []


def _as_in_json(cell: Any) -> Any:
    """A cell of a table that has a whole number as that number, one with another number as None; else as it is."""
    if not isinstance(cell, str):
        return cell
    if cell.isascii() and cell.isdigit():
        return int(cell) if str(int(cell)) == cell else cell
    return None if DECIMAL.fullmatch(cell) else cell


def form_option(role: Role) -> str:
    """The option of the commands that names the form of texts of a role, and the keys of their records."""
    return "--system-form" if role == "output" else "--reference-form"
