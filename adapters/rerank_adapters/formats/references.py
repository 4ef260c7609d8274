"""Reads reference translations or transcripts, one file per reference, and matches their lines with the segments.

A file has one of these forms:

    lines   one line per segment; the id of a segment is the number of its line, from 0
    lines-from-1   the same where ids count from 1
    kaldi   `utterance-id word word …`, the form of Kaldi's `text` files
    trn     `word word … (utterance-id)`, the form that NIST's scoring tools read
    json    JSON lines with a transcript, or a table with named columns; by id, or by number where it has none
    icefall, fairseq  see reference_forms.py
    stm     with times, see nist/timed.py
    sgm     NIST's SGML or WMT's XML, see markup.py; its segments are numbered as lines are

`auto` means one of the forms after `trn` where the file shows it (JSON lines with a transcript, tags,
`utterance:<TAB>ref=`, the name *.stm), or the name *.trn, then `lines` where the ids of all segments are numbers.
Otherwise it means the form with ids in which the file has the id of every segment. Files without lists have ids where
they share them, and lines that may have ids are not read as text unless called `lines`: see reference_forms.py.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from rerank_adapters.formats import FORMS
from rerank_adapters.formats.columnar import open_lines
from rerank_adapters.formats.markup import Place, without_markup
from rerank_adapters.formats.no_text import check_text
from rerank_adapters.formats.recognition import unambiguous
from rerank_adapters.formats.record_keys import JsonKeys
from rerank_adapters.formats.record_texts import one_sided, record_texts, shows_table
from rerank_adapters.formats.records import Role
from rerank_adapters.formats.reference_forms import (
    ID_FORMS,
    MIN_LINES_WITH_IDS,
    WITH_IDS,
    TextFile,
    distinct_ids,
    doubtful,
    icefall_texts,
    shared_forms,
    shown_form,
)
from rerank_adapters.formats.segment_ids import is_number, some_of
from rerank_adapters.texts.transcript import hypothesis_text, reference_text
from rerank_plugins import ConfigError, FormatError, open_text
from rerank_plugins.kit.files.text import display_name

if TYPE_CHECKING:
    from rerank_adapters.formats.nist.timed import TimedTranscripts

logger = logging.getLogger(__name__)
ReferenceForm = str  # one of FORMS; `json` perhaps with the keys of its records, as in `json,key=ref,id_key=uid`
NUMBERED = ("lines", "lines-from-1")  # forms in which the number of a line is its id


def named_form(text: str) -> tuple[str, JsonKeys]:
    """The form that a text names, and the keys of its JSON records. Raises ConfigError for any other text."""
    form, *keys = text.split(",")
    if form not in FORMS or (keys and form != "json"):
        wanted = f"{', '.join(FORMS)}, or json,key=KEY,id_key=KEY"
        raise ConfigError(f"{text!r} is not a form of references or outputs; wanted {wanted}")
    return form, JsonKeys.named(keys)


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
        raise FormatError(f"no group for segment id {missing!r} among the {len(groups)} ids of the file", path=name)
    return [groups[id_] for id_ in wanted]


def read_lines(path: str | Path) -> list[str]:
    r"""The lines of a file, without their ends ("\n" or "\r\n"). Raises FormatError for an empty file."""
    with open_lines(path) as lines:
        texts = [line.removesuffix("\n").removesuffix("\r") for line in lines]
    if not texts:
        raise FormatError("the file is empty, expected one line per segment", path=display_name(path))
    return texts


@dataclass(frozen=True)
class References:
    """`lines[i]` has line i of each of the files `names`; `form` says how lines are matched with segments.

    Files whose form names each segment have `texts`, by id, and `lines` without ids. Files with times (STM) are `timed`
    instead, and have no `lines`. `places` are the documents and numbers of lines that were read from markup. `id_key`
    says whether the option of that name, of records in JSON, can match the texts by their places.
    """

    lines: tuple[tuple[str, ...], ...]
    names: tuple[str, ...]
    form: ReferenceForm = "auto"
    texts: tuple[Mapping[str, str], ...] = ()
    role: Role = "reference"
    timed: tuple[TimedTranscripts, ...] = ()
    places: tuple[Place, ...] = ()
    id_key: bool = True

    @classmethod
    def outputs(cls, form: ReferenceForm, name: str, texts: Mapping[str, str], id_key: bool = True) -> References:
        """The outputs of a system by id."""
        return cls(tuple((text,) for text in texts.values()), (name,), form, (texts,), "output", id_key=id_key)

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def ids(self) -> list[str]:
        """The ids of all segments, in the order of the first file: line numbers, unless the form has ids.

        Raises FormatError where no form was named and the lines may have ids.
        """
        if self.timed:
            return list(self.timed[0].positions)
        if self.form == "auto":
            return settled([self])[0].ids
        if self.form in WITH_IDS:
            return list(self._by_id(0, self.form))
        if self.texts:
            return list(self.texts[0])
        return self._numbers()

    def ids_beside(self, ids: Sequence[str]) -> list[str]:
        """The ids of all lines, in the form in which these ids are matched (`form_for`) and spelt as these are."""
        if self.timed:
            return self.timed[0].ids_beside(ids)
        if self.texts:
            return list(self.texts[0])
        form = self.form_for(ids)
        return self._numbers(ids) if form in NUMBERED else list(self._by_id(0, form))

    def for_segments(self, ids: Iterable[str]) -> list[tuple[str, ...]]:
        """The references of each id, one per file; those in NIST's forms are transcripts.

        Raises FormatError for an id that has no reference, and for wrong markup.
        """
        wanted = list(ids)
        if self.timed:
            return list(zip(*(file.references(wanted) for file in self.timed), strict=True))
        return self._with_markup(reference_text, wanted)

    def as_outputs(self, ids: Sequence[str]) -> list[str]:
        """The outputs of each id, of a system whose only file this is. Raises FormatError as `for_segments` does."""
        return [text for (text,) in self._with_markup(hypothesis_text, ids)]

    def _with_markup(self, read: Callable[[str], str], ids: Sequence[str]) -> list[tuple[str, ...]]:
        """The texts of each id, one per file; the markup of those in `trn` form is read by `read`."""
        rows = self._texts(ids)
        if not rows or self.texts or self.form_for(ids) != "trn":
            return rows
        try:
            return [tuple(map(read, row)) for row in rows]
        except ValueError as error:
            raise FormatError(str(error), path=self.names[0]) from None

    def _texts(self, wanted: Sequence[str]) -> list[tuple[str, ...]]:
        """The texts of each id, one per file, as they were read."""
        form = self.form_for(wanted)
        if form in NUMBERED and not self.texts:
            by_number = dict(zip(self._numbers(wanted), self.lines, strict=True))
            if surplus := [id_ for id_ in wanted if id_ not in by_number]:
                raise self.lacks(surplus, wanted)
            return [by_number[id_] for id_ in wanted]
        files = self.texts or [self._by_id(file, form) for file in range(len(self.names))]
        for file, texts in enumerate(files):
            if surplus := [id_ for id_ in wanted if id_ not in texts]:
                raise self.lacks(surplus, wanted, file)
        return [tuple(texts[id_] for texts in files) for id_ in wanted]

    def lacks(self, surplus: Sequence[str], ids: Sequence[str], file: int = 0, advice: str = "") -> FormatError:
        """The error that a file has no line for `surplus`, some of the ids of the segments, with advice."""
        if self.timed:
            return self.timed[file].lacks(surplus[0], ids, advice)
        form, more = self.form_for(ids), f" ({len(surplus)} ids have none: {some_of(surplus)})" * (len(surplus) > 1)
        if form not in NUMBERED or self.texts:
            known = self.ids_beside(ids)
            if self.texts and (error := one_sided(ids, known, self.role, self.id_key)):
                return FormatError(error, path=self.names[file])
            shown = self.form if self.texts else form
            there = f"among the {len(known)} ids ({', '.join(known[:2])}, …) that the file has in {shown!r} form"
            no_line = f"no line for segment id {surplus[0]!r} {there}"
        elif is_number(surplus[0]):
            numbers = self._numbers()
            there = f"the file has {len(self)} lines, for the ids {numbers[0]} to {numbers[-1]}"
            no_line = f"no line for segment id {surplus[0]}: {there}"
            if form == "lines" and [*map(int, surplus)] == [len(self)] and 0 not in map(int, ids):
                how = "`--reference-form lines-from-1` (in a config, `reference_form`)"
                advice = f"; if the ids count from 1, {how} matches the first line with id 1"
        else:
            no_line, more = f"segment id {surplus[0]!r} is not a number: it names no line of this file", ""
        return FormatError(no_line + more + advice, path=self.names[file])

    def form_for(self, ids: Sequence[str]) -> ReferenceForm:
        """The form that was named, otherwise the one in which the first file has the ids.

        The ids of `json` are numbers of lines where all segments have such ids (lines), otherwise ids (kaldi).
        Raises FormatError where there is no such form, or more than one, and where numbered lines may have ids.
        """
        if self.form != "auto" and not self.texts:
            return self.form
        not_a_line = next((id_ for id_ in ids if not is_number(id_)), None)
        if not_a_line is None:
            if self.form == "auto":
                self._check_numbered(ids)
            return "lines"
        if self.texts:
            return "kaldi"
        matches = {form: set(ids) & {id_ for id_, _ in self._utterances(0, form)} for form in ID_FORMS}
        fitting = [form for form, matching in matches.items() if len(matching) == len(set(ids))]
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            raise FormatError("its lines have the segments' ids both at the start and at the end: name the reference"
                              " form, kaldi or trn", path=self.names[0])  # fmt: skip
        best = max(matches, key=lambda form: len(matches[form]))
        if matches[best]:
            return best  # the caller reports the id that is missing
        raise FormatError(
            f"segment id {not_a_line!r} is not a number, so it names no line of this file, and no line has it as its"
            f" id: wanted `{not_a_line} word word …` (kaldi) or `word word … ({not_a_line})` (trn); lists in JSON"
            " are numbered from 0 by the option id_key=none of their format", path=self.names[0],
        )  # fmt: skip

    def as_system(self, ids: Sequence[str], form: ReferenceForm) -> References:
        """The same in its own form, where this is the output of a system: one with ids, or else `lines`.

        `form` is that of the references. Raises FormatError where lines that are matched by their numbers may have ids.
        """
        if self.form == "auto" and form in (*WITH_IDS, "stm"):
            by_form = {own: dict(self._utterances(0, own)) for own in sorted(ID_FORMS, key=lambda own: own != form)}
            own, texts = max(by_form.items(), key=lambda item: len(item[1].keys() & set(ids)))
            if 2 * len(texts.keys() & set(ids)) > len(texts):
                return replace(self, form=own)
        if self._placed:
            return replace(self, form="lines", texts=())
        if self.form != "auto":
            return self
        if form in NUMBERED and self._begins_with(ids):
            logger.info("rerank: the lines of %s have ids: they are read in kaldi form", self.names[0])
            return replace(self, form="kaldi")
        self._check_numbered(ids)
        return replace(self, form="lines")

    def _begins_with(self, ids: Sequence[str]) -> bool:
        """Whether enough lines begin with distinct numbers, most of which are ids, as no text does."""
        own = distinct_ids(self.files[0].lines, "kaldi") or []
        numbered = len(own) >= MIN_LINES_WITH_IDS and all(map(is_number, own))
        return numbered and 2 * len(frozenset(own) & frozenset(ids)) > len(own)

    @property
    def _placed(self) -> bool:
        """Whether the ids of the texts are their places."""
        return bool(self.texts) and list(self.texts[0]) == [str(place) for place in range(len(self))]

    def _numbers(self, ids: Iterable[str] = ()) -> list[str]:
        """The numbers of the lines, which are their ids, spelt as among `ids` (`007`)."""
        first = int(self.form == "lines-from-1")
        spelt = {int(id_): id_ for id_ in ids if is_number(id_)}
        return [spelt.get(line, str(line)) for line in range(first, first + len(self))]

    @property
    def files(self) -> list[TextFile]:
        """The files one by one, each with the forms with ids that it may have."""
        if self.texts:
            named = zip(self.names, self.texts, strict=True)
            return [TextFile(name, [f"{id_} ." for id_ in texts], ["kaldi"]) for name, texts in named]
        forms = [form for form in ID_FORMS if self.form in ("auto", form)]
        return [TextFile(*file, forms) for file in zip(self.names, zip(*self.lines, strict=True), strict=True)]

    def _check_numbered(self, ids: Sequence[str]) -> None:
        """Raise FormatError where lines may have ids, though the segments are matched by number."""
        segments = (TextFile("", [f"{id_} ." for id_ in some], ["kaldi"]) for some in (ids, self._numbers(ids)))
        for beside in ([], *([file] for file in segments)):
            if forms := shared_forms([*self.files, *beside]):
                raise doubtful(self.files[0], forms[0])

    def _utterances(self, file: int, form: ReferenceForm) -> list[tuple[str, str]]:
        parsed = (WITH_IDS[form](line[file]) for line in self.lines)
        return [utterance for utterance in parsed if utterance is not None]

    def _by_id(self, file: int, form: ReferenceForm) -> Mapping[str, str]:
        """The texts by id. Raises FormatError for a line without an id, and for an id that occurs twice."""
        texts: dict[str, str] = {}
        for number, line in enumerate(self.lines, 1):
            utterance = WITH_IDS[form](line[file])
            if utterance is None:
                if not line[file].strip():
                    continue
                wanted = "`word word … (utterance-id)`"
                raise FormatError(
                    f"no id at the end of the line, expected {wanted}", path=self.names[file], line=number
                )
            if utterance[0] in texts:
                raise FormatError(f"the id {utterance[0]!r} occurs twice", path=self.names[file], line=number)
            texts[utterance[0]] = utterance[1]
        return texts


def read_references(paths: Sequence[str | Path], form: ReferenceForm = "auto", role: Role = "reference") -> References:
    """Read one reference per segment from each file; of files with markup, all references, or the texts of `role`.

    Raises FormatError for files with different numbers of lines, with both numbers, and where no file is named, and
    ConfigError for another form.
    """
    if not paths:
        raise FormatError("no reference file was named, expected at least one")
    return references_of([read_lines(path) for path in paths], [display_name(path) for path in paths], form, role)


def references_of(
    files: Sequence[Sequence[str]],
    names: Sequence[str],
    form: ReferenceForm = "auto",
    role: Role = "reference",
) -> References:
    """The same of the lines of files with these names."""
    form, keys = named_form(form)
    columns: Sequence[Sequence[str]] = files
    places: Sequence[Place] = ()
    if form in ("auto", "sgm", *NUMBERED):
        columns, names, places = without_markup(files, names, role, form == "sgm")
        form = "lines" if places and form not in NUMBERED else form
    shown = shown_form(names[0], columns[0]) if form == "auto" else form
    if shown is None and shows_table(columns[0], role, repeated=True):
        shown = "json"
    texts: tuple[Mapping[str, str], ...] = ()
    if shown == "stm":
        from rerank_adapters.formats.nist.timed import TimedTranscripts

        timed = [TimedTranscripts(name, tuple(column)) for name, column in zip(names, columns, strict=True)]
        return References((), tuple(names), shown, timed=tuple(timed))
    if shown in ("icefall", "fairseq"):
        from rerank_adapters.formats.fairseq import targets

        texts_in = icefall_texts if shown == "icefall" else targets
        read = [texts_in(column, name) for column, name in zip(columns, names, strict=True)]
        columns = [[f"{id_} {text}" for id_, text in texts.items()] for texts in read]
        form = "kaldi"
    elif shown == "json":
        texts = tuple(record_texts(column, name, role, keys) for column, name in zip(columns, names, strict=True))
        columns = [list(some.values()) for some in texts]
        form = "json"
    elif shown == "trn":
        form = "trn"
    else:
        _check_lines(columns[0], names[0], form)
    for name, column in zip(names, columns, strict=True):
        if len(column) != len(columns[0]):
            message = f"{len(column)} lines, but {names[0]} has {len(columns[0])}: expected as many"
            raise FormatError(message, path=name)
    return References(tuple(zip(*columns, strict=True)), tuple(names), form, texts, role, places=tuple(places))


def _check_lines(lines: Sequence[str], name: str, form: ReferenceForm) -> None:
    """Raise FormatError for lines of another form that would be taken for text: lists of hypotheses, and records."""
    if form == "auto" and (lists := unambiguous(lines, name)):
        raise FormatError(f"reads as lists in the format {lists}, which have hypotheses but no references", path=name)
    if form in ("auto", *NUMBERED):
        check_text(lines, name)


def settled(texts: Sequence[References]) -> list[References]:
    """Texts of the same segments in the forms that they show together, where their forms are not named.

    A line is logged where their lines have ids. Raises FormatError where that is doubtful.
    """
    if all(text.form != "auto" for text in texts):
        return list(texts)
    files = [file for text in texts for file in text.files]
    forms: Sequence[ReferenceForm] | None = shared_forms(files)
    if forms is None:
        return [replace(text, form="lines") if text.form == "auto" else text for text in texts]
    names, read_as = ", ".join(file.name for file in files), " and ".join(sorted(set(forms)))
    logger.info("rerank: the lines of %s have ids: they are read in %s form", names, read_as)
    firsts = accumulate((len(text.names) for text in texts), initial=0)
    pairs = zip(texts, firsts, strict=False)
    return [replace(text, form=forms[first]) if text.form == "auto" else text for text, first in pairs]
