"""The values that are reranked: a hypothesis, and the n-best list of one segment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple, overload

NO_SPARSE: Mapping[str, float] = MappingProxyType({})


class Hypothesis(NamedTuple):
    """One decoder output.

    `text`      the tokens as they are in the file (text pipelines work on copies)
    `features`  the decoder's dense feature values, named by `NBestList.feature_names`
    `score`     the decoder's total score, or None if the file has none
    `sparse`    the decoder's sparse features, by name; an absent name is 0
    `raw`       the line or lines it was read from, with their line ends, so that it is written byte for byte
    `links`     the decoder's own links of words as the file has them (`0-0 1-2`: source word, then word of the text as
                it was read, counted from 0), or None if the file has none
    """

    text: str
    features: tuple[float, ...] = ()
    score: float | None = None
    sparse: Mapping[str, float] = NO_SPARSE
    raw: str = ""
    links: str | None = None

    @property
    def words(self) -> list[str]:
        """The tokens of `text`, split at white space."""
        return self.text.split()

    def __reduce__(self) -> tuple[type[Hypothesis], tuple[object, ...]]:
        fields = (self.text, self.features, self.score, dict(self.sparse), self.raw, self.links)
        return Hypothesis, fields  # a dict, since proxies do not pickle


@dataclass(frozen=True, slots=True)
class NBestList(Sequence[Hypothesis]):
    """The hypotheses of one segment, in the decoder's order (best first, where the decoder sorted them).

    `segment_id`     as it is in the file: ids need not be numbers, nor contiguous
    `feature_names`  names of the dense features, one per value of `Hypothesis.features`
    `source`         the source sentence, or None if there is none
    `context`        a sentence that the segment answers or follows, for features that compare them, or None
    `line`           line number of the first hypothesis in its file, from 1 (0 if it is not from a file)
    `rows`           the number, from 0, of each hypothesis among those of all files in their order, before lists are
                     sorted or merged; empty where the list is not from a file. Equal lists may differ in it
    """

    segment_id: str
    hypotheses: tuple[Hypothesis, ...]
    feature_names: tuple[str, ...] = ()
    source: str | None = None
    context: str | None = None
    line: int = 0
    rows: Sequence[int] = field(default=(), compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.hypotheses)

    @overload
    def __getitem__(self, index: int) -> Hypothesis: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hypothesis, ...]: ...
    def __getitem__(self, index: int | slice) -> Hypothesis | tuple[Hypothesis, ...]:
        return self.hypotheses[index]

    def __iter__(self) -> Iterator[Hypothesis]:
        return iter(self.hypotheses)

    @property
    def texts(self) -> list[str]:
        """The text of each hypothesis."""
        return [hypothesis.text for hypothesis in self.hypotheses]

    def with_texts(self, texts: Sequence[str], source: str | None = None) -> NBestList:
        """The same list with other texts (one per hypothesis) and, unless it is None, another source."""
        hypotheses = tuple(h._replace(text=t) for h, t in zip(self.hypotheses, texts, strict=True))
        return replace(self, hypotheses=hypotheses, source=self.source if source is None else source)

    def select(self, rows: Sequence[int]) -> NBestList:
        """The list of the hypotheses at `rows`, in that order."""
        numbers = tuple(self.rows[row] for row in rows) if self.rows else ()
        return replace(self, hypotheses=tuple(self.hypotheses[row] for row in rows), rows=numbers)
