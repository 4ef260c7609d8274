"""Recognises files: n-best lists, text of one line a segment, scores, decoder weights, or an n-gram language model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path

from rerank_adapters.chain.first_config.texts import whole_words
from rerank_adapters.chain.job import Job
from rerank_adapters.config import Config
from rerank_adapters.formats.guessing import LINES, NUMBER, guess, guess_folder
from rerank_adapters.formats.reading import read_nbest
from rerank_plugins import FormatError, NBestFormat, NBestList, open_text
from rerank_plugins.core.registry import Registry
from rerank_plugins.kit.files.model_file import is_model_file
from rerank_plugins.ngram.arpa_files import is_kenlm_binary

LIKE_TEXT = ("plain", "espnet")  # formats that a text with empty lines or repeated first words looks like
SCORES = re.compile(rf"\s*{NUMBER}(?:\s+{NUMBER})*\s*")
WEIGHT = re.compile(rf"\S+=\s*{NUMBER}(?:\s+{NUMBER})*")


@dataclass(frozen=True)
class Lists:
    """A file or folder of n-best lists, with the name of its format."""

    path: Path
    format: str
    nbests: list[NBestList] = field(repr=False)

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
        """The same texts with sub-word pieces joined, which other texts are compared with."""
        return whole_words(self.firsts)


@dataclass
class Recognised:
    """The files by what they are; `of_folders` are those that nobody named, since they are in a folder, which may hold
    anything, and `unused` those of them that are nothing of this.
    """

    lists: list[Lists] = field(default_factory=list)
    texts: list[Path] = field(default_factory=list)
    scores: list[Path] = field(default_factory=list)
    weights: list[Path] = field(default_factory=list)
    language_models: list[Path] = field(default_factory=list)
    of_folders: set[Path] = field(default_factory=set)
    unused: list[Path] = field(default_factory=list)


def recognise(paths: Sequence[Path], registry: Registry, format_: str | None = None) -> Recognised:
    """Sort files by what they are, and read the lists; `format_` names the format of the lists where it is known.

    A folder that is no n-best lists stands for its files, but for configs. A file that could be lists or a text counts
    as a text if other files are lists.
    Raises FormatError for lists that break their format, and if no file holds n-best lists.
    """
    recognised, unsure = Recognised(), list[tuple[Path, str]]()
    kinds = {
        "scores": recognised.scores, "weights": recognised.weights, "language model": recognised.language_models
    }  # fmt: skip
    reason: FormatError | None = None
    for path in _files(paths, registry, format_, recognised.of_folders):
        if path.is_dir():
            recognised.lists.append(_read(path, format_ or guess_folder(str(path)).name, registry))
            continue
        try:
            kind, head = _kind(path)
        except FormatError:
            if path not in recognised.of_folders:
                raise
            recognised.unused.append(path)
            continue
        if kind == "weights" and path.suffix == ".toml" and path in recognised.of_folders:
            recognised.unused.append(path)  # probably a config
        elif kind:
            kinds[kind].append(path)
        else:
            try:
                name = guess(head, str(path)).name
            except FormatError as error:
                reason = reason or error
                recognised.texts.append(path)
            else:
                if name in LIKE_TEXT:
                    unsure.append((path, name))
                else:
                    recognised.lists.append(_read(path, format_ or name, registry))
    for path, name in unsure:
        if recognised.lists:
            recognised.texts.append(path)
        else:
            recognised.lists.append(_read(path, format_ or name, registry))
    if not recognised.lists:
        raise reason or FormatError("holds no n-best lists", path=str(paths[0]))
    return recognised


def _files(paths: Iterable[Path], registry: Registry, format_: str | None, of_folders: set[Path]) -> list[Path]:
    """The paths, with files in place of a folder that is no n-best lists; `of_folders` takes up these files."""
    files = []
    for path in paths:
        if path.is_dir() and not _is_lists(path, registry, format_):
            children = (child for child in sorted(path.iterdir()) if not child.name.startswith("."))
            inner = _files(children, registry, format_, of_folders)
            of_folders.update(inner)
            files += inner
        else:
            files.append(path)
    return files


def _is_lists(folder: Path, registry: Registry, format_: str | None) -> bool:
    if format_ is not None:
        job = Job.create(Config(nbest={"use": format_}), registry)
        return type(job.format).read_folder is not NBestFormat.read_folder
    try:
        guess_folder(str(folder))
    except FormatError:
        return False
    return True


def _kind(path: Path) -> tuple[str, list[str]]:
    """What a file is that is neither lists nor a text, or an empty text; and its first lines.

    Raises FormatError for a file that cannot be read, and for a model of this program.
    """
    if is_model_file(path):
        raise FormatError("is a model file of this program: give it to the feature that uses it", path=str(path))
    binary = is_kenlm_binary(path)
    with open_text(path) as lines:
        head = [] if binary else list(islice(lines, LINES))
    if binary or [line.strip() for line in head[:3] if line.strip()][:1] == ["\\data\\"]:
        return "language model", head
    if path.suffix in (".ini", ".toml") or (head and all(WEIGHT.fullmatch(line.strip()) for line in head)):
        return "weights", head
    return "scores" if head and all(map(SCORES.fullmatch, head)) else "", head


def _read(path: Path, format_: str, registry: Registry) -> Lists:
    job = Job.create(Config(nbest={"use": format_}), registry)
    return Lists(path, format_, read_nbest([path], job.format))
