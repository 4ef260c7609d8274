"""The values that are reranked: a hypothesis, and the n-best list of one segment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise, repeat
from math import isfinite
from numbers import Integral
from types import MappingProxyType
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from rerank_plugins.core.arrays import read_only
from rerank_plugins.core.columns import one_line, plain
from rerank_plugins.core.errors import FormatError
from rerank_plugins.core.words import split_words

SHOWN_ROWS = 5  # hypotheses of a list that is shown
NO_SPARSE: Mapping[str, float] = MappingProxyType({})


class Hypothesis(NamedTuple):
    """One decoder output.

    `text`      the tokens as they are in the file (text pipelines work on copies)
    `features`  the decoder's dense feature values, named by `NBestList.feature_names`
    `score`     the decoder's total score, or None if the file has none
    `sparse`    the decoder's sparse features, by name; an absent name is 0
    `raw`       the line or lines it was read from, with their line ends, so that it is written byte for byte

    >>> Hypothesis("so it is", score=-1.5).words
    ['so', 'it', 'is']
    """

    text: str
    features: tuple[float, ...] = ()
    score: float | None = None
    sparse: Mapping[str, float] = NO_SPARSE
    raw: str = ""

    @property
    def words(self) -> list[str]:
        """The tokens of `text`, split at the white space of ASCII."""
        return split_words(self.text)

    def __reduce__(self) -> tuple[type[Hypothesis], tuple[object, ...]]:
        fields = (self.text, self.features, self.score, dict(self.sparse), self.raw)
        return Hypothesis, fields  # a dict, since proxies do not pickle


class _Pieces:
    """Many texts as one string, in which each of them is cut out when it is asked for."""

    __slots__ = ("_ends", "_whole")

    def __init__(self, texts: Sequence[str]) -> None:
        self._whole = "".join(texts)
        ends = np.cumsum([0, *map(len, texts)], dtype=np.int64)
        self._ends = ends.astype(np.int32) if len(self._whole) < 1 << 31 else ends

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, at: int) -> str:
        return self._whole[self._ends[at] : self._ends[at + 1]]

    def all(self) -> list[str]:
        return [self._whole[start:end] for start, end in pairwise(self._ends.tolist())]


class PackedHypotheses(Sequence[Hypothesis]):
    """Hypotheses in a quarter of the memory: their texts are one string, their features and totals arrays.

    A `Hypothesis` is made when it is asked for. Without `lines`, those that the hypotheses were read from are left out.
    """

    __slots__ = ("_raw", "_scores", "_sparse", "_texts", "_values")

    def __init__(self, hypotheses: Sequence[Hypothesis], *, lines: bool = True) -> None:
        """Pack hypotheses, all of which have the same number of features."""
        self._texts = _Pieces([h.text for h in hypotheses])
        self._raw = _Pieces([h.raw for h in hypotheses]) if lines and any(h.raw for h in hypotheses) else None
        features = [h.features for h in hypotheses]
        self._values: npt.NDArray[np.float64] = np.array(features, np.float64).reshape(
            len(features), len(features[0]) if features else 0
        )
        scores = [np.nan if h.score is None else h.score for h in hypotheses]
        self._scores = None if all(h.score is None for h in hypotheses) else np.array(scores, np.float64)
        self._sparse = tuple(h.sparse for h in hypotheses) if any(h.sparse for h in hypotheses) else None

    def __len__(self) -> int:
        return len(self._texts)

    @overload
    def __getitem__(self, index: int) -> Hypothesis: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hypothesis, ...]: ...
    def __getitem__(self, index: int | slice) -> Hypothesis | tuple[Hypothesis, ...]:
        """The hypothesis at this index, or those of a slice."""
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        at = index + len(self) if index < 0 else index
        if not 0 <= at < len(self):
            raise IndexError(index)
        return Hypothesis(
            self._texts[at],
            tuple(self._values[at].tolist()),
            None if self._scores is None or np.isnan(self._scores[at]) else float(self._scores[at]),
            self.sparse[at],
            "" if self._raw is None else self._raw[at],
        )

    def __iter__(self) -> Iterator[Hypothesis]:
        scores = repeat(None) if self._scores is None else (None if s != s else s for s in self._scores.tolist())
        features = map(tuple, self._values.tolist())
        return map(Hypothesis, self.texts, features, scores, self.sparse, self.lines)

    @property
    def texts(self) -> list[str]:
        """The text of each hypothesis."""
        return self._texts.all()

    @property
    def values(self) -> npt.NDArray[np.float64]:
        """(n, F) the dense features, read-only."""
        return read_only(self._values)

    @property
    def totals(self) -> npt.NDArray[np.float64]:
        """(n) the decoder's totals, read-only; nan where a hypothesis has none."""
        return np.full(len(self), np.nan) if self._scores is None else read_only(self._scores)

    @property
    def sparse(self) -> Sequence[Mapping[str, float]]:
        """The sparse features of each hypothesis."""
        return (NO_SPARSE,) * len(self) if self._sparse is None else self._sparse

    @property
    def lines(self) -> list[str]:
        """The lines that each hypothesis was read from; empty texts where they are left out."""
        return [""] * len(self) if self._raw is None else self._raw.all()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True, repr=False)
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
    hypotheses: Sequence[Hypothesis]
    feature_names: tuple[str, ...] = ()
    source: str | None = None
    context: str | None = None
    line: int = 0
    rows: Sequence[int] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        """Raise TypeError, with the argument, for values of other types."""
        if not isinstance(self.segment_id, str):
            raise TypeError(f"segment_id: wanted a text, found {one_line(self.segment_id)}")
        if not isinstance(self.hypotheses, PackedHypotheses):
            _check_hypotheses(self.hypotheses)
        if isinstance(self.feature_names, str):
            raise TypeError(f"feature_names: wanted a tuple of names, found the text {one_line(self.feature_names)}")
        for name in ("source", "context"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise TypeError(f"{name}: wanted a text or None, found {one_line(value)}")

    @classmethod
    def from_texts(
        cls,
        texts: Sequence[str | Hypothesis],
        scores: Sequence[float] | None = None,
        source: str | None = None,
        segment_id: str | int | None = None,
        features: Mapping[str, Sequence[float]] | None = None,
    ) -> NBestList:
        """The list of these texts in the decoder's order, best first.

        `scores` are the decoder's totals and `features` its features by name, one value for each text; higher is
        better. A `segment_id` that is a whole number is written in digits, as files have it; lists without one are
        numbered where a pipeline gets them. Raises TypeError for other types, FormatError where a text lacks a value or
        has two, and for a value that is not finite.

        >>> nbest = NBestList.from_texts(["so it is", "so is it"], [-1.5, -2.0], features={"lm": [-3, -4]})
        >>> nbest[1].text, nbest[1].score, nbest.values.tolist()
        ('so is it', -2.0, [[-3.0], [-4.0]])
        """
        if isinstance(texts, str):
            raise TypeError(f"texts: expected a sequence of texts, found a single text: {one_line(texts)}")
        texts = list(plain(texts))
        for text in texts:
            if not isinstance(text, str | Hypothesis):
                raise TypeError(f"texts: wanted texts, found {one_line(text)}")
        own = [text if isinstance(text, Hypothesis) else Hypothesis(text) for text in texts]
        if features is not None and not isinstance(features, Mapping):
            raise TypeError(f"features: wanted a value for each text by the feature's name, found {one_line(features)}")
        columns = {name: _numbers(name, values, len(own)) for name, values in (features or {}).items()}
        if scores is not None:
            totals = _numbers("scores", scores, len(own))
            own = [h._replace(score=score) for h, score in zip(own, totals, strict=True)]
        if columns:
            rows = zip(*columns.values(), strict=True)
            own = [h._replace(features=tuple(row)) for h, row in zip(own, rows, strict=True)]
        id_: Any = "" if segment_id is None else segment_id  # another type is the constructor's error
        if isinstance(id_, Integral) and not isinstance(id_, bool):  # NumPy's as well
            id_ = str(id_)
        return cls(id_, tuple(own), tuple(columns), source)

    def __repr__(self) -> str:
        """A short table: the segment, and its first hypotheses with their totals."""
        count = f"{len(self)} hypothesis" if len(self) == 1 else f"{len(self)} hypotheses"
        named = f", features {', '.join(self.feature_names)}" if self.feature_names else ""
        lines = [f"NBestList {self.segment_id!r}: {count}{named}"]
        lines += [f"  source: {one_line(self.source)}"] if self.source is not None else []
        for row in range(min(len(self), SHOWN_ROWS)):
            hypothesis = self[row]
            total = "" if hypothesis.score is None else f"{hypothesis.score:10.4g}"
            lines.append(f"{row:4d}{total}  {hypothesis.text}")
        return "\n".join([*lines, *(["   …"] if len(self) > SHOWN_ROWS else [])])

    def __len__(self) -> int:
        return len(self.hypotheses)

    @overload
    def __getitem__(self, index: int) -> Hypothesis: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hypothesis, ...]: ...
    def __getitem__(self, index: int | slice) -> Hypothesis | tuple[Hypothesis, ...]:
        chosen = self.hypotheses[index]
        return chosen if isinstance(chosen, Hypothesis) else tuple(chosen)

    def __iter__(self) -> Iterator[Hypothesis]:
        return iter(self.hypotheses)

    @property
    def texts(self) -> list[str]:
        """The text of each hypothesis."""
        if isinstance(self.hypotheses, PackedHypotheses):
            return self.hypotheses.texts
        return [hypothesis.text for hypothesis in self.hypotheses]

    @property
    def values(self) -> npt.NDArray[np.float64]:
        """(n, F) the dense features."""
        if isinstance(self.hypotheses, PackedHypotheses):
            return self.hypotheses.values
        flat = chain.from_iterable(h.features for h in self.hypotheses)
        size = len(self) * len(self.feature_names)
        return np.fromiter(flat, np.float64, size).reshape(len(self), len(self.feature_names))

    @property
    def totals(self) -> npt.NDArray[np.float64]:
        """(n) the decoder's totals; nan where a hypothesis has none."""
        if isinstance(self.hypotheses, PackedHypotheses):
            return self.hypotheses.totals
        return np.array([np.nan if h.score is None else h.score for h in self.hypotheses], np.float64)

    @property
    def sparse(self) -> Sequence[Mapping[str, float]]:
        """The sparse features of each hypothesis."""
        if isinstance(self.hypotheses, PackedHypotheses):
            return self.hypotheses.sparse
        return [hypothesis.sparse for hypothesis in self.hypotheses]

    @property
    def lines(self) -> list[str]:
        """The lines that each hypothesis was read from, with their ends; empty texts where there are none."""
        if isinstance(self.hypotheses, PackedHypotheses):
            return self.hypotheses.lines
        return [hypothesis.raw for hypothesis in self.hypotheses]

    def packed(self, *, lines: bool = True) -> NBestList:
        """The same list in less memory; without `lines`, as if it had not been read from a file."""
        if isinstance(self.hypotheses, PackedHypotheses):
            return self
        return replace(self, hypotheses=PackedHypotheses(self.hypotheses, lines=lines))

    def with_texts(self, texts: Sequence[str], source: str | None = None) -> NBestList:
        """The same list with other texts (one per hypothesis) and, unless it is None, another source."""
        hypotheses = tuple(h._replace(text=t) for h, t in zip(self.hypotheses, texts, strict=True))
        return replace(self, hypotheses=hypotheses, source=self.source if source is None else source)

    def select(self, rows: Sequence[int]) -> NBestList:
        """The list of the hypotheses at `rows`, in that order."""
        numbers = tuple(self.rows[row] for row in rows) if self.rows else ()
        hypotheses = tuple(self.hypotheses)
        return replace(self, hypotheses=tuple(hypotheses[row] for row in rows), rows=numbers)


