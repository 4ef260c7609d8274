"""Tells whether the lines of files whose form nobody named have ids.

Lines may begin (Kaldi) or end (NIST's trn) with the id of an utterance. Where lists or another file have names as ids,
a file is read in the form in which at least half of its lines have one of these, or half of these have a line.
Otherwise a line alone does not show whether its first word is an id. Files that belong together do, by three signs:

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

import logging
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from rerank_adapters.formats.segment_ids import is_number
from rerank_adapters.texts.line_forms import LINE_FORMS
from rerank_adapters.texts.texts import Texts
from rerank_plugins import FormatError

logger = logging.getLogger(__name__)
ID_FORMS = ("trn", "kaldi")
MIN_LINES_WITH_IDS = 10  # lines with ids that are alike, distinct and shared
MIN_DISTINCT_LINES = 20  # lines whose first words are all distinct, and those of another file: rare in a text
MIN_SORTED_LINES = 6  # the same, where the first words are also in alphabetical order
NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
ID_LIKE = re.compile(r"(?=\S*[\d_-])\w(?:\S*\w)?")
Claims = Mapping[str, Sequence[str]]  # by form: the ids of a file all of whose lines have distinct ones in that form


@dataclass(frozen=True)
class Lines(Texts):
    """The lines of a file whose form nobody named, as texts by their places; they may have ids."""

    lines: tuple[str, ...] = ()

    @classmethod
    def of(cls, lines: Sequence[str], path: str, role: str) -> Lines:
        """The lines of a file."""
        option = "--system-form" if role == "output" else "--reference-form"
        by_place = {str(place): (line,) for place, line in enumerate(lines)}
        return cls(path, by_place, "lines", role, "lines", True, False, f"{option} lines", tuple(lines))  # type: ignore[arg-type]

    def read(self, form: str) -> Texts:
        """The texts of the file in a form with ids. Raises FormatError as `LineForm.texts` does."""
        return LINE_FORMS[form][self.role].texts(self.lines, self.path, self.role)

    @cached_property
    def claims(self) -> Claims:
        """The ids of the lines in each form in which the file may have ids."""
        found = {form: self._distinct_ids(form) for form in ID_FORMS}
        return {form: ids for form, ids in found.items() if ids}

    def _distinct_ids(self, form: str) -> list[str]:
        """The ids of all lines that are not blank; none for fewer than two, for one that comes again, and where most
        lines have no more words, as those of a language without spaces.
        """
        kind, ids = LINE_FORMS[form][self.role], dict[str, bool]()
        for line in self.lines:
            if (utterance := kind.utterance(line)) is not None and utterance[0] not in ids:
                ids[utterance[0]] = bool(utterance[1])
            elif utterance is not None or not kind.between.fullmatch(line):
                return []
        return list(ids) if len(ids) > 1 and 2 * sum(ids.values()) > len(ids) else []

    def among(self, ids: Collection[str]) -> Texts:
        """The texts in the form in which half of the lines, or half of `ids`, are matched by id; else by place.

        Raises FormatError where this holds of both forms.
        """
        matches = {}
        for form in ID_FORMS:
            kind = LINE_FORMS[form][self.role]
            own = {utterance[0] for line in self.lines if (utterance := kind.utterance(line))}
            number = len(own & set(ids))
            if number and 2 * number >= min(len(own), len(set(ids))):
                matches[form] = number
        best = [form for form, number in matches.items() if number == max(matches.values())]
        if len(best) > 1:
            both = "its lines have the segments' ids both at the start and at the end"
            raise FormatError(f"{both}: name the form, kaldi or trn", path=self.path)
        return self.read(best[0]) if best else self


def settled(files: Sequence[Texts], segments: Sequence[str] = ()) -> list[Texts]:
    """Files of the same segments, with `Lines` in the form that all show together; `segments` are the ids of lists.

    A line is logged where nothing but the lines themselves shows that they have ids. Raises FormatError where that is
    doubtful.
    """
    with_ids = [file.ids for file in files if not file.counted]
    known = [*segments] or next(iter(with_ids), [])
    if not all(map(is_number, known)):
        return [file.among(known) if isinstance(file, Lines) else file for file in files]
    read = [_numbered(file, known or files[0].ids) for file in files]
    if segments:
        for role in ("reference", "output", "source"):
            group = [file for file in read if isinstance(file, Lines) and file.role == role]
            for beside in ([], [{"kaldi": list(segments)}], [{"kaldi": _places(group, segments)}]) if group else ():
                if forms := _shared(group, beside):
                    raise _doubtful(group[0], forms[0])
        return read
    forms = _shared(read, [])
    if forms is None:
        return read
    names, read_as = ", ".join(file.path for file in read), " and ".join(sorted(set(forms)))
    logger.info("rerank: the lines of %s have ids: they are read in %s form", names, read_as)
    return [file.read(form) if isinstance(file, Lines) else file for file, form in zip(read, forms, strict=True)]


def _numbered(file: Texts, ids: Sequence[str]) -> Texts:
    """Outputs of which enough lines begin with distinct numbers, most of them ids, as no text does, by these."""
    if not isinstance(file, Lines) or file.role != "output":
        return file
    own = file.claims.get("kaldi", ())
    if len(own) < MIN_LINES_WITH_IDS or not all(map(is_number, own)) or 2 * len({*own} & {*ids}) <= len(own):
        return file
    logger.info("rerank: the lines of %s have ids: they are read in kaldi form", file.path)
    return file.read("kaldi")


def _places(group: Sequence[Lines], segments: Sequence[str]) -> list[str]:
    """The numbers of the lines, spelt as among the ids of the segments (`007`)."""
    spelt = {int(id_): id_ for id_ in segments}
    return [spelt.get(place, str(place)) for place in range(len(group[0].lines))]


def _shared(files: Sequence[Texts], beside: Sequence[Claims]) -> list[str] | None:
    """The form in which each file has the ids that all of them share; None where the lines have no ids.

    Raises FormatError where it is doubtful whether the lines have ids.
    """
    own = [file.claims if isinstance(file, Lines) else {} if file.placed else {"kaldi": file.ids} for file in files]
    claims, open_files = [*own, *beside], [file for file in files if isinstance(file, Lines)]
    if not open_files:
        return None
    known = bool(beside) or any(not isinstance(file, Lines) and not file.placed for file in files)
    for form, ids in claims[0].items():
        forms = [next((own for own, others in of.items() if {*others} == {*ids}), None) for of in claims]
        shared = [own for own in forms if own is not None]
        if len(claims) == 1 or len(shared) < len(claims):
            continue
        if known or (len(ids) >= MIN_LINES_WITH_IDS and _alike(ids)):
            return shared[: len(files)]
        reordered = any([*of[own]] != [*ids] for of, own in zip(claims, shared, strict=True))
        ascending = len(ids) >= MIN_SORTED_LINES and [*ids] == sorted(ids)
        if reordered or ascending or len(ids) >= MIN_DISTINCT_LINES or all(NUMBER.fullmatch(id_) for id_ in ids):
            raise _doubtful(open_files[0], form)
    for file in open_files:
        for form, ids in file.claims.items():
            if form == "trn" or _alike(ids):
                raise _doubtful(file, form)
    return None


def _doubtful(file: Lines, form: str) -> FormatError:
    """The error about the form of a file whose lines may have ids."""
    first = next(iter(file.claims.get(form, ())), "")
    verb, example = ("begins", first) if form == "kaldi" else ("ends", f"({first})")
    option = file.by_place.partition(" ")[0]
    message = f"each line {verb} with what may be an id, as {example}"
    return FormatError(f"{message}: name the form, {form} for ids or lines for text ({option})", path=file.path)


def _alike(ids: Sequence[str]) -> bool:
    return all(ID_LIKE.fullmatch(id_) and not NUMBER.fullmatch(id_) for id_ in ids)
