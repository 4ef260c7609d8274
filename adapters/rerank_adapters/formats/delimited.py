"""Reads and writes n-best lists whose columns are separated by `|||`, for all decoders that use this form.

A dialect says where the columns are and how a feature is spelt. Any number of spaces may surround `|||`. All other
columns, such as links between words (`0-0 1-2`), are kept as they are, since each hypothesis remembers its line. A run
of lines with the same id is one list. Time is linear in the lines; memory is linear in one list.

    Moses     id ||| text ||| LM0= -9 TM0= -1 -2 wt_a~b= 1 ||| total [||| segmentation] [||| alignment]
    cdec      id ||| text ||| LanguageModel=-9 Glue=1 ||| total
    Joshua    id ||| text ||| tm_pt_0=-1 lm_0=-9 ||| total [||| alignment]      (old: values without labels)
    Travatar  id ||| text ||| total ||| egf=-1 lm=-9 [||| alignment]
    Marian    id ||| text [||| alignment] [||| WordScores= ...] ||| F0= -9 F1= -2 ||| total

In Moses's lists a label with an underscore names a sparse feature (mert/Data.cpp); all other features are dense and
stand on every line. Missing groups and `nan`, which Moses's own tools accept, are errors here. cdec, Joshua and
Travatar leave features whose value is 0 out of a line, so all their names are read as sparse, an absent one is 0, and
`DenseRule` says which become columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from math import isfinite
from typing import ClassVar

from rerank_adapters.formats.decoder_features import DenseRule
from rerank_adapters.formats.feature_field import UNLABELLED, FeatureField, spell
from rerank_adapters.formats.one_line import one_column
from rerank_plugins import ConfigError, FormatError, Hypothesis, NBestFormat, NBestList, Rescored, option
from rerank_plugins.kit.files.text import finite_value, shortest

BAR = "|||"
BLANK = " \t\r\n"  # may surround a text; any other white space belongs to it


@dataclass(frozen=True)
class DelimitedFormat(NBestFormat):
    """A format of n-best lists with one hypothesis per line and `|||` between the columns."""

    layout: ClassVar[str] = "id ||| text ||| features [||| score ...]"  # as error messages show it
    columns_at_least: ClassVar[int] = 3
    features_column: ClassVar[int] = 2  # a negative number counts from the end
    score_column: ClassVar[int] = 3
    separator: ClassVar[str] = "= "  # written between a label and its first value
    underscore_is_sparse: ClassVar[bool] = False  # a label with "_" names a sparse feature
    absent_is_zero: ClassVar[bool] = False  # a line leaves out features whose value is 0, so any name may be absent

    dense: tuple[str, ...] = option((), doc="features (names or patterns like 'LM*') to be read as dense")
    sparse: tuple[str, ...] = option((), doc="features (names or patterns) to be read as sparse")

    @property
    def dense_rule(self) -> DenseRule:
        """The rule for which of the names that were read as sparse become columns of the feature table."""
        few, fraction = (100, 0.25) if self.absent_is_zero else (0, 1.0)
        return DenseRule(few, fraction, self.dense, self.sparse, self.absent_is_zero)

    def _is_sparse(self, label: str) -> bool:
        if any(fnmatchcase(label, pattern) for pattern in self.sparse):
            return True
        if self.absent_is_zero:
            return True
        if any(fnmatchcase(label, pattern) for pattern in self.dense):
            return False
        return self.underscore_is_sparse and "_" in label

    def read(self, lines: Iterable[str], path: str) -> Iterator[NBestList]:
        """Yield one list per run of lines with the same id. Raises FormatError with the path and the line."""
        parser = FeatureField(self._is_sparse, path)
        width = -1
        features_at, score_at, scored = 2, None, False
        current, segment, start = "", "", 0  # the id column as written, the id, the line on which its list began
        hypotheses: list[Hypothesis] = []
        score: float | None = None
        for number, line in enumerate(lines, 1):
            fields = line.split(BAR)
            if len(fields) != width:
                width = len(fields)
                features_at, score_at = self._check_width(width, line, path, number)
                if number > 1 and scored != (score_at is not None):
                    here, first = ("has no total score", "has one") if scored else ("has a total score", "has none")
                    raise FormatError(f"the line {here}, but line 1 {first}", path=path, line=number)
                scored = score_at is not None
            if fields[0] != current or not start:
                new = fields[0].strip()
                if new != segment or not start:
                    if start:
                        yield NBestList(segment, tuple(hypotheses), parser.names, line=start)
                    if not new:
                        raise FormatError(f"the segment id is missing; expected {self.layout}", path=path, line=number)
                    segment, start, hypotheses = new, number, []
                current = fields[0]
            if score_at is not None:
                score = finite_value(fields[score_at], "the total score", path, number)
            features, sparse = parser.parse(fields[features_at], number)
            hypotheses.append(Hypothesis(fields[1].strip(BLANK), features, score, sparse, line))
        if start:
            yield NBestList(segment, tuple(hypotheses), parser.names, line=start)

    def _check_width(self, width: int, line: str, path: str, number: int) -> tuple[int, int | None]:
        if width < self.columns_at_least:
            content = "an empty line" if not line.strip() else f"{width} column{'s' if width > 1 else ''}"
            raise FormatError(f"found {content}, expected {self.layout}", path=path, line=number)
        return self._places(width)

    def _places(self, width: int) -> tuple[int, int | None]:
        """The columns of the features and of the total score (None: there is none) on a line of `width` columns."""
        score = self.score_column % width if self.score_column < width else None
        return self.features_column % width, score

    def write(self, nbest: NBestList, rescored: Rescored | None = None) -> Iterator[str]:
        """Yield the lines of a list, as they were read or, with `rescored`, in its order with its features and totals.

        New features are appended to the feature column, each under its own label, with the shortest digits that read
        back exactly; the total is replaced, or added where there was none; everything else stays as it was. A
        hypothesis that was not read from a file (its `raw` is empty) is spelt as the decoder spells it. Raises
        ConfigError for a new feature whose name the list already has, or whose name no n-best line can hold.
        """
        lines = [h.raw or self._compose(nbest, h) for h in nbest]
        end = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
        if rescored is not None:
            check_new_names(nbest, rescored.names)
            additions = [spell(rescored.names, row, self.separator) for row in one_by_one(rescored)]
            totals = [shortest(score) for score in rescored.scores]
            closed = lines[-1:] == [] or lines[-1].endswith("\n")
            lines = [self._splice(with_end(lines[i], end), additions[i], totals[i]) for i in rescored.order]
            if lines and not closed:
                lines[-1] = lines[-1].removesuffix(end)
        for line in lines[:-1]:
            yield with_end(line, end)
        yield from lines[-1:]

    def spelling(self, text: str) -> str:
        """The text as one line without `|||`."""
        return one_column(text)

    def _splice(self, line: str, addition: str, total: str) -> str:
        fields = line.split(BAR)
        features_at, score_at = self._places(len(fields))
        body, tail = _parted(fields[features_at])
        if addition:
            fields[features_at] = f"{body} {addition}{tail or ''}" if body.strip() else f" {addition}{tail or ' '}"
        if score_at is not None:
            before, after = _parted(fields[score_at])
            lead = before[: len(before) - len(before.lstrip())] or (" " if not before else "")
            fields[score_at] = f"{lead}{total}{after}"
        else:
            body, tail = _parted(fields[features_at])
            fields[features_at] = f"{body} {BAR} {total}{tail.lstrip(' ')}"
        return BAR.join(fields)

    def _compose(self, nbest: NBestList, hypothesis: Hypothesis) -> str:
        names = (*nbest.feature_names, *hypothesis.sparse)
        features = spell(names, (*hypothesis.features, *hypothesis.sparse.values()), self.separator)
        columns = [one_column(nbest.segment_id), self.spelling(hypothesis.text), features]
        if hypothesis.score is not None or self.columns_at_least > 3:
            columns.insert(self.score_column % 4, shortest(hypothesis.score or 0.0))
        return f" {BAR} ".join(columns) + "\n"


def with_end(line: str, end: str) -> str:
    """The line, with a line end added where it lacks one, as the last line of a file may."""
    return line if line.endswith("\n") else line + end


def _parted(field: str) -> tuple[str, str]:
    """A column without the white space at its end, and that white space."""
    body = field.rstrip()
    return body, field[len(body) :]


def one_by_one(rescored: Rescored) -> list[list[float]]:
    """The new feature values of each hypothesis. Raises ConfigError for a value or score that is not finite."""
    rows: list[list[float]] = rescored.values.tolist()
    for row, score in zip(rows, rescored.scores, strict=True):
        bad = [name for name, value in zip(rescored.names, row, strict=True) if not isfinite(value)]
        if bad or not isfinite(score):
            raise ConfigError(
                f"{f'feature {bad[0]!r}' if bad else 'a total score'} is not finite and cannot be written"
            )
    return rows


def reordered(nbest: NBestList, rescored: Rescored) -> NBestList:
    """The list in its new order, with the new totals and, after its own features, the new ones.

    Raises ConfigError as `check_new_names` and `one_by_one` do.
    """
    check_new_names(nbest, rescored.names)
    scored = (
        hypothesis._replace(features=(*hypothesis.features, *values), score=float(score))
        for hypothesis, values, score in zip(nbest, one_by_one(rescored), rescored.scores, strict=True)
    )
    names = (*nbest.feature_names, *rescored.names)
    return replace(nbest, hypotheses=tuple(scored), feature_names=names).select(rescored.order)


def check_new_names(nbest: NBestList, names: Sequence[str]) -> None:
    """Raise ConfigError for a name that the list already has, that occurs twice, or that a line cannot hold."""
    known = set(nbest.feature_names).union(*(h.sparse for h in nbest))
    for i, name in enumerate(names):
        if name in known or name in names[:i]:
            raise ConfigError(
                f"segment {nbest.segment_id} already has a feature {name!r}: give the new one another name"
            )
        if not name or name.split() != [name] or "=" in name or BAR in name or name.endswith(":"):
            raise ConfigError(f"{name!r} cannot name a feature in an n-best list (white space, '=', '|||', final ':')")
        if name.startswith(UNLABELLED + "_"):
            raise ConfigError(f"{name!r} cannot name a new feature: values without labels have such names")


@dataclass(frozen=True)
class MosesFormat(DelimitedFormat):
    """Moses n-best lists: dense groups `X= a b`, sparse features `name_x= v`, total, alignments."""

    underscore_is_sparse: ClassVar[bool] = True


@dataclass(frozen=True)
class CdecFormat(DelimitedFormat):
    """cdec k-best lists: `name=value`, where features that are 0 are left out."""

    separator: ClassVar[str] = "="
    absent_is_zero: ClassVar[bool] = True


@dataclass(frozen=True)
class JoshuaFormat(DelimitedFormat):
    """Joshua n-best lists: `name=value`, or values without labels (old versions), named feature_0, feature_1 ..."""

    separator: ClassVar[str] = "="
    absent_is_zero: ClassVar[bool] = True


@dataclass(frozen=True)
class TravatarFormat(DelimitedFormat):
    """Travatar n-best lists: the total precedes the features, which are `name=value`; zeros are left out."""

    layout: ClassVar[str] = "id ||| text ||| score ||| features [||| ...]"
    columns_at_least: ClassVar[int] = 4
    features_column: ClassVar[int] = 3
    score_column: ClassVar[int] = 2
    separator: ClassVar[str] = "="
    absent_is_zero: ClassVar[bool] = True


@dataclass(frozen=True)
class MarianFormat(DelimitedFormat):
    """Marian n-best lists: model scores F0, F1 ... and the normalised total; alignment and word scores before them."""

    layout: ClassVar[str] = "id ||| text [||| ...] ||| features ||| score"
    columns_at_least: ClassVar[int] = 4
    features_column: ClassVar[int] = -2
    score_column: ClassVar[int] = -1
