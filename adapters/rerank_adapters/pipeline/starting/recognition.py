"""What a file is: n-best lists, a text of one line a segment, decoder weights, or an n-gram language model."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from rerank_adapters.config import Config
from rerank_adapters.formats.compressed import open_text
from rerank_adapters.formats.guessing import LINES, NUMBER, guess, guess_folder
from rerank_adapters.formats.reading import read_nbest
from rerank_adapters.pipeline.job import Job
from rerank_plugins import FormatError, NBestList
from rerank_plugins.model_file import is_model_file
from rerank_plugins.registry import Registry

LIKE_TEXT = ("plain", "espnet")  # formats that a text with empty lines or repeated first words looks like
WEIGHT = re.compile(rf"\S+=\s*{NUMBER}(?:\s+{NUMBER})*")
KENLM = b"mmap lm http://kheafield.com/code"  # the first bytes of KenLM's binary files


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


@dataclass
class Recognised:
    """The files by what they are."""

    lists: list[Lists] = field(default_factory=list)
    texts: list[Path] = field(default_factory=list)
    weights: list[Path] = field(default_factory=list)
    language_models: list[Path] = field(default_factory=list)


def recognise(paths: list[Path], registry: Registry, format_: str | None = None) -> Recognised:
    """Sort files by what they are, and read the lists; `format_` names the format of the lists where it is known.

    A file that could be lists or a text counts as a text if other files are lists.
    Raises FormatError for lists that break their format, and if no file holds n-best lists.
    """
    recognised, unsure = Recognised(), list[tuple[Path, str]]()
    reason: FormatError | None = None
    for path in paths:
        if path.is_dir():
            recognised.lists.append(_read(path, format_ or guess_folder(str(path)).name, registry))
            continue
        if is_model_file(path):
            raise FormatError("is a model file of this program: give it to the feature that uses it", path=str(path))
        with open(path, "rb") as stream:
            binary = stream.read(len(KENLM)) == KENLM
        with open_text(path) as lines:
            head = [] if binary else list(islice(lines, LINES))
        if binary or [line.strip() for line in head[:3] if line.strip()][:1] == ["\\data\\"]:
            recognised.language_models.append(path)
        elif path.suffix in (".ini", ".toml") or (head and all(WEIGHT.fullmatch(line.strip()) for line in head)):
            recognised.weights.append(path)
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


def _read(path: Path, format_: str, registry: Registry) -> Lists:
    job = Job.create(Config(nbest={"use": format_}), registry)
    return Lists(path, format_, read_nbest([path], job.format))
