"""Reads transcripts in forms other than one line a segment: NIST's CTM and STM, JSON lines, icefall's recordings.

    ctm      the words of a file in the order of their times (ctm.py)
    stm      `file channel speaker start end [<labels>] word word …`: the segments of a file in the order of their times
    icefall  `utterance:<TAB>ref=[words]`
    json     an object a line with the transcript under `ref`, `output`, `reference`, `transcript` or `text`, and `id`
             or `segment`; NeMo's manifests name the audio file instead (`audio_filepath`), whose stem is the id

CTM and STM are described in the documentation of NIST's sclite (SCTK 2.4). A comment begins with `;;`. Of alternatives
`{ a / b }` the first one is read, `@` is the empty one, and the text `ignore_time_segment_in_scoring` is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from rerank_adapters.formats.ctm import read_ctm
from rerank_adapters.formats.line_lists import COMPRESSED, stem, value
from rerank_adapters.formats.speech.icefall import LINE as ICEFALL
from rerank_adapters.formats.speech.icefall import words_of
from rerank_plugins.core.errors import FormatError
from rerank_plugins.core.json_and_toml import read_json

TEXT_KEYS = ("ref", "output", "reference", "transcript", "text")
IGNORED = "ignore_time_segment_in_scoring"
ALTERNATIVES = re.compile(r"\{\s*([^{}/]*?)\s*(?:/[^{}]*)?\}")


def ctm_texts(lines: Iterable[str], path: str) -> dict[str, str]:
    """The words of each file of a CTM. Raises FormatError for a line of another form."""
    return {file: " ".join(part.word for part in words) for file, words in read_ctm(lines, path).items()}


def stm_texts(lines: Iterable[str], path: str) -> dict[str, str]:
    """The transcript of each file of an STM. Raises FormatError for a line of another form."""
    segments: dict[str, list[tuple[float, int, str]]] = {}
    for number, line in enumerate(lines, 1):
        fields = line.split(maxsplit=5)
        if not fields or fields[0].startswith(";;"):
            continue
        if len(fields) < 5:
            wanted = "file, channel, speaker, start, end and the words"
            raise FormatError(f"found {len(fields)} columns, expected {wanted}", path=path, line=number)
        start = value(fields[3], "the start", path, number)
        value(fields[4], "the end", path, number)
        text = re.sub(r"^<[^<>]*>\s*", "", fields[5]) if len(fields) > 5 else ""
        text = " ".join(ALTERNATIVES.sub(lambda match: "" if match[1] == "@" else match[1], text).split())
        segments.setdefault(fields[0], []).append((start, number, "" if text.lower() == IGNORED else text))
    return {file: " ".join(text for _, _, text in sorted(parts) if text) for file, parts in segments.items()}


def icefall_texts(lines: Iterable[str], path: str) -> dict[str, str]:
    """The reference of each utterance. Raises FormatError where an utterance has two that differ."""
    texts: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        match = ICEFALL.fullmatch(line.rstrip("\r\n"))
        if match is None:
            raise FormatError(f"found {line.strip()!r}, expected utterance:<TAB>ref=…", path=path, line=number)
        if match[2] == "ref":
            text = words_of(match[3], path, number)
            if texts.setdefault(match[1], text) != text:
                raise FormatError(f"the id {match[1]!r} occurs twice", path=path, line=number)
    return texts


AGGREGATED: Mapping[str, Callable[[Iterable[str], str], dict[str, str]]] = {
    "ctm": ctm_texts,
    "stm": stm_texts,
    "icefall": icefall_texts,
}


def shown_form(path: str, lines: Iterable[str]) -> str | None:
    """The form that a file's name or first line shows: ctm, stm, trn, icefall or json; None for other forms."""
    name = next((path.removesuffix(ending) for ending in COMPRESSED if path.endswith(ending)), path)
    for form in ("ctm", "stm", "trn"):
        if name.endswith(f".{form}"):
            return form
    first = next((line for line in lines if line.strip()), "")
    if ICEFALL.fullmatch(first):
        return "icefall"
    if first.startswith("{"):
        record = _object(first)
        if record is not None and any(isinstance(record.get(key), str) for key in TEXT_KEYS):
            return "json"
    return None


def json_texts(lines: Iterable[str], path: str, by_number: bool) -> dict[str, str]:
    """The transcripts of JSON lines, by the number of the line (from 0; `segment` takes precedence) or by the id.

    Raises FormatError for a line without a transcript or an id, and for an id that occurs twice.
    """
    texts: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        record = _object(line)
        key = next((key for key in TEXT_KEYS if record is not None and isinstance(record.get(key), str)), None)
        if record is None or key is None:
            raise FormatError(f"no transcript: expected one of {', '.join(TEXT_KEYS)}", path=path, line=number)
        id_ = str(record.get("segment", number - 1)) if by_number else _id(record)
        if id_ is None:
            raise FormatError("no id: expected one of id, segment, audio_filepath", path=path, line=number)
        if id_ in texts:
            raise FormatError(f"the id {id_!r} occurs twice", path=path, line=number)
        texts[id_] = " ".join(record[key].split())
    return texts


def _id(record: Mapping[str, Any]) -> str | None:
    for key in ("id", "segment"):
        if key in record:
            return str(record[key])
    return stem(str(record["audio_filepath"])) if "audio_filepath" in record else None


def _object(line: str) -> dict[str, Any] | None:
    try:
        record = read_json(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None
