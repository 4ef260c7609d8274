"""Reads sources, references or outputs of a system from records: JSON objects, or rows of a table with named columns.

    {"id": "utt-7", "ref": "so it is"}
    {"audio_filepath": "wav/utt-7.flac", "duration": 1.2, "text": "so it is", "pred_text": "so is it"}      NeMo
    [{"input": ["so is it", …], "output": "so it is"}, …]                                                    HyPoradise

    id,source,reference
    7,so ist es,so it is                                                                                     CSV or TSV

JSON has an object a line, or one document with an array of them. `record_keys.py` has the keys of ids and texts, which
are the names of columns as well. A record without an id belongs to the segment whose id is its place in the file, from
0, as in n-best lists. A file is a table if its first line names columns, a text of the role among them, and no id comes
twice, as it does in n-best lists. Lists with a column of references are references too, the same in all rows of an id.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from rerank_adapters.formats.record_keys import JsonKeys, form_option, own_keys
from rerank_adapters.formats.records import ID_KEYS, OF_ROLE, TEXT_KEYS, Ids, Role, json_records
from rerank_adapters.formats.table_rows import delimited_rows, separator_of
from rerank_plugins import FormatError
from rerank_plugins.core.json_and_toml import read_json

USUAL = JsonKeys()
NAME = re.compile(r"[\w.-]+")


def record_texts(lines: Sequence[str], path: str, role: Role = "reference", keys: JsonKeys = USUAL) -> dict[str, str]:
    """The texts of that role by the ids of their segments, in the order of the file; white space is single.

    Raises FormatError for a record without such a text, and for an id that occurs twice, unless the rows of a list with
    a hypothesis in each repeat its source or its reference.
    """
    texts: dict[str, str] = {}
    records = list(_rows(lines, path) if _columns(lines[0]) else _objects(lines, path))
    own = own_keys((record for record, _ in records), role)
    beside_hypotheses = role != "output" and bool(own)  # in rows of lists, which repeat the text of their segment
    ids = Ids(keys.id_key)
    for place, (record, line) in enumerate(records):
        try:
            text = keys.text_of(record, role, own)
            id_ = ids.next(record) or str(place)
        except ValueError as error:
            raise FormatError(str(error), path=path, line=line) from None
        text = " ".join(text.split())
        if id_ in texts and not (beside_hypotheses and text == texts[id_]):
            other = f", with another {role}" if beside_hypotheses else ""
            raise FormatError(f"the id {id_!r} occurs twice{other}", path=path, line=line)
        texts[id_] = text
    ids.check_read(path)
    return texts


def one_sided(segments: Collection[str], texts: Collection[str], role: Role, id_key: bool = True) -> str:
    """The fault where only the texts or only the segments have ids that are not numbers; "" if both or none have.

    `id_key` says whether the file is in JSON, where this option matches the records by their places.
    """
    numbered = [all(id_.isdigit() for id_ in ids) for ids in (segments, texts)]
    if numbered == [True, False]:
        id_ = next(id_ for id_ in texts if not id_.isdigit())
        option = form_option(role)
        by_place = f"where both are in the same order, {option} json,id_key=none matches records by their places"
        if not id_key:
            by_place = (
                f"wanted segments with these ids, as in `{id_} word word …` (kaldi), or numbers as ids of the file"
            )
        return f"the file has ids, such as {id_!r}, and the segments have numbers; {by_place}"
    if numbered == [False, True]:
        id_ = next(id_ for id_ in segments if not id_.isdigit())
        by_place = (
            "where both are in the same order, the option id_key=none of the lists' format, if it is JSON, numbers them"
        )
        return f"the segments have ids, such as {id_!r}, and the file has none; {by_place}"
    return ""


def shows_records(lines: Sequence[str], role: Role) -> bool:
    """Whether the lines are records: JSON, or a table with a text of that role for each id."""
    return shows_objects(lines) or shows_table(lines, role)


def shows_objects(lines: Iterable[str]) -> bool:
    """Whether the first line is a JSON object, or begins an array of objects that are all there is."""
    filled = [line for line in lines if line.strip()]
    try:
        record = read_json(filled[0] if filled[0].lstrip().startswith("{") else "\n".join(filled))
    except (IndexError, ValueError):
        return False
    return isinstance(record[0] if isinstance(record, list) and record else record, dict)


def shows_table(lines: Sequence[str], role: Role, *, own: bool = False, repeated: bool = False) -> bool:
    """Whether the first line names the columns of a table that has a text of that role for each id.

    `own` wants a column that holds nothing else than texts of the role. With `repeated`, such a column of sources or
    references may be that of a table of hypotheses, which has an id several times.
    """
    names = _columns(lines[0]) if lines else []
    if repeated and role != "output" and any(name in OF_ROLE[role] for name in names):
        return True
    if not any(name in (*OF_ROLE[role], *(() if own else TEXT_KEYS)) for name in names):
        return False
    named = next((name for name in ID_KEYS if name in names), None)
    ids = [row[named] for row, _ in _rows(lines, "")] if named else []
    return len(set(ids)) == len(ids)


def _columns(line: str) -> list[str]:
    """The names of the columns that a line names; none for a line that does not name several."""
    separator = separator_of(line)
    names = [name.strip('"') for name in line.split(separator)] if separator else []
    named = len(set(names)) == len(names) and all(NAME.fullmatch(name) for name in names)
    return names if named else []


def _rows(lines: Sequence[str], path: str) -> Iterator[tuple[Mapping[str, Any], int]]:
    """Each row of a table with its line. Raises FormatError as n-best lists in rows do."""
    rows = delimited_rows(lines[0], ((number, f"{line}\n") for number, line in enumerate(lines[1:], 2)), path)
    yield from ((row.columns, row.line) for row in rows)


def _objects(lines: Iterable[str], path: str) -> Iterator[tuple[Mapping[str, Any], int]]:
    """Each object with its line; the elements of an array are records. Raises FormatError for other values."""
    for record, _, line in json_records((f"{line}\n" for line in lines), path):
        if not isinstance(record, dict):
            raise FormatError("expected an object with a text and an id", path=path, line=line)
        yield record, line
