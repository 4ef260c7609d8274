"""What reranking adds to a list: its new order, new features and totals, in the lines that it was read from.

The columns of a line keep every byte but those of the total, and new features go to the end of the feature column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isfinite

from rerank_adapters.formats.columns import BAR, UNLABELLED, Columns
from rerank_adapters.formats.items import SCORE
from rerank_adapters.formats.one_line import one_column
from rerank_plugins import ConfigError, Hypothesis, NBestList, Rescored
from rerank_plugins.kit.files.text import shortest


@dataclass(frozen=True)
class BarColumns(Columns):
    """Columns with `|||` between them, which are written, too."""

    def write(self, nbest: NBestList, rescored: Rescored | None = None) -> Iterator[str]:
        """Yield the lines of a list, as they were read or, with `rescored`, in its order with its features and totals.

        New features are appended to the feature column, each under its own label, with the shortest digits that read
        back exactly; the total is replaced, or added where there was none; everything else stays as it was. A
        hypothesis that was not read from a file (its `raw` is empty) is spelt as the decoder spells it. Raises
        ConfigError for a new feature whose name the list already has, or whose name no n-best line can hold.
        """
        lines = [h.raw or self._composed(nbest, h) for h in nbest]
        end = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
        if rescored is not None:
            check_new_names(nbest, rescored.names)
            rows, totals = checked_values(rescored), [shortest(score) for score in rescored.scores]
            is_closed = lines[-1].endswith("\n")
            old = nbest.feature_names if nbest.feature_names == (SCORE,) else ()
            new = []
            for row in rescored.order:
                features, total = self.places(lines[row].count(BAR) + 1)
                own = old if not lines[row].split(BAR)[features].strip() else ()
                values = (*nbest[row].features[: len(own)], *rows[row])
                added = spell((*own, *rescored.names), values, self.separator)
                new.append(spliced(with_end(lines[row], end), features, total, added, totals[row]))
            lines = new if is_closed else [*new[:-1], new[-1].removesuffix(end)]
        yield from (with_end(line, end) for line in lines[:-1])
        yield from lines[-1:]

    def spelling(self, text: str) -> str:
        """The text as one line without `|||`."""
        return one_column(text)

    def _composed(self, nbest: NBestList, hypothesis: Hypothesis) -> str:
        """A line as the decoder would write it."""
        names = (*nbest.feature_names, *hypothesis.sparse)
        features = spell(names, (*hypothesis.features, *hypothesis.sparse.values()), self.separator)
        columns = [one_column(nbest.segment_id), self.spelling(hypothesis.text), features]
        if hypothesis.score is not None or self.least > 3:
            columns.insert(self.total % 4, shortest(hypothesis.score or 0.0))
        return f" {BAR} ".join(columns) + "\n"


def spliced(line: str, features: int, total: int | None, added: str, score: str) -> str:
    """A line with `|||` in which features are added to one column and another total stands in its own.

    `features` and `total` are the places of the columns. A line without a total gets one behind the features.
    """
    cells = line.split(BAR)
    body, tail = _parted(cells[features])
    if added:
        cells[features] = f"{body} {added}{tail}" if body.strip() else f" {added}{tail or ' '}"
    if total is not None:
        before, after = _parted(cells[total])
        lead = before[: len(before) - len(before.lstrip())] or (" " if not before else "")
        cells[total] = f"{lead}{score}{after}"
    else:
        body, tail = _parted(cells[features])
        cells[features] = f"{body} {BAR} {score}{tail.lstrip(' ')}"
    return BAR.join(cells)


def _parted(cell: str) -> tuple[str, str]:
    """A column without the white space at its end, and that white space."""
    body = cell.rstrip()
    return body, cell[len(body) :]


def with_end(line: str, end: str) -> str:
    """The line, with a line end added where it lacks one, as the last line of a file may."""
    return line if line.endswith("\n") else line + end


def spell(names: Sequence[str], values: Sequence[float], separator: str) -> str:
    """A feature column: X_0 and X_1 are written `X= a b` where `separator` is "= ", otherwise as `name=value` each.

    feature_0, feature_1 ... are written without a label where they come first.
    """
    text = dict(zip(names, map(shortest, values), strict=True))
    parts: list[str] = []
    for label, members in label_groups(names):
        if members[0] == f"{UNLABELLED}_0" and not parts:
            parts += [text[name] for name in members]
        elif separator == "= ":
            parts.append(f"{label}= {' '.join(text[name] for name in members)}")
        else:
            parts += [f"{name}={text[name]}" for name in members]
    return " ".join(parts)


def label_groups(names: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield each run of names X_0, X_1, ... (two or more, adjacent and in this order) under its label X.

    Any other name is its own label. Where X itself is a name, there is no run X, since the two could not be told apart.
    """
    known = set(names)
    i = 0
    while i < len(names):
        stem, _, index = names[i].rpartition("_")
        length = 0
        if stem and index == "0" and stem not in known:
            while i + length < len(names) and names[i + length] == f"{stem}_{length}":
                length += 1
        if length > 1:
            yield stem, names[i : i + length]
        else:
            yield names[i], names[i : i + 1]
        i += max(length, 1)


def checked_values(rescored: Rescored) -> list[list[float]]:
    """The new feature values of each hypothesis. Raises ConfigError for a value or score that is not finite."""
    rows: list[list[float]] = rescored.values.tolist()
    for row, score in zip(rows, rescored.scores, strict=True):
        bad = [name for name, value in zip(rescored.names, row, strict=True) if not isfinite(value)]
        if bad or not isfinite(score):
            what = f"feature {bad[0]!r}" if bad else "a total score"
            raise ConfigError(f"{what} is not finite and cannot be written")
    return rows


def reordered(nbest: NBestList, rescored: Rescored) -> NBestList:
    """The list in its new order, with the new totals and, after its own features, the new ones.

    Raises ConfigError as `check_new_names` and `checked_values` do.
    """
    check_new_names(nbest, rescored.names)
    scored = (
        hypothesis._replace(features=(*hypothesis.features, *values), score=float(score))
        for hypothesis, values, score in zip(nbest, checked_values(rescored), rescored.scores, strict=True)
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