def _check_hypotheses(hypotheses: object) -> None:
    """Raise TypeError for what is no sequence of hypotheses."""
    if isinstance(hypotheses, str) or not isinstance(hypotheses, Sequence):
        raise TypeError(f"hypotheses: wanted a sequence of hypotheses, found {one_line(hypotheses)}")
    for kind in set(map(type, hypotheses)):  # as many as there are types: lists are long, and made often
        if not issubclass(kind, Hypothesis):
            wrong = next(item for item in hypotheses if type(item) is kind)
            advice = ": NBestList.from_texts takes texts" if kind is str else ""
            raise TypeError(f"hypotheses: wanted objects of Hypothesis, found {one_line(wrong)}{advice}")


def _numbers(name: str, values: object, wanted: int) -> list[float]:
    """One finite number for each hypothesis.

    Raises TypeError for other values, FormatError for another number of them and for one that is not finite.
    """
    try:
        numbers = [float(value) for value in plain(values)]
    except (TypeError, ValueError):
        raise TypeError(f"{name}: wanted a number for each hypothesis, found {one_line(values)}") from None
    if len(numbers) != wanted:
        raise FormatError(f"{name}: {len(numbers)} values for {wanted} hypotheses")
    wild = next((place for place, number in enumerate(numbers) if not isfinite(number)), None)
    if wild is not None:
        raise FormatError(f"{name}[{wild}]: {numbers[wild]:g}, wanted a finite number")
    return numbers
