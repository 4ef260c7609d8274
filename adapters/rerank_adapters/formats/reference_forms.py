"""Reads transcripts in forms other than one line a segment, and tells whether lines have ids.

    icefall  `utterance:<TAB>ref=[words]`
    fairseq  `T-7<TAB>word word …` among the other lines of its output
    json     an object a line with a transcript and perhaps an id: see record_texts.py

Lines may begin (Kaldi) or end (NIST's trn) with the id of an utterance. A line alone does not show whether its first
word is an id. Files that belong together do, by three signs:

    distinct   no two lines of a file, of which there are at least two, have the same id
    alike      all ids have a digit, a hyphen or an underscore beside other characters: u1, spk_a, 1272-128104-0000
    shared     the files have the same ids, in any order

At least ten lines with all three signs have ids, and so have lines that share them with a file whose form is known.
These are doubtful, and the form must be named: fewer lines; ids that only one file has; shared numbers, or shared words
in another order; twenty lines of distinct shared words, and six lines of them in alphabetical order, in which Kaldi
sorts its files. All else is text, such as a few lines of a translation whose first words happen to be distinct and
those of the reference.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Literal, NamedTuple

from rerank_adapters.formats.icefall import LINE as ICEFALL
from rerank_adapters.formats.icefall import words_of
from rerank_adapters.formats.list_files import COMPRESSED
from rerank_adapters.formats.recognition import MAX_LINES
from rerank_adapters.formats.record_texts import shows_objects
from rerank_plugins import FormatError

IdForm = Literal["trn", "kaldi"]
ID_FORMS: tuple[IdForm, ...] = ("trn", "kaldi")
MIN_LINES_WITH_IDS = 10  # lines with ids that are alike, distinct and shared
MIN_DISTINCT_LINES = 20  # lines whose first words are all distinct, and those of another file: rare in a text
MIN_SORTED_LINES = 6  # the same, where the first words are also in alphabetical order
TARGET = re.compile(r"T-[^\t\s]+\t")
TRN = re.compile(r"(.*?)\s*\(([^()\s]+)\)\s*")
NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
ID_LIKE = re.compile(r"(?=\S*[\d_-])\w(?:\S*\w)?")


def kaldi_utterance(line: str) -> tuple[str, str] | None:
    """The id and the text of a line in Kaldi's form; None for a line without an id.

    >>> kaldi_utterance("utt-1 so it is")
    ('utt-1', 'so it is')
    """
    parts = line.split(maxsplit=1)
    return (parts[0], parts[1].rstrip() if len(parts) == 2 else "") if parts else None


def trn_utterance(line: str) -> tuple[str, str] | None:
    """The id and the text of a line in NIST's form; None for a line without an id.

    >>> trn_utterance("so it is (utt-1)")
    ('utt-1', 'so it is')
    """
    match = TRN.fullmatch(line)
    return (match[2], match[1].strip()) if match else None


WITH_IDS: Mapping[str, Callable[[str], tuple[str, str] | None]] = {"trn": trn_utterance, "kaldi": kaldi_utterance}


class TextFile(NamedTuple):
    """A file of text: its name, its lines, and the forms that it may have, one where its form is known."""

    name: str
    lines: Sequence[str]
    forms: Sequence[IdForm]


def distinct_ids(lines: Sequence[str], form: IdForm) -> list[str] | None:
    """The ids of all lines that are not blank; None for fewer than two, for one that comes again, and where most lines
    have no more words, as those of a language without spaces.
    """
    ids: dict[str, bool] = {}
    for line in lines:
        utterance = WITH_IDS[form](line)
        if utterance is None and not line.strip():
            continue
        if utterance is None or utterance[0] in ids:
            return None
        ids[utterance[0]] = bool(utterance[1])
    return list(ids) if len(ids) > 1 and 2 * sum(ids.values()) > len(ids) else None


def shared_forms(files: Sequence[TextFile]) -> list[IdForm] | None:
    """The form in which each file has the ids that all of them share; None where the lines have no ids.

    Raises FormatError where it is doubtful whether the lines have ids.
    """
    shown = [{form: ids for form in file.forms if (ids := distinct_ids(file.lines, form))} for file in files]
    known = any(len(file.forms) == 1 for file in files)
    for form, ids in shown[0].items():
        forms = [next((own for own, others in of.items() if set(others) == set(ids)), None) for of in shown]
        shared = [own for own in forms if own is not None]
        if len(files) == 1 or len(shared) < len(files):
            continue
        if known or (len(ids) >= MIN_LINES_WITH_IDS and _alike(ids)):
            return shared
        reordered = any(of[own] != ids for of, own in zip(shown, shared, strict=True))
        ascending = len(ids) >= MIN_SORTED_LINES and ids == sorted(ids)
        if reordered or ascending or len(ids) >= MIN_DISTINCT_LINES or all(NUMBER.fullmatch(id_) for id_ in ids):
            raise doubtful(files[0], form)
    for file, of in zip(files, shown, strict=True):
        for form, ids in of.items():
            if len(file.forms) > 1 and (form == "trn" or _alike(ids)):
                raise doubtful(file, form)
    return None


def doubtful(file: TextFile, form: IdForm) -> FormatError:
    """The error about the form of a file whose lines may have ids."""
    ids = distinct_ids(file.lines, form) or [""]
    verb, example = ("begins", ids[0]) if form == "kaldi" else ("ends", f"({ids[0]})")
    message = f"each line {verb} with what may be an id, as {example}"
    return FormatError(
        f"{message}: name the reference form, {form} for ids or lines for text (--reference-form)", path=file.name
    )


def _alike(ids: Sequence[str]) -> bool:
    return all(ID_LIKE.fullmatch(id_) and not NUMBER.fullmatch(id_) for id_ in ids)


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
    if not texts:
        raise FormatError("no ref= line: the file has hypotheses but no references", path=path)
    return texts


def is_named(path: str, ending: str) -> bool:
    """Whether a file has a name with this ending, before that of a compression."""
    return any(path.removesuffix(compression).endswith(ending) for compression in ("", *COMPRESSED))


def shown_form(path: str, lines: Iterable[str]) -> str | None:
    """The form that a file's name or lines show: stm, trn, icefall, fairseq or json; None for other forms.

    Raises FormatError for the name of a CTM.
    """
    if is_named(path, ".ctm"):
        wanted = "wanted an utterance a line (lines, kaldi, trn) or an STM"
        raise FormatError(f"is a CTM by its name, which is not a form of references or outputs: {wanted}", path=path)
    for form in ("stm", "trn"):
        if is_named(path, f".{form}"):
            return form
    first = next((line for line in lines if line.strip()), "")
    if ICEFALL.fullmatch(first):
        return "icefall"
    if any(map(TARGET.match, islice(lines, MAX_LINES))):  # a system is its own reference in none of its first lines
        return "fairseq"
    return "json" if first[:1] in ("{", "[") and shows_objects(lines) else None
