"""Parses the feature column of a decoder's n-best line, in every spelling that decoders use.

    LM0= -19.4 TranslationModel0= -3.5 -8.4     label, values         (Moses, Marian)
    d: 0 -1.2 lm: -19.4                         old Moses
    LM0=-19.4 tm_pt_0=-3.5                      label and value joined (cdec, Joshua, Travatar, Marian)
    -19.4 -3.5                                  no labels: named feature_0, feature_1

A label with one value names a feature `X`; one with several values names features `X_0`, `X_1` and so on. The dialect
(delimited.py) decides which labels are sparse features. All lines of a file must have the same dense features.

The fast path takes a line whose dense labels are at the positions they had on the line before, followed by sparse
labels that are known: its values are picked by position. Every other line takes the careful path, which also reports
the fault of a line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from operator import itemgetter

from rerank_adapters.formats.items import names_differ
from rerank_plugins import FormatError
from rerank_plugins.core.nbest import NO_SPARSE
from rerank_plugins.kit.files.text import MAX_SCORE, finite_value, shortest

UNLABELLED = "feature"
NEVER = 1 << 60  # more tokens than any line has
MAX_SPARSE_NAMES = 1_000_000  # sparse names remembered; the limit bounds the memory for a stream of lines
Features = tuple[tuple[float, ...], Mapping[str, float]]  # dense values, sparse features
Pick = Callable[[Sequence[str]], tuple[str, ...]]


class FeatureField:
    """A parser of the feature columns of one file, which remembers the layout and the dense names of its lines.

    `names` are the dense features; they are known once a line has been parsed.
    """

    def __init__(self, is_sparse: Callable[[str], bool], path: str) -> None:
        self.names: tuple[str, ...] = ()
        self.line = 0  # the number of the first line parsed, which sets the names
        self._is_sparse = is_sparse
        self._path = path
        self._length = NEVER  # number of tokens of the dense features in the remembered layout
        self._labels: tuple[str, ...] = ()
        self._underscores = 0
        self._pick_labels: Pick = tuple
        self._pick_values: Pick = tuple
        self._joined = False  # whether lines hold only sparse features, as `name=value`
        self._sparse_names: dict[str, str] = {}  # from a label as spelt to the name, one object for all lines

    def parse(self, field: str, line: int) -> Features:
        """The dense values (in the order of `names`) and the sparse features of one line. Raises FormatError."""
        tokens = field.split()
        try:
            features = self._all_joined(tokens) if self._joined else self._by_position(tokens, field)
        except (ValueError, KeyError):
            features = None
        return features or self._carefully(tokens, line)

    def _all_joined(self, tokens: list[str]) -> Features | None:
        """The fast path for `name=value` with known sparse names; None, ValueError or KeyError where it fails."""
        parts = [token.rpartition("=") for token in tokens]
        sparse = {self._sparse_names[name]: float(text) for name, _, text in parts}
        plain = _have_no_python_form("".join([text for _, _, text in parts]))
        ordinary = -MAX_SCORE <= sum(sparse.values()) <= MAX_SCORE
        return ((), sparse) if plain and len(sparse) == len(tokens) and ordinary else None

    def _by_position(self, tokens: list[str], field: str) -> Features | None:
        """The fast path for the remembered layout. Where it does not apply: None, ValueError or KeyError.

        A single value that is nan, inf or too large for a score makes the sum such a one, so the sum alone is checked.
        """
        if len(tokens) < self._length or self._pick_labels(tokens) != self._labels:
            return None
        texts = self._pick_values(tokens)
        values = tuple(map(float, texts))
        if len(tokens) == self._length:
            plain = (
                field.count("_") == self._underscores and field.isascii()
            )  # as _have_no_python_form, but nothing is joined
            return (values, NO_SPARSE) if plain and -MAX_SCORE <= sum(values) <= MAX_SCORE else None
        labels, more = tokens[self._length :: 2], tokens[self._length + 1 :: 2]
        sparse = {self._sparse_names[a]: float(b) for a, b in zip(labels, more, strict=True)}
        ordinary = -MAX_SCORE <= sum(values) + sum(sparse.values()) <= MAX_SCORE
        plain = ordinary and len(sparse) == len(labels) and _have_no_python_form("".join((*texts, *more)))
        return (values, sparse) if plain else None

    def _carefully(self, tokens: list[str], line: int) -> Features:
        """The careful path: it parses any layout, reports errors, and remembers the layout for the fast path."""
        dense: dict[str, float] = {}
        sparse: dict[str, float] = {}
        for label, texts in self._groups(tokens, line):
            if label and len(texts) == 1 and self._is_sparse(label):
                self._set(sparse, label, texts[0], line)
            elif len(texts) == 1 and label:
                self._set(dense, label, texts[0], line)
            else:
                for i, text in enumerate(texts):
                    self._set(dense, f"{label or UNLABELLED}_{i}", text, line)
        names = tuple(dense)
        if not self.line:
            self.names, self.line = names, line
            self._joined = not dense and not any(token[-1] in "=:" for token in tokens)
        if names == self.names:
            self._remember(tokens, sparse)
            return tuple(dense.values()), sparse or NO_SPARSE
        self.check(names, line)
        return tuple(dense[name] for name in self.names), sparse or NO_SPARSE

    def _groups(self, tokens: Iterable[str], line: int) -> Iterator[tuple[str, list[str]]]:
        """Yield the label ("" where there is none) and the texts of the values of each feature."""
        label, texts = "", list[str]()
        for token in tokens:
            name, equals, joined = (token[:-1], "=", "") if token[-1] in "=:" else token.rpartition("=")
            if not equals:
                texts.append(token)
                continue
            if label and not texts:
                raise FormatError(f"feature {label!r} has no value", path=self._path, line=line)
            if texts:
                yield label, texts
            if not name:
                raise FormatError(f"{token!r} lacks the name of a feature", path=self._path, line=line)
            label, texts = name, [joined] if joined else []
        if label and not texts:
            raise FormatError(f"feature {label!r} has no value", path=self._path, line=line)
        if texts:
            yield label, texts

    def _set(self, features: dict[str, float], name: str, text: str, line: int) -> None:
        if name in features:
            raise FormatError(f"feature {name!r} occurs twice", path=self._path, line=line)
        features[name] = finite_value(text, f"feature {name!r}", self._path, line)

    def check(self, names: Sequence[str], line: int) -> None:
        """Raise FormatError with the missing or surplus names unless `names` are, in any order, those of the file."""
        difference = names_differ(self.names, names)
        if difference:
            message = f"{difference}; the lines from line {self.line} on have {len(self.names)} dense features"
            raise FormatError(message, path=self._path, line=line)

    def _remember(self, tokens: list[str], sparse: Mapping[str, float]) -> None:
        """Remember the names of the sparse features, and the positions of the dense labels and values before them."""
        if len(self._sparse_names) + len(sparse) > MAX_SPARSE_NAMES:
            self._sparse_names.clear()
        self._sparse_names.update({name if self._joined else name + "=": name for name in sparse})
        self._length = NEVER
        length = len(tokens) - 2 * len(sparse)
        dense = tokens[: max(length, 0)]
        labels = [i for i, token in enumerate(dense) if token[-1] in "=:"]
        values = [i for i, token in enumerate(dense) if token[-1] not in "=:"]
        joined = any("=" in dense[i] for i in values)  # label and value share a token: no position to pick
        if values and not joined and all(token[:-1] in sparse for token in tokens[length::2]):
            self._length = length
            self._pick_labels, self._pick_values = _picker(labels), _picker(values)
            self._labels = self._pick_labels(tokens)
            self._underscores = sum(label.count("_") for label in self._labels)


def _have_no_python_form(values: str) -> bool:
    """Whether no value has a form that only Python accepts as a number: `1_000` or digits of other scripts."""
    return "_" not in values and values.isascii()


def _picker(positions: list[int]) -> Pick:
    """A function that picks the tokens at these positions, as a tuple."""
    if not positions:
        return lambda tokens: ()
    if len(positions) == 1:
        only = positions[0]
        return lambda tokens: (tokens[only],)
    if all(b - a == 1 for a, b in pairwise(positions)):
        run = slice(positions[0], positions[-1] + 1)
        return lambda tokens: tuple(tokens[run])
    return itemgetter(*positions)


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
