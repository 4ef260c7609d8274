"""Reads the texts of a file in the role that it is given in: as sources, as references or as the outputs of a system.

A file has one of these forms:

    lines   one line per segment; the id of a segment is the number of its line, from 0
    lines-from-1   the same where ids count from 1
    kaldi, trn, icefall, fairseq   a line for each utterance, with its id: line_forms.py
    json    records in JSON, or a table with named columns, by id or by number: records.py
    stm     with times: stm.py
    sgm     NIST's SGML or WMT's XML: sgml.py; its segments are numbered as lines are

A file shows its form by its name (*.trn, *.stm) or its first lines. A file of n-best lists stands, as the output of a
system, for the first hypothesis of each list. All else is lines, which may have ids: line_ids.py. What another program
has written is never read as lines of text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from rerank_adapters.formats.catalogue import FORMATS
from rerank_adapters.formats.columnar import open_lines
from rerank_adapters.formats.layers import Layers
from rerank_adapters.formats.list_files import COMPRESSED
from rerank_adapters.formats.no_text import check_no_dump
from rerank_adapters.formats.reading import lists_of_lines, stream_file
from rerank_adapters.formats.recognition import MAX_LINES, guess_file, unambiguous
from rerank_adapters.formats.record_lists import Records
from rerank_adapters.formats.records import NO_IDS, Role
from rerank_adapters.texts import FORMS, ReferenceForm
from rerank_adapters.texts.line_forms import LINE_FORMS
from rerank_adapters.texts.line_ids import Lines
from rerank_adapters.texts.records import (
    JsonKeys,
    are_flat,
    form_option,
    own_keys,
    record_texts,
    records_in,
    separator_of,
    shows_objects,
)
from rerank_adapters.texts.sgml import document_texts, shows_tags
from rerank_adapters.texts.stm import shows_stm, stm_texts
from rerank_adapters.texts.texts import Texts
from rerank_plugins import ConfigError, FormatError, NBestList, open_text
from rerank_plugins.kit.files.text import STANDARD, display_name

ENDINGS = {"stm": ".stm", "trn": ".trn"}
ICEFALL = re.compile(r"\S+:\t(?:ref|hyp)=.*")
FAIRSEQ = re.compile(r"[STHDP]-\S+\t.*")
SCORED = re.compile(r"H-\S+\t-?\d[\d.e-]*\t.*")  # a line that no text has


def named_form(text: str) -> tuple[str, JsonKeys]:
    """The form that a text names, and the keys of its JSON records. Raises ConfigError for any other text."""
    form, *keys = text.split(",")
    if form not in FORMS or (keys and form != "json"):
        wanted = f"{', '.join(FORMS)}, or json,key=KEY,id_key=KEY"
        raise ConfigError(f"{text!r} is not a form of references or outputs; wanted {wanted}")
    return form, JsonKeys.named(keys)


def read_lines(path: str | Path) -> list[str]:
    r"""The lines of a file, without their ends ("\n" or "\r\n"). Raises FormatError for an empty file."""
    with open_lines(path) as lines:
        texts = [line.removesuffix("\n").removesuffix("\r") for line in lines]
    if not texts:
        raise FormatError("the file is empty, expected one line per segment", path=display_name(path))
    return texts


def read_texts(path: str | Path, role: Role, form: ReferenceForm = "auto") -> Texts:
    """The texts of a file, or the first hypotheses of a folder of lists, as what they are given as.

    Raises FormatError, with the line, for a file of another form or without texts of that role, and ConfigError for
    another name of a form.
    """
    named_form(form)
    name = display_name(path)
    if str(path) != STANDARD and Path(path).is_dir():
        if role != "output":
            raise FormatError(f"is a folder, expected a file of {role}s", path=name)
        return _first_hypotheses(stream_file(path, FORMATS[guess_file(path).name]()), name, "lists")
    return texts_of(read_lines(path), name, role, form)


def texts_of(lines: Sequence[str], name: str, role: Role, form: ReferenceForm = "auto") -> Texts:
    """The texts of the lines of a file. Raises FormatError and ConfigError as `read_texts` does."""
    named, keys = named_form(form)
    shown = named if named != "auto" else shown_form(lines, name)
    if shown is not None and shown in LINE_FORMS:
        return LINE_FORMS[shown][role].texts(lines, name, role)
    if shown == "stm":
        return stm_texts(lines, name, role)
    if shown == "sgm" or (shown is not None and shown != "json" and shows_tags(lines[:MAX_LINES])):
        return _counted_from(int(named == "lines-from-1"), document_texts(lines, name, role))
    if shown in ("json", None):
        found = _records_or_lists(lines, name, role, keys)
        if found is not None:
            return found
        if shown == "json":
            raise FormatError("expected JSON objects, or a table whose first line names the columns", path=name)
    check_text(lines, name, role, said=named != "auto")
    if role == "output":
        layers = Layers()
        lines = [layers.without_phrases(line) for line in lines]
        layers.log(name)
    texts = Lines.of(lines, name, role)
    if named == "auto":
        return texts
    said = Texts(name, texts.by_id, named, role, "lines", counted=True, placed=True, by_place=texts.by_place)
    return _counted_from(int(named == "lines-from-1"), said)


def shown_form(lines: Sequence[str], path: str) -> str | None:
    """The form that a file's name or first lines show; None for records and lines. Raises FormatError for a CTM."""
    for form, ending in ENDINGS.items():
        if _is_named(path, ending):
            return form
    if _is_named(path, ".ctm"):
        wanted = "wanted an utterance a line (lines, kaldi, trn) or an STM"
        raise FormatError(f"is a CTM by its name, which is not a form of references or outputs: {wanted}", path=path)
    head = [line for line in lines[:MAX_LINES] if line.strip()]
    if shows_tags(head):
        return "sgm"
    if head and ICEFALL.fullmatch(head[0]):
        return "icefall"
    if any(map(SCORED.fullmatch, head)) or (head and all(map(FAIRSEQ.fullmatch, head))):
        return "fairseq"
    return "stm" if shows_stm(head) else None


