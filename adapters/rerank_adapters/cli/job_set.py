"""A set of a job that is drafted: lists of the same segments, and how well texts fit them.

Sub-word pieces are joined before words are compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from rerank_adapters.data.shared_words import SharedWords
from rerank_adapters.formats.segment_ids import is_number
from rerank_adapters.text import whole_words
from rerank_adapters.texts.line_ids import Lines
from rerank_adapters.texts.pairing import for_segments
from rerank_adapters.texts.reading import read_texts
from rerank_adapters.texts.texts import Texts
from rerank_plugins import FormatError, NBestList

MAX_LOST = 0.1  # the proportion of its segments that a set of lists may lack
MIN_SHARED = 0.2  # the proportion of words, beyond that by chance, from which two texts are versions of each other
MAX_COMPARED = 300  # segments whose words are compared


@dataclass
class Set:
    """Lists of the same segments with the texts that belong to them.

    `role` is "tune" or "test", None while it is not known. `table` is that of the format, and `lists` has the lists of
    each file or folder.
    """

    role: str | None
    name: str
    table: Mapping[str, Any]
    lists: dict[Path, Sequence[NBestList]]
    references: list[Path] = field(default_factory=list)
    source: Path | None = None

    @property
    def path(self) -> Path:
        """The first file or folder of lists."""
        return next(iter(self.lists))

    @cached_property
    def nbests(self) -> Sequence[NBestList]:
        """The lists of the first file."""
        return self.lists[self.path]

    @cached_property
    def ids(self) -> list[str]:
        """The ids of the segments, in order."""
        return [nbest.segment_id for nbest in self.nbests]

    @cached_property
    def firsts(self) -> list[str]:
        """The decoder's 1-best of each segment."""
        return [nbest[0].text for nbest in self.nbests]

    @cached_property
    def whole_firsts(self) -> list[str]:
        """The same texts with sub-word pieces joined."""
        return whole_words(self.firsts)

    @property
    def sources(self) -> list[str] | None:
        """The source of each segment, from its file or from the lists; None where there is none."""
        if self.source is not None:
            return self.lines(self.source)
        own = [nbest.source for nbest in self.nbests if nbest.source is not None]
        return own if len(own) == len(self.ids) else None

    def text(self, path: Path) -> Texts:
        """A text, whose lines are matched by number where all ids are numbers. Raises FormatError."""
        try:
            text = read_texts(path, "reference")
        except FormatError as error:  # markup and records may have sources alone
            try:
                text = read_texts(path, "source")
            except FormatError:
                raise error from None
        if not isinstance(text, Lines) or not self.numbered:
            return text
        from_1 = [*map(int, self.ids)] == [*range(1, len(self.ids) + 1)]
        return read_texts(path, "reference", "lines-from-1" if from_1 else "lines")

    @property
    def numbered(self) -> bool:
        """Whether all ids of the segments are numbers."""
        return all(map(is_number, self.ids))

    def lines(self, path: Path) -> list[str]:
        """The line of a text for each segment. Raises FormatError for a segment that has none."""
        return [texts[0] for texts in for_segments([self.text(path)], self.ids)]

    def is_version_of(self, other: Set) -> bool:
        """Whether lists can be merged: all that are tuned on, and those that are tested and have the same segments."""
        if (self.role, self.table) != (other.role, other.table):
            return False
        same = self.ids == other.ids and shared_words(self.whole_firsts, other.whole_firsts) >= MIN_SHARED
        return self.role == "tune" or same

    def fit(self, path: Path) -> tuple[float, float, float] | None:
        """How well a text fits: the higher the sum, the better; None if it lacks segments, or has many others.

        The first number is the proportion of words that it shares with the 1-bests, beyond that by chance, the second a
        tenth of the correlation of lengths, and the last is more for a text that is beside the lists or is called so.
        """
        try:
            size = len(self.text(path).by_id)
            if self.numbered and not 0 <= size - len(self.ids) <= MAX_LOST * size:
                return None
            lines = whole_words(self.lines(path))
        except FormatError:
            return None
        lengths = np.array([[*map(len, lines)], [*map(len, self.whole_firsts)]], float)
        varied = len(lines) > 2 and (lengths.std(axis=1) > 0).all()
        alike = float(np.corrcoef(lengths)[0, 1]) / 10 if varied else 0.0
        beside = path.parent == (self.path if self.path.is_dir() else self.path.parent)
        same_stem = path.name.partition(".")[0] == self.path.name.partition(".")[0]
        return shared_words(lines, self.whole_firsts), alike, 0.15 * beside + 0.05 * same_stem

    def __str__(self) -> str:
        """The files of the set, as a line of output."""
        beside = [f"references {', '.join(map(str, self.references))}"] if self.references else []
        beside += [f"source {self.source or 'in the lists'}"] if self.sources is not None else []
        return "; ".join([", ".join(map(str, self.lists)), *beside])


def shared_words(texts: Sequence[str], others: Sequence[str]) -> float:
    """The mean proportion of words that texts share with those of the same segments, less that with other segments'."""
    return SharedWords.of(texts[:MAX_COMPARED], others[:MAX_COMPARED]).excess
