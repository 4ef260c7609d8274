"""The texts of a file by the ids of segments, and the errors about ids that have none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rerank_adapters.formats.records import Role
from rerank_adapters.formats.segment_ids import is_number, some_of
from rerank_adapters.runtime.progress import counted
from rerank_plugins import FormatError

FROM_1 = "; if the ids count from 1, say `--reference-form lines-from-1` (in a config, `reference_form`)"
MAPPING = "mapping"  # the form of texts that a program has, by id
EMPTY_FIRST = "; if the ids count from 1, put an empty line before the first one"


@dataclass(frozen=True)
class Texts:
    """The texts of a file, in its order: for each id one, or several where the file has several references.

    `form` is the form in which the file was read, and `read_by` says what of it: keys, columns, or the tags of a role.
    The ids are only places if the file is `counted`: then they are numbers. If the user has said that the texts are
    matched by their places, it is `placed`; `by_place` is what the user types to say so, "" where nothing does.
    """

    path: str
    by_id: Mapping[str, tuple[str, ...]]
    form: str
    role: Role = "reference"
    read_by: str = ""
    counted: bool = False
    placed: bool = False
    by_place: str = ""

    @property
    def ids(self) -> list[str]:
        """The ids, in the order of the file."""
        return list(self.by_id)

    def beside(self, ids: Sequence[str]) -> Texts:  # noqa: ARG002
        """The texts by ids of the kind that the segments `ids` have."""
        return self

    def like(self, other: Texts) -> Texts:  # noqa: ARG002
        """The texts with the ids that another file of the same segments has, where both name them in another way."""
        return self

    def why_none(self, id_: str) -> str:  # noqa: ARG002
        """Why there is no text of an id that the file has; "" for other ids."""
        return ""


def missing_error(texts: Texts, lost: Sequence[str], ids: Sequence[str], advice: str = "") -> FormatError:
    """The error that a file has no text of `lost`, some of the ids of all segments, with advice."""
    if why := texts.why_none(lost[0]):
        return FormatError(why, path=texts.path)
    if mismatch := id_mismatch(texts, ids):
        return FormatError(mismatch, path=texts.path)
    known = texts.ids
    more = f"; {counted(len(lost), 'segment is', 'segments are')} missing: {some_of(lost)}" if len(lost) > 1 else ""
    if not texts.counted:
        there = f"{counted(len(known), 'segment')}: {', '.join(known[:2])}{', …' * (len(known) > 2)}"
        where = "among them" if texts.form == MAPPING else "in the file"
        return FormatError(f"segment {lost[0]!r} is not {where} ({there}){more}{advice}", path=texts.path)
    lines = f"{counted(len(known), 'line')}, for the segments {known[0]} to {known[-1]}"
    if [*map(int, lost)] == [len(known)] and known[0] == "0" and 0 not in map(int, ids):
        advice = FROM_1 if texts.role == "reference" else EMPTY_FIRST
    return FormatError(f"segment {lost[0]} is not in the file, which has {lines}{more}{advice}", path=texts.path)


def id_mismatch(texts: Texts, ids: Sequence[str]) -> str:
    """The fault where only the segments or only the texts have ids that are names; "" if both or none have."""
    names = [id_ for id_ in ids if not is_number(id_)]
    own = [id_ for id_ in texts.by_id if not is_number(id_)]
    by_place = f"{texts.by_place} matches them by position" if texts.by_place else ""
    if own and not names:
        wanted = f"segments with these ids, as in `{own[0]} word word …` (kaldi), or numbers as ids of the file"
        wanted = f"where both are in the same order, {by_place}" if by_place else f"wanted {wanted}"
        return f"the file has ids, such as {own[0]!r}, and the segments have numbers; {wanted}"
    if names and not own:
        wanted = f"wanted `{names[0]} word word …` (kaldi) or `word word … ({names[0]})` (trn)"
        if texts.role == "output":
            wanted += f", or where both are in the same order, {by_place}" if by_place else ""
        else:
            wanted += "; lists in JSON are numbered from 0 by the option id_key=none of their format"
        return f"the segments have ids, such as {names[0]!r}, and the file has none; {wanted}"
    return ""