def _is_named(path: str, ending: str) -> bool:
    return any(path.removesuffix(compression).endswith(ending) for compression in ("", *COMPRESSED))


def _counted_from(first: int, texts: Texts) -> Texts:
    """Texts with their places as ids, from this number on."""
    return replace(texts, by_id={str(int(id_) + first): own for id_, own in texts.by_id.items()}) if first else texts


def _records_or_lists(lines: Sequence[str], name: str, role: Role, keys: JsonKeys) -> Texts | None:
    """The texts of records, or of a system that is given as lists their first hypotheses; None where the file has none.

    Records with a key of the role are read by it, and flat ones that do not repeat an id by the keys of any role.
    Raises FormatError for lists that are given as another role.
    """
    records = records_in(lines, name, usual=not keys.key)
    by_key = records is not None and bool(keys.key or own_keys(records, role) or are_flat(records))
    lists = None if by_key else unambiguous(lines)
    if lists is not None and role == "output":
        in_json = isinstance(FORMATS[lists].made, Records)
        if keys.id_key and not in_json:
            told = f"reads as lists in the format {lists}, and id_key is an option of records in JSON"
            raise FormatError(told, path=name)
        format = FORMATS[lists](**{"id_key": keys.id_key} if keys.id_key else {})
        read = lists_of_lines((f"{line}\n" for line in lines), name, format)
        by_place = f"{form_option(role)} json,id_key=none" if in_json else ""
        return _first_hypotheses(read, name, lists, by_place, placed=keys.id_key == NO_IDS)
    if lists is not None and not shows_objects(lines):
        told = f"reads as lists in the format {lists}, which have hypotheses but no {role}s"
        raise FormatError(told, path=name)
    return None if records is None else record_texts(records, name, role, keys)


def _first_hypotheses(
    lists: Iterable[NBestList], name: str, form: str, by_place: str = "", *, placed: bool = False
) -> Texts:
    """The first hypothesis of each list."""
    by_id = {nbest.segment_id: (nbest[0].text,) for nbest in lists}
    return Texts(name, by_id, form, "output", f"the first hypotheses of {form}", placed, placed, by_place)


def check_text(lines: Sequence[str], path: str, role: Role = "reference", *, said: bool = False) -> None:
    """Raise FormatError where lines are not text but JSON, a table, subtitles, or what another program wrote.

    Where the user has `said` that they are lines, a table is one only if its columns have usual names.
    """
    check_no_dump(lines[:MAX_LINES], path, f"; {form_option(role)} json,id_key=none matches records by position")
    if separator_of(lines, usual=said):
        advice = f"{form_option(role)} json,key=COLUMN reads a column"
        advice += "" if said else f", {form_option(role)} lines the lines as text"
        raise FormatError(f"expected text but found a table, with the columns {lines[0][:60]}; {advice}", path=path)


def read_groups(path: str | Path, ids: Iterable[str]) -> list[str]:
    """The group of each segment.

    Raises FormatError, with the line, for a line that has not two columns and for an id that has a group already, and
    for a segment without a group.
    """
    groups: dict[str, str] = {}
    name = display_name(path)
    with open_text(path) as lines:
        for number, line in enumerate(lines, 1):
            columns = line.split()
            if not columns:
                continue
            if len(columns) != 2:
                raise FormatError(f"found {len(columns)} columns, expected an id and its group", path=name, line=number)
            if columns[0] in groups:
                raise FormatError(f"the id {columns[0]!r} has a group already", path=name, line=number)
            groups[columns[0]] = columns[1]
    wanted = list(ids)
    missing = next((id_ for id_ in wanted if id_ not in groups), None)
    if missing is not None:
        raise FormatError(f"no group for segment {missing!r}; the file has {len(groups)} segments", path=name)
    return [groups[id_] for id_ in wanted]
