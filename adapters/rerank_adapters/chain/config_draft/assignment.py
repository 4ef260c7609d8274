"""Assigns files to each other: which lists are tuned on or tested, and which other files belong to them.

The role of lists is in the name of their file, or of its folder where they have several (`tune`, `dev`, `test`, …). A
text belongs to the lists whose segments it has a line for; where several lists have as many, it belongs to those whose
1-bests have its words (a reference), or those in its folder, or those whose lengths vary as its own do (a source),
line by line. Sub-word pieces are joined before words are compared, as `evaluation/shared_words` does it.

A file of scores belongs to the lists whose hypotheses it has lines for, and becomes a feature `column`, which names the
files of all sets at once, with `{set}` in the place of a set's name: `{set}.comet` are `dev.comet`
and `test.comet`. Scores that one of the sets lacks can be no feature.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from rerank_adapters.chain.config_draft.lists import Lists
from rerank_adapters.chain.config_draft.recognition import SCORES
from rerank_adapters.chain.config_draft.roles import SOURCE, parts, role_of
from rerank_adapters.chain.config_draft.texts import SAME, shared_words
from rerank_adapters.formats.columnar import open_lines
from rerank_adapters.formats.reference_forms import shown_form
from rerank_adapters.formats.references import NUMBERED, References, read_groups, read_references
from rerank_adapters.formats.segment_ids import is_number
from rerank_adapters.job.job import SET
from rerank_adapters.text import whole_words
from rerank_plugins import ConfigError, FormatError
from rerank_plugins.lists.column import read_columns

WITH_LISTS = ("json", "fairseq", "icefall")  # forms of references that files of lists may have
LOST = 0.1  # the proportion of its segments that a set of lists may lack
ALIKE = 0.3  # the correlation of lengths from which a text that nobody named is a source
MANY = 10  # groups from which on tests resample them

Ask = Callable[[str, Sequence[str]], str | None]  # a question and its answers; None where nobody can be asked
ENDINGS = {".txt", ".tsv", ".csv", ".scores", ".score", ".gz", ".xz", ".bz2", ".zst"}


@dataclass
class Set:
    """Lists of the same segments, with what belongs to them; `role` is "tune" or "test", `scores` are files with a line
    for each hypothesis.
    """

    role: str
    lists: list[Lists]
    references: list[Path] = field(default_factory=list)
    source: Path | None = None
    groups: Path | None = None
    scores: list[Path] = field(default_factory=list)
    name: str = ""

    @property
    def folder(self) -> Path:
        """The folder of the first lists."""
        return self.lists[0].folder

    @property
    def rows(self) -> int:
        """The number of hypotheses in the files of the lists, before they are merged."""
        return sum(max((row for nbest in one.nbests for row in nbest.rows), default=-1) + 1 for one in self.lists)

    @property
    def has_many_groups(self) -> bool:
        """Whether there are enough groups for tests that resample them."""
        return self.groups is not None and len(set(read_groups(self.groups, self.lists[0].ids))) >= MANY

    @property
    def counts_from_1(self) -> bool:
        """Whether the first lines of its texts belong to the segment with id 1."""
        texts = [*self.references, *([self.source] if self.source else [])]
        return any(_text(path, self.lists[0].ids).form == "lines-from-1" for path in texts)

    @property
    def sources(self) -> list[str] | None:
        """The source of each segment, from its file or from the lists; None where there is none."""
        if self.source is not None:
            return lines_of(self.source, self.lists[0].ids)
        own = [nbest.source for nbest in self.lists[0].nbests]
        known = [source for source in own if source is not None]
        return known if len(known) == len(own) else None


def sets_of(lists: Sequence[Lists], tune: Sequence[Path], test: Sequence[Path], ask: Ask) -> list[Set]:
    """The sets, that which is tuned on first; `tune` and `test` name files, or their folders, whose role is known.

    Raises ConfigError for files whose role is neither seen nor told.
    """
    folders = len({one.path.parent for one in lists}) > 1
    names = {one.path: [one.path.name, *([one.path.parent.name] if folders else [])] for one in lists}
    roles = [_role_from_options(one.path, tune, test) or _role(names[one.path]) for one in lists]
    if roles.count(None) == 1 and "tune" not in roles:
        roles[roles.index(None)] = "tune"
    for place, one in enumerate(lists):
        if roles[place] is None:
            roles[place] = ask(f"Are the lists of {one.path} tuned on, or tested?", ("tune", "test"))
        if roles[place] is None:
            raise ConfigError(f"{one.path}: are these lists tuned on, or tested? Name them with --tune or --test")
    sets: list[Set] = []
    for role, one in sorted(zip(roles, lists, strict=True), key=lambda pair: pair[0] != "tune"):
        assert role is not None  # asked above
        for other in sets:
            known = other.lists[0]
            same_format = (known.format, known.options) == (one.format, one.options)
            if other.role == role and (role == "tune" or _versions(one, known)) and same_format:
                other.lists.append(one)
                break
        else:
            sets.append(Set(role, [one]))
    for number, own in enumerate(sets):
        name = _name(names[own.lists[0].path])
        own.name = f"{name}-{number}" if name in [other.name for other in sets[:number]] else name
    return sets


def assign(
    texts: Sequence[Path],
    sets: Sequence[Set],
    sources: Sequence[Path],
    references: Sequence[Path],
    of_folders: Collection[Path] = (),
) -> list[Path]:
    """Give each text to a set, as a reference, the source or its groups; `sources` and `references` are of known kind.

    Lists that hold their transcripts are their own references. Texts `of_folders`, which nobody named themselves,
    are returned where they fit no set. Raises FormatError for another text that fits no set, and for a second source of
    a set.
    """
    unused = []
    for text in [*references, *sources, *(path for path in texts if path not in (*references, *sources))]:
        if text not in (*references, *sources) and _give_groups(text, sets):
            continue
        fits = [(_fit(text, one), place) for place, one in enumerate(sets)]
        scores = [(sum(fit) + _near(text, sets[place]), fit, place) for fit, place in fits if fit]
        _, (shared, alike), place = max(scores, default=(0.0, (0.0, 0.0), -1))
        named_source = bool(parts(text.name) & SOURCE)
        if text in of_folders and (not scores or (shared < SAME and 10 * alike < ALIKE and not named_source)):
            unused.append(text)
            continue
        if not scores:
            sizes = ", ".join(f"{one.lists[0].path} has {len(one.lists[0].nbests)} segments" for one in sets)
            named = (id_ for one in sets for id_ in one.lists[0].ids if not is_number(id_))
            if (name := next(named, None)) is not None:
                sizes += f"; a segment with an id, such as {name}, needs a line with it"
                sizes += ", unless --format NAME,id_key=none numbers lists in JSON"
            raise FormatError(f"has no line for each segment of any lists ({sizes})", path=str(text))
        one = sets[place]
        is_source = text in sources or (text not in references and (shared < SAME or named_source))
        if not is_source:
            one.references.append(text)
        elif one.source is None:
            one.source = text
        else:
            what = f"and {one.source} both look like the source of {one.lists[0].path}; name one with --reference"
            raise FormatError(what, path=str(text))
    for one in sets:
        own = one.lists[0].path
        if not one.references and len(one.lists) == 1 and own.is_file() and holds_references(own) and _fit(own, one):
            one.references.append(one.lists[0].path)
    return unused


def holds_references(path: Path) -> bool:
    """Whether a file of lists shows that its transcripts or translations are in it, too."""
    with open_lines(path) as lines:
        return shown_form(str(path), list(lines)) in WITH_LISTS


def _give_groups(text: Path, sets: Sequence[Set]) -> bool:
    """Whether a text is a table of speakers or other groups of a set's segments; if so, these sets get it.

    That of the set's own folder comes before others, and then that which names speakers.
    """

    def rank(path: Path, one: Set) -> tuple[bool, bool]:
        return path.parent == one.folder, "spk" in path.name or "speaker" in path.name

    fitting = [one for one in sets if _is_groups(text, one)]
    for one in fitting:
        if one.groups is None or rank(text, one) > rank(one.groups, one):
            one.groups = text
    return bool(fitting)


def _is_groups(text: Path, one: Set) -> bool:
    try:
        groups = read_groups(text, one.lists[0].ids)
    except FormatError:
        return False
    several = 1 < len(set(groups)) < len(groups)
    return several and not all(map(SCORES.fullmatch, groups)) and shared_words(groups, one.lists[0].whole_firsts) < SAME


def _role_from_options(path: Path, tune: Sequence[Path], test: Sequence[Path]) -> str | None:
    return next((r for r, told in (("tune", tune), ("test", test)) if path in told or path.parent in told), None)


def _role(names: Sequence[str]) -> str | None:
    """The role that the first of the names shows that shows one."""
    return next((role for name in names if (role := role_of(name))), None)


def _name(names: Sequence[str]) -> str:
    """The piece of the first name with a role that shows it, as `test2019`; else a name up to the first full stop."""
    pieces = (piece for name in names for piece in re.split(r"[^A-Za-z0-9]+", name) if _role([piece]))
    return next(pieces, names[0].partition(".")[0])


def _near(text: Path, one: Set) -> float:
    """More if the text is in the folder of the lists, a little more if it has their name up to the first full stop."""
    name = one.lists[0].path.name
    return 0.15 * (text.parent == one.folder) + 0.05 * (text.name.partition(".")[0] == name.partition(".")[0])


def _versions(one: Lists, other: Lists) -> bool:
    """Whether two lists are of the same segments."""
    return one.ids == other.ids and shared_words(one.whole_firsts, other.whole_firsts) >= SAME


def lines_of(path: Path, ids: Sequence[str]) -> list[str]:
    """The line of a text for each segment. Raises FormatError for a segment that has none."""
    return [texts[0] for texts in _text(path, ids).for_segments(ids)]


def _text(path: Path, ids: Sequence[str]) -> References:
    """A text, whose lines are matched by number where all ids are numbers: a check asks whether its lines have ids."""
    try:
        text = read_references([path])
    except FormatError as error:  # markup and records may have sources alone
        try:
            text = read_references([path], role="source")
        except FormatError:
            raise error from None
    if text.form != "auto" or not all(map(is_number, ids)):
        return text
    return replace(text, form="lines-from-1" if count_from_1(ids) else "lines")


def count_from_1(ids: Sequence[str]) -> bool:
    """Whether ids are the numbers from 1, without any that is missing."""
    return list(map(int, ids)) == list(range(1, len(ids) + 1)) if all(map(is_number, ids)) else False


def _fit(path: Path, one: Set) -> tuple[float, float] | None:
    """The proportion of words and a tenth of the correlation of lengths with the 1-bests; None without the segments.

    A text without ids has a line for each segment, and a few lines for those that a decoder may have lost.
    """
    lists = one.lists[0]
    try:
        references = _text(path, lists.ids)
        surplus = len(references) - len(lists.ids)
        if references.form_for(lists.ids) in NUMBERED and not 0 <= surplus <= LOST * len(references):
            return None
        lines = whole_words(lines_of(path, lists.ids))
    except FormatError:
        return None
    lengths = np.array([[len(line), len(best)] for line, best in zip(lines, lists.whole_firsts, strict=True)], float)
    varied = len(lengths) > 2 and (lengths.std(axis=0) > 0).all()
    return shared_words(lines, lists.whole_firsts), float(np.corrcoef(lengths.T)[0, 1]) / 10 if varied else 0.0


@dataclass(frozen=True)
class Column:
    """A feature `column`: its label, the path of its files, and how many numbers a line has."""

    label: str
    path: Path
    width: int


def assign_scores(files: Sequence[Path], sets: Sequence[Set], of_folders: Collection[Path] = ()) -> list[Path]:
    """Give each file of scores to the set that has as many hypotheses as it has lines, by name or folder where several
    have; return those among `of_folders`, which nobody named, that fit none. Raises FormatError for another such file.
    """
    unused = []
    for file in files:
        lines = len(read_columns(file))
        fitting = [one for one in sets if one.rows == lines]
        pieces = re.split(r"[^A-Za-z0-9]+", file.name)
        near = [2 * (one.name in pieces) + (file.parent.name == one.folder.name) for one in fitting]
        best = [one for one, nearness in zip(fitting, near, strict=True) if nearness == max(near)]
        if len(best) == 1:
            best[0].scores.append(file)
        elif file in of_folders:
            unused.append(file)
        else:
            sizes = " and ".join(f"{one.rows} for {one.name}" for one in sets)
            raise FormatError(
                f"{lines} lines of scores, expected a line for each hypothesis of one set: {sizes}"
                + (", whose name in that of the file would tell which" if best else ""), path=str(file),
            )  # fmt: skip
    return unused


def columns_of(sets: Sequence[Set]) -> tuple[list[Column], list[Path]]:
    """The features, in the order of the first set's files; and the files that are in none of them."""
    columns: list[Column] = []
    left = {file for one in sets for file in one.scores}
    for file in sets[0].scores:
        for path in _patterns(file, sets[0].name):
            files = [Path(str(path).replace(SET, one.name)) for one in sets]
            if all(file in one.scores for file, one in zip(files, sets, strict=True)):
                label = _label(path)
                label += f"-{len(columns) + 1}" if label in [column.label for column in columns] else ""
                columns.append(Column(label, path, read_columns(file).shape[1]))
                left.difference_update(files)
                break
    return columns, sorted(left)


def _patterns(file: Path, name: str) -> Iterator[Path]:
    """The path of a file, and with `{set}` for the name of a set in its own name, in its folder's, and in both."""
    folder, own = (part.replace(name, SET) for part in (file.parent.name, file.name))
    yield file
    yield file.with_name(own)
    if file.parent.name:
        yield file.parent.with_name(folder) / file.name
        yield file.parent.with_name(folder) / own


def _label(path: Path) -> str:
    """What the name of a file calls its scores: what is left without the set's name and endings such as `.txt.gz`."""
    while path.suffix in ENDINGS:
        path = path.with_suffix("")
    return path.name.replace(SET, "").strip("._-") or path.parent.name.replace(SET, "").strip("._-") or "scores"
