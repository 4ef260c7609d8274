"""Finds out which file of a job is what, from names, numbers of lines and shared words.

The role of lists is in the name of their file or, where it shows none, of their folder (`tune`, `dev`, `test`, …). A
text belongs to the lists whose segments it has a line for; where several lists have as many, to those whose 1-bests
have its words (a reference), or which are beside it, or whose lengths vary as its own do (a source). What the user says
comes before all this. Sub-word pieces are joined before words are compared.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rerank_adapters.data.shared_words import SharedWords
from rerank_adapters.formats.columnar import open_lines
from rerank_adapters.formats.guessing import MAX_LINES, guess, guess_folder, unmistakable
from rerank_adapters.formats.reading import read_nbest
from rerank_adapters.formats.record_texts import shows_table
from rerank_adapters.formats.reference_forms import shown_form
from rerank_adapters.formats.references import NUMBERED, References, read_references
from rerank_adapters.formats.segment_ids import is_number
from rerank_adapters.job.names import Names
from rerank_adapters.job.specs import Spec
from rerank_adapters.text import whole_words
from rerank_plugins import ConfigError, FormatError, NBestList
from rerank_plugins.core.plugins import Registry
from rerank_plugins.kit.files.model_file import is_model_file, model_kind
from rerank_plugins.ngram.arpa_files import is_kenlm_binary

ROLES = {
    "tune": {"tune", "tuning", "dev", "devel", "development", "valid", "validation", "val", "heldout"},
    "test": {"test", "tst", "eval", "evaluation", "blind"},
}
SOURCE = {"src", "source", "input"}
REFERENCE = {"ref", "refs", "reference", "references", "gold", "truth", "transcript", "transcripts", "trn"}
WITH_LISTS = ("json", "fairseq", "icefall")  # forms of references that files of lists may have
MAX_LOST = 0.1  # the proportion of its segments that a set of lists may lack
MIN_SHARED = 0.2  # the proportion of words, beyond that by chance, from which two texts are versions of each other
MIN_ALIKE = 0.03  # a tenth of the correlation of lengths, from which a text that nobody named is a source
MAX_COMPARED = 300  # segments whose words are compared


@dataclass(frozen=True)
class Lists:
    """A file or folder of n-best lists, with the name of its format and the options of the format."""

    path: Path
    format: str
    nbests: Sequence[NBestList] = field(repr=False)
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ids(self) -> list[str]:
        """The ids of the segments, in order."""
        return [nbest.segment_id for nbest in self.nbests]

    @property
    def firsts(self) -> list[str]:
        """The decoder's 1-best of each segment."""
        return [nbest[0].text for nbest in self.nbests]

    @cached_property
    def whole_firsts(self) -> list[str]:
        """The same texts with sub-word pieces joined."""
        return whole_words(self.firsts)


@dataclass
class Set:
    """Lists of the same segments with the texts that belong to them; their role is "tune" or "test"."""

    role: str
    name: str
    lists: list[Lists]
    references: list[Path] = field(default_factory=list)
    source: Path | None = None

    def __str__(self) -> str:
        """The files of the set, as a line of output."""
        beside = [f"references {', '.join(map(str, self.references))}"] if self.references else []
        beside += [f"source {self.source or 'in the lists'}"] if self.sources is not None else []
        return "; ".join([", ".join(str(one.path) for one in self.lists), *beside])

    @property
    def folder(self) -> Path:
        """The folder that the first lists are, or that they are in."""
        path = self.lists[0].path
        return path if path.is_dir() else path.parent

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
        own = [nbest.source for nbest in self.lists[0].nbests if nbest.source is not None]
        return own if len(own) == len(self.lists[0].nbests) else None


@dataclass
class JobFiles:
    """The files of a job by what they are; `of_folders` are those that nobody named, as a folder may hold anything."""

    lists: list[Lists] = field(default_factory=list)
    texts: list[Path] = field(default_factory=list)
    models: list[Path] = field(default_factory=list)
    unused: list[Path] = field(default_factory=list)
    of_folders: set[Path] = field(default_factory=set)

    @classmethod
    def sort(cls, paths: Sequence[Path], lists: Sequence[Path], texts: Sequence[Path], reader: Reader) -> JobFiles:
        """Sort files, and the files of folders that are no lists themselves; `lists` and `texts` are known to be these.

        Raises FormatError for lists that break their format, and if no file holds any.
        """
        job = cls()
        for path in dict.fromkeys([*paths, *lists, *texts]):
            job._add(path, lists, texts, reader)
        if not job.lists:
            reader.read((job.texts or list(paths))[0])  # which tells what a file of lists looks like
            raise FormatError("holds no lists, or lines that may be text: name lists by --tune", path=str(paths[0]))
        return job

    def _add(self, path: Path, lists: Sequence[Path], texts: Sequence[Path], reader: Reader) -> None:
        if path in texts:
            self.texts.append(path)
        elif path in lists or (path.is_dir() and reader.reads_folder(path)):
            self.lists.append(reader.read(path))
        elif path.is_dir():
            children = [child for child in sorted(path.iterdir()) if child.name[0] != "."]
            self.of_folders.update(children)
            for child in children:
                if child not in (*lists, *texts):
                    self._add(child, lists, texts, reader)
        else:
            try:
                is_model = is_language_model(path)
            except FormatError:  # a file of another kind
                if path not in self.of_folders:
                    raise
                self.unused.append(path)
                return
            if is_model:
                self.models.append(path)
            elif lists_of_file := reader.lists_of(path):
                self.lists.append(lists_of_file)
            else:
                self.texts.append(path)


