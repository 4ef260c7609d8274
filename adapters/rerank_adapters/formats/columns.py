r"""Reads lists with a hypothesis on each line, in columns: those with `|||` of decoders, and NeMo's with a tab.

    Moses     id ||| text ||| LM0= -9 TM0= -1 -2 wt_a~b= 1 ||| total [||| segmentation] [||| alignment]
    cdec      id ||| text ||| LanguageModel=-9 Glue=1 ||| total
    Joshua    id ||| text ||| tm_pt_0=-1 lm_0=-9 ||| total [||| alignment]      (old: values without labels)
    Travatar  id ||| text ||| total ||| egf=-1 lm=-9 [||| alignment]
    Marian    id ||| text [||| alignment] [||| WordScores= ...] ||| F0= -9 F1= -2 ||| total
    NeMo      text\ttotal          `beam` lines for each utterance, in the order of the manifest (NeMo 1.23)

Any number of spaces may surround `|||`; columns that are not read are kept in `raw`. In Moses's lists a label with an
underscore names a sparse feature (mert/Data.cpp); all other features are dense and stand on every line. Missing groups
and `nan`, which Moses's own tools accept, are errors here. cdec, Joshua and Travatar leave features whose value is 0
out of a line, so all their names are read as sparse and an absent one is 0; `DenseRule` says which become columns.

A label with one value names a feature `X`; one with several values names features `X_0`, `X_1` and so on, and values
without a label are `feature_0`, `feature_1`. Labels are spelt `X= -9`, `X: -9` or `X=-9`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import pairwise
from operator import itemgetter
from typing import Any

from rerank_adapters.formats.decoder_features import DenseRule
from rerank_adapters.formats.items import Item, Reader
from rerank_plugins import FormatError, option
from rerank_plugins.core.nbest import NO_SPARSE

BAR = "|||"
UNLABELLED = "feature"  # values without labels are feature_0, feature_1 …

BLANK = " \t\r\n"  # may surround a text; any other white space belongs to it
MAX_SPARSE_NAMES = 1_000_000  # sparse names remembered; the limit bounds the memory for a stream of lines
Named = tuple[tuple[str, ...], Sequence[str], Mapping[str, Any]]  # names and values of dense features; sparse features
NOTHING: Named = (), (), NO_SPARSE


@dataclass(frozen=True)
class Columns(Reader):
    """Lists with a hypothesis on each line, in columns that `mark` separates.

    `id`, `text`, `features` and `total` are the places of columns, from 0 or, where negative, from the end. Where no
    column has ids, a segment has `beam` lines. `least` is the least number of columns of a line, and `layout` shows
    them to users. `separator` stands between a label and its first value. `underscore` says that a label with an
    underscore names a sparse feature, and `zeros_absent` that features which are 0 are left out of a line.
    """

    mark: str = BAR
    id: int | None = 0
    text: int = 1
    features: int | None = 2
    total: int = 3
    least: int = 3
    layout: str = "id ||| text ||| features [||| score ...]"
    separator: str = "="
    underscore: bool = False
    zeros_absent: bool = False
    beam: int = option(0, doc="the beam size, that is, the number of lines of each utterance (required)")
    dense: tuple[str, ...] = option((), doc="features (names or patterns like 'LM*') to be read as dense")
    sparse: tuple[str, ...] = option((), doc="features (names or patterns) to be read as sparse")

    @property
    def dense_rule(self) -> DenseRule:
        """The rule for which of the names that were read as sparse become columns of the feature table."""
        few, fraction = (100, 0.25) if self.zeros_absent else (0, 1.0)
        return DenseRule(few, fraction, self.dense, self.sparse, self.zeros_absent)

    def items(self, lines: Iterable[str], path: str) -> Iterator[Item]:
        """Yield a hypothesis for each line. Raises FormatError."""
        if self.id is None and self.beam < 1:
            wanted = "the number of lines for each utterance is not known: name the beam size, --format nemo,beam=128"
            raise FormatError(wanted, path=path)
        cell = FeatureCell(self._is_sparse, path, {} if self.zeros_absent else NO_SPARSE)
        number, width = 0, 0
        features, total = 0, None
        for number, line in enumerate(lines, 1):
            cells = line.split(self.mark)
            if len(cells) != width:
                width = self._checked_width(cells, path, number)
                features, total = self.places(width)
            id_ = cells[self.id].strip() if self.id is not None else str((number - 1) // self.beam)
            if not id_:
                raise FormatError(f"the segment id is missing; expected {self.layout}", path=path, line=number)
            names, values, sparse = NOTHING if self.features is None else cell.read(cells[features], number)
            text = cells[self.text].strip(BLANK)
            last = self.id is None and number % self.beam == 0
            score = None if total is None else cells[total]
            yield Item(id_, number, text, score, names, values, sparse, None, line, last)
        if self.id is None and number % self.beam:
            message = f"the file has {number} lines, expected a multiple of the beam size {self.beam}"
            raise FormatError(message, path=path, line=number)

    def _checked_width(self, cells: Sequence[str], path: str, line: int) -> int:
        """The number of columns. Raises FormatError where there are too few, or more than two between tabs."""
        if len(cells) < self.least or (self.id is None and len(cells) > self.least):
            count = f"{len(cells)} column{'s' if len(cells) > 1 else ''}"
            found = count if "".join(cells).strip() else "an empty line"
            raise FormatError(f"found {found}, expected {self.layout}", path=path, line=line)
        return len(cells)

    def places(self, width: int) -> tuple[int, int | None]:
        """The columns of the features and of the total (None: there is none) on a line of `width` columns."""
        return (self.features or 0) % width, self.total % width if self.total < width else None

    def _is_sparse(self, label: str) -> bool:
        if any(fnmatchcase(label, pattern) for pattern in self.sparse) or self.zeros_absent:
            return True
        return self.underscore and "_" in label and not any(fnmatchcase(label, pattern) for pattern in self.dense)


class FeatureCell:
    """Reads the feature columns of a file, and remembers how the last one was laid out.

    A line with the labels of the line before it, at the same places, is not looked through again: its values are picked
    by their places, and sparse features that follow them are looked up by their labels.
    """

    def __init__(self, is_sparse: Callable[[str], bool], path: str, none: Mapping[str, Any] = NO_SPARSE) -> None:
        """Read the columns of a file, in which `is_sparse` says which labels with one value name sparse features.

        `none` stands for the sparse features of a line that has none.
        """
        self._none = none
        self._is_sparse = is_sparse
        self._path = path
        self._names: tuple[str, ...] = ()
        self._length = -1  # the tokens of dense features in the layout that is known; -1 where none is
        self._labels: Sequence[str] = ()
        self._pick_labels = self._pick_values = _picker([])
        self._joined = False  # whether the last line had nothing but sparse features, as `name=value`
        self._sparse: dict[str, str] = {}  # from a label as it is spelt to its name, one object for all lines

    def read(self, cell: str, line: int) -> Named:
        """The names and values of dense features, and the sparse features. Raises FormatError."""
        tokens = cell.split()
        try:
            if self._joined:
                parts = [token.rpartition("=") for token in tokens]
                sparse = {self._sparse[name]: value for name, _, value in parts}
                if len(sparse) == len(tokens) > 0:
                    return (), (), sparse
            elif -1 < self._length <= len(tokens) and self._pick_labels(tokens) == self._labels:
                if len(tokens) == self._length:
                    return self._names, self._pick_values(tokens), NO_SPARSE
                labels, values = tokens[self._length :: 2], tokens[self._length + 1 :: 2]
                sparse = {self._sparse[label]: value for label, value in zip(labels, values, strict=True)}
                if len(sparse) == len(labels):
                    return self._names, self._pick_values(tokens), sparse
        except (KeyError, ValueError):
            pass
        return self._read_whole(tokens, line)

    def _read_whole(self, tokens: list[str], line: int) -> Named:
        """The same for any layout, which is remembered."""
        dense: dict[str, str] = {}
        sparse: dict[str, str] = {}
        for label, values in self._groups(tokens, line):
            alone = bool(label) and len(values) == 1
            for place, value in enumerate(values):
                name = label if alone else f"{label or UNLABELLED}_{place}"
                if name in dense or name in sparse:
                    raise FormatError(f"feature {name!r} occurs twice", path=self._path, line=line)
                (sparse if alone and self._is_sparse(label) else dense)[name] = value
        self._remember(tokens, tuple(dense), sparse)
        return tuple(dense), tuple(dense.values()), sparse or self._none

    def _groups(self, tokens: Iterable[str], line: int) -> Iterator[tuple[str, list[str]]]:
        """Yield the label ("" where there is none) and the values of each feature."""
        label, values = "", list[str]()
        for token in (*tokens, None):  # the end
            if token is None:
                name, equals, joined = "", "=", ""
            else:
                name, equals, joined = (token[:-1], "=", "") if token[-1] in "=:" else token.rpartition("=")
            if not equals:
                values.append(joined)
                continue
            if label and not values:
                raise FormatError(f"feature {label!r} has no value", path=self._path, line=line)
            if values:
                yield label, values
            if token and not name:
                raise FormatError(f"{token!r} lacks the name of a feature", path=self._path, line=line)
            label, values = name, [joined] if joined else []

    def _remember(self, tokens: list[str], names: tuple[str, ...], sparse: Mapping[str, str]) -> None:
        """Remember the names of sparse features, and the places of the dense labels and values before them."""
        self._joined = bool(sparse) and not names and not any(token[-1] in "=:" for token in tokens)
        if len(self._sparse) + len(sparse) > MAX_SPARSE_NAMES:
            self._sparse.clear()
        self._sparse.update({name if self._joined else f"{name}=": name for name in sparse})
        self._names, self._length = names, -1
        length = max(len(tokens) - 2 * len(sparse), 0)
        labels = [place for place, token in enumerate(tokens[:length]) if token[-1] in "=:"]
        values = [place for place, token in enumerate(tokens[:length]) if token[-1] not in "=:"]
        joined = any("=" in tokens[place] for place in values)
        if values and not joined and all(token[:-1] in sparse for token in tokens[length::2]):
            self._length = length
            self._pick_labels, self._pick_values = _picker(labels), _picker(values)
            self._labels = self._pick_labels(tokens)


def _picker(places: list[int]) -> Callable[[Sequence[str]], Sequence[str]]:
    """A function that picks the tokens at these places, as a tuple."""
    if not places:
        return lambda tokens: ()
    if all(b - a == 1 for a, b in pairwise(places)):
        run = slice(places[0], places[-1] + 1)
        return lambda tokens: tuple(tokens[run])
    return itemgetter(*places)
