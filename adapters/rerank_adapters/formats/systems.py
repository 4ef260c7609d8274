"""Reads the outputs of a system: the transcripts or translations that a file was given as, never its references.

A file of n-best lists stands for the first hypothesis of each list, where its lines show one of the formats that no
text can be taken for: JSON, icefall's recordings, lists with `|||`, the output of fairseq, WeNet and Julius, and
SRILM's lists with a header. Other records in JSON have the output under a key of `record_keys.py`. All else is text,
which is read as references are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from rerank_adapters.formats.catalogue import FORMATS
from rerank_adapters.formats.reading import lists_of_lines, stream_file
from rerank_adapters.formats.recognition import guess_file, unambiguous
from rerank_adapters.formats.record_lists import Records
from rerank_adapters.formats.record_texts import record_texts, shows_records, shows_table
from rerank_adapters.formats.references import ReferenceForm, References, named_form, read_lines, references_of
from rerank_plugins import FormatError, NBestList
from rerank_plugins.kit.files.text import STANDARD, display_name

BOTH = ("icefall", "fairseq")  # forms of files that hold outputs and references


def read_outputs(path: str | Path, form: ReferenceForm = "auto") -> References:
    """The outputs in a file or in a folder of lists.

    Raises FormatError for a file without outputs, and for the key of an id where lists are not in JSON; ConfigError for
    another form.
    """
    named, keys = named_form(form)
    name = display_name(path)
    if str(path) != STANDARD and Path(path).is_dir():
        return _first_hypotheses(stream_file(path, FORMATS[guess_file(path).name]()), name, "lists", id_key=False)
    lines = read_lines(path)
    if named not in ("auto", "json", *BOTH):
        return references_of([lines], [name], form, "output")
    shown = named if named in BOTH else unambiguous(lines, name)
    if shown is not None and shown == "rows" and shows_table(lines, "output", own=True):
        shown = None  # a row for each segment, with a column such as `pred_text` for its output
    records = named == "json" or (named == "auto" and shows_records(lines, "output"))
    if shown is not None and not keys.key:
        has_id_key = isinstance(FORMATS[shown].made, Records)
        if keys.id_key and not has_id_key:
            raise FormatError(
                f"reads as lists in the format {shown}, and id_key is an option of records in JSON", path=name
            )
        try:
            format = FORMATS[shown](**{"id_key": keys.id_key} if keys.id_key else {})
            lists = lists_of_lines((f"{line}\n" for line in lines), name, format, repeated=True)
            return _first_hypotheses(lists, name, shown, has_id_key)
        except FormatError:  # a record with a text, such as `generated_text`, may only look like a list
            if not records or not _has_outputs(lines):
                raise
    if records:
        return References.outputs("json", name, record_texts(lines, name, "output", keys))
    return references_of([lines], [name], form, "output")


def _has_outputs(lines: Sequence[str]) -> bool:
    """Whether the first line is a record with an output."""
    try:
        return bool(record_texts(lines[:1], "", "output"))
    except FormatError:
        return False


def _first_hypotheses(lists: Iterable[NBestList], name: str, form: str, id_key: bool) -> References:
    """The first hypothesis of each list. Raises FormatError for a segment with two lists."""
    texts: dict[str, str] = {}
    for nbest in lists:
        if nbest.segment_id in texts:
            message = f"segment {nbest.segment_id} has two lists, expected the outputs of a system"
            raise FormatError(message, path=name, line=nbest.line or None)
        texts[nbest.segment_id] = nbest[0].text
    return References.outputs(form, name, texts, id_key)