@dataclass(frozen=True)
class Reader:
    """Reads lists in the format of a table, or in the one that their first lines show where it is empty."""

    registry: Registry
    table: Mapping[str, Any]

    def read(self, path: Path) -> Lists:
        """The lists of a file or a folder. Raises FormatError."""
        if self.table:
            table = dict(self.table)
        else:
            table = {"use": (guess_folder(str(path)) if path.is_dir() else guess(_head(path), str(path))).name}
        nbests = read_nbest([path], Spec.read("format", table, Names(self.registry), "--format").make())
        return Lists(path, table.pop("use"), nbests, table)

    def reads_folder(self, folder: Path) -> bool:
        """Whether a folder is lists of one set, and not a folder of several sets or of other files."""
        if {*ROLES} <= {role_of(child.name) for child in folder.iterdir()}:
            return False
        try:
            self.read(folder)
        except FormatError:
            return False
        return True

    def lists_of(self, path: Path) -> Lists | None:
        """The lists of a file; None for one that may be a text. Raises FormatError for lists with a fault."""
        if not self.table:
            shown = unmistakable(_head(path), str(path))
            return self.read(path) if shown and not (shown.name == "rows" and _has_texts(path)) else None
        try:
            return None if parts(path.name) & (SOURCE | REFERENCE) else self.read(path)
        except FormatError:
            return None


def _has_texts(path: Path) -> bool:
    """Whether a table has one text for each id, as references have it."""
    with open_lines(path) as lines:
        return shows_table([line.rstrip("\r\n") for line in lines], "reference")


def _head(path: Path) -> list[str]:
    with open_lines(path) as lines:
        return list(islice(lines, MAX_LINES))


def is_language_model(path: Path) -> bool:
    """Whether a file is an n-gram model: of `rerank train ngram`, an ARPA file or a KenLM binary.

    Raises FormatError for another model of this program.
    """
    if is_model_file(path):
        if model_kind(path) == "ngram":
            return True
        raise FormatError("is a model file of this program: give it to the feature that uses it", path=str(path))
    return is_kenlm_binary(path) or [line.strip() for line in _head(path) if line.strip()][:1] == ["\\data\\"]


def parts(name: str) -> set[str]:
    """The pieces of a name that consist of letters, in lower case."""
    return set(re.split(r"[^a-z]+", name.lower()))


def role_of(name: str) -> str | None:
    """The role, "tune" or "test", where a name has a piece that says so."""
    return next((role for role, names in ROLES.items() if parts(name) & names), None)


def sets_of(lists: Sequence[Lists], tune: Collection[Path], test: Collection[Path]) -> list[Set]:
    """The sets, that which is tuned on first; `tune` and `test` are files of known roles.

    Lists of one role and format are merged: all that are tuned on, and those that are tested and have the same
    segments. Raises ConfigError for lists whose role is neither seen nor told.
    """
    names = {one.path: one.path.name for one in lists}
    if len({one.path.parent for one in lists}) > 1:
        names |= {one.path: f"{one.path.name}.{one.path.parent.name}" for one in lists if not role_of(one.path.name)}
    told = dict.fromkeys(tune, "tune") | dict.fromkeys(test, "test")
    roles = [told.get(one.path) or role_of(names[one.path]) for one in lists]
    if roles.count(None) == 1 and "tune" not in roles:
        roles[roles.index(None)] = "tune"
    sets: list[Set] = []
    for role, one in sorted(zip(roles, lists, strict=True), key=lambda pair: pair[0] != "tune"):
        if role is None:
            raise ConfigError(f"{one.path}: are these lists tuned on, or tested? Name them with --tune or --test")
        for other in sets:
            first = other.lists[0]
            alike = (first.format, first.options) == (one.format, one.options) and other.role == role
            if alike and (role == "tune" or _are_versions(one, first)):
                other.lists.append(one)
                break
        else:
            name = _name(names[one.path])
            number = [other.name for other in sets].count(name)
            sets.append(Set(role, f"{name}-{len(sets)}" if number else name, [one]))
    return sets


def _are_versions(one: Lists, other: Lists) -> bool:
    return one.ids == other.ids and shared_words(one.whole_firsts, other.whole_firsts) >= MIN_SHARED


