"""Which file of a job is what: lists to tune on or to test, their references and sources, language models.

What the user says of a file comes first. Otherwise the role of lists is in the name of their file or, where it shows
none, of their folder (`tune`, `dev`, `test`, …). A text belongs to the lists whose segments it has a line for; where
several lists have as many, to those whose 1-bests have its words (a reference), or which are beside it, or whose
lengths vary as its own do (a source).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from rerank_adapters.cli.job_set import MIN_SHARED, Set
from rerank_adapters.formats.reading import read_nbest
from rerank_adapters.formats.recognition import guess_file, head_of, unambiguous
from rerank_adapters.formats.segment_ids import is_number
from rerank_adapters.job.specs import Names, Spec
from rerank_adapters.texts.line_ids import Lines
from rerank_adapters.texts.reading import read_lines, read_texts
from rerank_adapters.texts.records import are_repeated, records_in, separator_of
from rerank_plugins import ConfigError, FormatError
from rerank_plugins.kit.files.model_file import is_model_file, model_kind
from rerank_plugins.ngram.arpa_files import is_kenlm_binary

ROLES = {  # pieces of names that say what a file is
    "tune": {"tune", "tuning", "dev", "devel", "development", "valid", "validation", "val", "heldout"},
    "test": {"test", "tst", "eval", "evaluation", "blind"},
    "reference": {"ref", "refs", "reference", "references", "gold", "truth", "transcript", "transcripts", "trn"},
    "source": {"src", "source", "input"},
}
OF_LISTS, OF_TEXTS = ("tune", "test"), ("reference", "source")
MIN_ALIKE = 0.03  # a tenth of the correlation of lengths, from which a text that nobody named is a source


def role_of(name: str, roles: Iterable[str] = OF_LISTS) -> str | None:
    """The first of the roles that a piece of a name says, as `dev` says "tune"."""
    pieces = {*re.split(r"[^a-z]+", name.lower())}
    return next((role for role in roles if pieces & ROLES[role]), None)


@dataclass
class JobFiles:
    """The files of a job by what they are, those in folders that are no lists themselves included.

    `told` is what the user says that files are, the keys of ROLES, and `named` are all files and folders that he names.
    A folder may hold anything: its files that belong to nothing are `unused`, and no error. Lists have the format of
    `format`, as NAME,option=value, or else what their first lines show.
    """

    names: Names
    format: str | None
    told: Mapping[Path, str]
    named: Collection[Path]
    lists: list[Set] = field(default_factory=list)
    texts: list[Path] = field(default_factory=list)
    models: list[Path] = field(default_factory=list)
    unused: list[Path] = field(default_factory=list)

    def sets(self) -> list[Set]:
        """The sets, that which is tuned on first.

        Raises FormatError for lists that break their format, if no file holds any, for a text that the user names and
        that fits no set, and for a second source of a set; ConfigError for lists whose role is neither seen nor told.
        """
        for path in self.named:
            self._sort(path)
        if not self.lists:
            first = next(iter(self.named))
            self._lists((self.texts or [first])[0])  # which tells what a file of lists looks like
            raise FormatError("holds no lists, or lines that may be text: name lists by --tune", path=str(first))
        sets = self._merged()
        for text in sorted(self.texts, key=lambda text: text not in self.told):
            self._assign(text, sets)
        for one in sets:
            if not one.references and len(one.lists) == 1 and _holds_references(one.path):
                one.references += [one.path] if one.fit(one.path) else []
        return sets

    def _sort(self, path: Path) -> None:
        """Add a file to those of its kind, or the files of a folder."""
        role = self.told.get(path)
        if role in OF_TEXTS:
            self.texts.append(path)
        elif role in OF_LISTS:
            self.lists.append(self._lists(path))
        elif path.is_dir():
            if lists := self._lists_shown(path):
                self.lists.append(lists)
            for child in sorted(path.iterdir()) if lists is None else ():
                if child.name[0] != "." and child not in self.named:
                    self._sort(child)
        else:
            try:
                is_model = _is_language_model(path)
            except FormatError:  # a file of another kind
                if path in self.named:
                    raise
                self.unused.append(path)
                return
            if is_model:
                self.models.append(path)
            elif lists := self._lists_shown(path):
                self.lists.append(lists)
            else:
                self.texts.append(path)

    def _lists(self, path: Path) -> Set:
        """The lists of a file or a folder. Raises FormatError."""
        spec = Spec.read("format", self.format or guess_file(path).name, self.names, "--format")
        nbests = read_nbest([path], spec.make())
        return Set(self.told.get(path) or role_of(path.name), path.name, spec.table(), {path: nbests})

    def _lists_shown(self, path: Path) -> Set | None:
        """The same; None for a file that may be a text, and for a folder of several sets or of other files.

        Raises FormatError for a file of lists with a fault.
        """
        if path.is_dir():
            if {role_of(child.name) for child in path.iterdir()} >= {*OF_LISTS}:
                return None
        elif not self.format:
            shown = unambiguous(head_of(path))
            is_text = shown is None or (shown == "rows" and _has_texts(path))
            return None if is_text else self._lists(path)
        elif role_of(path.name, OF_TEXTS):
            return None
        with suppress(FormatError):
            return self._lists(path)
        return None

    def _merged(self) -> list[Set]:
        """The lists with their roles and names, of which versions of each other are one set."""
        if len({one.path.parent for one in self.lists}) > 1:
            for one in self.lists:
                if not role_of(one.name):
                    one.name = f"{one.name}.{one.path.parent.name}"
                    one.role = one.role or role_of(one.name)
        unknown = [one for one in self.lists if one.role is None]
        if len(unknown) == 1 and all(one.role != "tune" for one in self.lists):
            unknown.pop().role = "tune"
        if unknown:
            raise ConfigError(
                f"{unknown[0].path}: are these lists tuned on, or tested? Name them with --tune or --test"
            )
        sets: list[Set] = []
        for one in sorted(self.lists, key=lambda one: one.role != "tune"):
            if other := next(filter(one.is_version_of, sets), None):
                other.lists |= one.lists
                continue
            pieces = re.split(r"[^A-Za-z0-9]+", one.name)
            name = next(filter(role_of, pieces), one.name.partition(".")[0])  # as test2019
            one.name = f"{name}-{len(sets)}" if name in [other.name for other in sets] else name
            sets.append(one)
        return sets

    def _assign(self, text: Path, sets: Sequence[Set]) -> None:
        """Give a text to a set, as a reference or the source."""
        told = self.told.get(text) or role_of(text.name, OF_TEXTS)
        fits = [(fit, one) for one in sets if (fit := one.fit(text))]
        (shared, alike, _), best = max(fits, key=lambda pair: sum(pair[0]), default=((0.0, 0.0, 0.0), None))
        kind = told or ("reference" if shared >= MIN_SHARED else "source")
        if text not in self.named and (best is None or (kind == "source" and not told and alike < MIN_ALIKE)):
            self.unused.append(text)
        elif best is None:
            raise _fits_nowhere(text, sets)
        elif kind == "reference":
            best.references.append(text)
        elif best.source is None:
            best.source = text
        else:
            both = f"and {best.source} both look like the source of {best.path}; name one with --reference"
            raise FormatError(both, path=str(text))


def _has_texts(path: Path) -> bool:
    """Whether a table has one text for each id, as references have it."""
    lines = read_lines(path)
    return bool(separator_of(lines)) and not are_repeated(records_in(lines, str(path)) or ())


def _holds_references(path: Path) -> bool:
    """Whether a file of lists shows that its transcripts or translations are in it, too."""
    try:
        return not isinstance(read_texts(path, "reference"), Lines)
    except FormatError:
        return False


def _is_language_model(path: Path) -> bool:
    """Whether a file is an n-gram model. Raises FormatError for another model of this program."""
    if is_model_file(path):
        if model_kind(path) == "ngram":
            return True
        raise FormatError("is a model file of this program: give it to the feature that uses it", path=str(path))
    return is_kenlm_binary(path) or [line.strip() for line in head_of(path) if line.strip()][:1] == ["\\data\\"]


def _fits_nowhere(text: Path, sets: Sequence[Set]) -> FormatError:
    sizes = ", ".join(f"{one.path} has {len(one.ids)} segments" for one in sets)
    name = next((id_ for one in sets for id_ in one.ids if not is_number(id_)), None)
    if name is not None:
        sizes += f"; a segment with an id, such as {name}, needs a line with it"
        sizes += ", unless --format NAME,id_key=none numbers lists in JSON"
    return FormatError(f"has no line for each segment of any lists ({sizes})", path=str(text))
