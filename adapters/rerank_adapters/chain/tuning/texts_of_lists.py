"""The texts of the hypotheses for tuners that compare them, made when they are asked for: most tuners never do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from rerank_adapters.text import TextPipeline
from rerank_plugins import NBestList
from rerank_plugins.core.arrays import LongArray


class TextsOfLists(Sequence[Sequence[str]]):
    """The texts of each list, as a metric sees them after its text pipeline."""

    def __init__(self, text: TextPipeline, nbests: Sequence[NBestList]) -> None:
        self._text, self._nbests = text, nbests

    def __len__(self) -> int:
        return len(self._nbests)

    @overload
    def __getitem__(self, segment: int) -> Sequence[str]: ...
    @overload
    def __getitem__(self, segment: slice) -> Sequence[Sequence[str]]: ...
    def __getitem__(self, segment: int | slice) -> Sequence[str] | Sequence[Sequence[str]]:
        """The texts of one list, or of some of them."""
        if isinstance(segment, slice):
            return TextsOfLists(self._text, self._nbests[segment])
        return self._text.apply(self._nbests[segment].texts)

    def take(self, segments: LongArray) -> TextsOfLists:
        """Those of some of the lists."""
        return TextsOfLists(self._text, [self._nbests[segment] for segment in segments.tolist()])

    @property
    def lengths(self) -> list[int]:
        """The number of texts of each list."""
        return [len(nbest) for nbest in self._nbests]


def lengths_of(hypotheses: Sequence[Sequence[str]]) -> list[int]:
    """The number of texts of each segment."""
    return hypotheses.lengths if isinstance(hypotheses, TextsOfLists) else [len(texts) for texts in hypotheses]


def taken(hypotheses: Sequence[Sequence[str]], segments: LongArray) -> Sequence[Sequence[str]]:
    """The texts of some of the segments; none where there are none."""
    if isinstance(hypotheses, TextsOfLists):
        return hypotheses.take(segments)
    return [hypotheses[segment] for segment in segments] if hypotheses else ()