def _name(name: str) -> str:
    """The piece of a name that shows a role, as `test2019`; else the name up to the first full stop."""
    pieces = (piece for piece in re.split(r"[^A-Za-z0-9]+", name) if role_of(piece))
    return next(pieces, name.partition(".")[0])


def assign(
    texts: Sequence[Path], sets: Sequence[Set], sources: Sequence[Path], references: Sequence[Path],
    of_folders: Collection[Path] = (),
) -> list[Path]:  # fmt: skip
    """Give each text to a set, as a reference or the source; `sources` and `references` are of known kind.

    Lists that hold their transcripts are their own references. Texts `of_folders` are returned where they fit no set.
    Raises FormatError for another text that fits no set, and for a second source of a set.
    """
    unused = []
    for text in sorted(texts, key=lambda text: text not in (*references, *sources)):
        told = "reference" if text in references else "source" if text in sources else _kind_by_name(text.name)
        fits = [(fit, place) for place, one in enumerate(sets) if (fit := Fit.of(text, one))]
        fit, place = max(fits, key=lambda pair: sum(pair[0]), default=(Fit(0.0, 0.0, 0.0), -1))
        kind = told or ("reference" if fit.shared >= MIN_SHARED else "source")
        looks_right = told or kind == "reference" or fit.alike >= MIN_ALIKE
        if text in of_folders and not (fits and looks_right):
            unused.append(text)
        elif not fits:
            raise _fits_nowhere(text, sets)
        elif kind == "reference":
            sets[place].references.append(text)
        elif (other := sets[place].source) is None:
            sets[place].source = text
        else:
            both = f"and {other} both look like the source of {sets[place].lists[0].path}; name one with --reference"
            raise FormatError(both, path=str(text))
    for one in sets:
        own = one.lists[0].path
        if not one.references and len(one.lists) == 1 and own.is_file() and _holds_references(own) and Fit.of(own, one):
            one.references.append(own)
    return unused


def _kind_by_name(name: str) -> str:
    return "reference" if parts(name) & REFERENCE else "source" if parts(name) & SOURCE else ""


def _holds_references(path: Path) -> bool:
    """Whether a file of lists shows that its transcripts or translations are in it, too."""
    with open_lines(path) as lines:
        return shown_form(str(path), list(lines)) in WITH_LISTS


def _fits_nowhere(text: Path, sets: Sequence[Set]) -> FormatError:
    sizes = ", ".join(f"{one.lists[0].path} has {len(one.lists[0].nbests)} segments" for one in sets)
    named = (id_ for one in sets for id_ in one.lists[0].ids if not is_number(id_))
    if (name := next(named, None)) is not None:
        sizes += f"; a segment with an id, such as {name}, needs a line with it"
        sizes += ", unless --format NAME,id_key=none numbers lists in JSON"
    return FormatError(f"has no line for each segment of any lists ({sizes})", path=str(text))


class Fit(NamedTuple):
    """How well a text fits a set that it has a line for each segment of: a higher sum is a better fit.

    `shared` is the proportion of words that it shares with the 1-bests, beyond that by chance, `alike` a tenth of the
    correlation of lengths, and `near` is more for a text that is beside the lists or begins with their name.
    """

    shared: float
    alike: float
    near: float

    @classmethod
    def of(cls, path: Path, one: Set) -> Fit | None:
        """The fit; None for a text that lacks segments, or has many others."""
        lists = one.lists[0]
        try:
            text = _text(path, lists.ids)
            surplus = len(text) - len(lists.ids)
            if text.form_for(lists.ids) in NUMBERED and not 0 <= surplus <= MAX_LOST * len(text):
                return None
            lines = whole_words(lines_of(path, lists.ids))
        except FormatError:
            return None
        lengths = np.array(
            [[len(line), len(best)] for line, best in zip(lines, lists.whole_firsts, strict=True)], float
        )
        varied = len(lengths) > 2 and (lengths.std(axis=0) > 0).all()
        alike = float(np.corrcoef(lengths.T)[0, 1]) / 10 if varied else 0.0
        same_stem = path.name.partition(".")[0] == lists.path.name.partition(".")[0]
        return cls(
            shared_words(lines, lists.whole_firsts), alike, 0.15 * (path.parent == one.folder) + 0.05 * same_stem
        )


def shared_words(texts: Sequence[str], others: Sequence[str]) -> float:
    """The mean proportion of words that texts share with those of the same segments, less that with other segments'."""
    return SharedWords.of(texts[:MAX_COMPARED], others[:MAX_COMPARED]).excess


def lines_of(path: Path, ids: Sequence[str]) -> list[str]:
    """The line of a text for each segment. Raises FormatError for a segment that has none."""
    return [texts[0] for texts in _text(path, ids).for_segments(ids)]


def _text(path: Path, ids: Sequence[str]) -> References:
    """A text, whose lines are matched by number where all ids are numbers."""
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
    return all(map(is_number, ids)) and [*map(int, ids)] == [*range(1, len(ids) + 1)]
