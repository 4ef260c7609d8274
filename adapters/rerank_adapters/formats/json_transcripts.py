"""Reads references, or the outputs of a system, from JSON: an object a line, or one document with an array of them.

    {"id": "utt-7", "ref": "so it is"}
    {"audio_filepath": "wav/utt-7.flac", "duration": 1.2, "text": "so it is", "pred_text": "so is it"}      NeMo
    [{"input": ["so is it", …], "output": "so it is"}, …]                                                    HyPoradise

`record_keys.py` has the keys of ids and texts. A record without an id belongs to the segment whose id is its place in
the file, from 0, as in n-best lists.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from rerank_adapters.formats.json_lists import json_records
from rerank_adapters.formats.record_keys import JsonKeys, KeysError, Role
from rerank_plugins import FormatError
from rerank_plugins.core.json_and_toml import read_json

USUAL = JsonKeys()


def json_texts(lines: Iterable[str], path: str, role: Role = "reference", keys: JsonKeys = USUAL) -> dict[str, str]:
    """The texts of that role by the ids of their segments, in the order of the file; white space is single.

    Raises FormatError for a record without such a text, and for an id that occurs twice.
    """
    texts: dict[str, str] = {}
    for place, (record, line) in enumerate(_objects(lines, path)):
        try:
            text = keys.text_of(record, role)
            id_ = keys.checked_id(keys.id_of(record), record) or str(place)
        except KeysError as error:
            raise FormatError(str(error), path=path, line=line) from None
        if id_ in texts:
            raise FormatError(f"the id {id_!r} occurs twice", path=path, line=line)
        texts[id_] = " ".join(text.split())
    return texts


def one_sided(segments: Collection[str], texts: Collection[str], role: Role) -> str:
    """What is wrong if only the texts or only the segments have ids that are no numbers; "" if both or none have."""
    numbered = [all(id_.isdigit() for id_ in ids) for ids in (segments, texts)]
    if numbered == [True, False]:
        id_ = next(id_ for id_ in texts if not id_.isdigit())
        option = "--reference-form" if role == "reference" else "--system-form"
        by_place = f"where both are in the same order, {option} json,id_key=none matches records by their places"
        return f"the file has ids, such as {id_!r}, and the segments have numbers; {by_place}"
    if numbered == [False, True]:
        id_ = next(id_ for id_ in segments if not id_.isdigit())
        by_place = "where both are in the same order, the option id_key=none of the lists' format numbers them"
        return f"the segments have ids, such as {id_!r}, and the file has none; {by_place}"
    return ""


def shows_objects(lines: Iterable[str]) -> bool:
    """Whether the first line is a JSON object, or begins an array of objects that are all there is."""
    filled = [line for line in lines if line.strip()]
    try:
        record = read_json(filled[0] if filled[0].lstrip().startswith("{") else "\n".join(filled))
    except (IndexError, ValueError):
        return False
    return isinstance(record[0] if isinstance(record, list) and record else record, dict)


def _objects(lines: Iterable[str], path: str) -> Iterator[tuple[dict[str, Any], int]]:
    """Each object with its line; the elements of an array are records. Raises FormatError for what is no object."""
    for record, _, line, _ in json_records((f"{line}\n" for line in lines), path):
        for item in record if isinstance(record, list) else [record]:
            if not isinstance(item, dict):
                raise FormatError("expected an object with a text and an id", path=path, line=line)
            yield item, line
