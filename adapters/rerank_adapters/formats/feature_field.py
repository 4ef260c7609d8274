"""The feature column of a decoder's n-best line, in every spelling that decoders use.

    LM0= -19.4 TranslationModel0= -3.5 -8.4     label, values         (Moses, Marian)
    d: 0 -1.2 lm: -19.4                         old Moses
    LM0=-19.4 tm_pt_0=-3.5                      label and value joined (cdec, Joshua, Travatar, Marian)
    -19.4 -3.5                                  no labels: named feature_0, feature_1

A label with one value names a feature `X`; with several, `X_0`, `X_1` and so on. Which labels are sparse features is
the dialect's business (dialects.py). All lines of a file must have the same dense features.

A line costs little where its dense labels stand where those of the line before stood, with known sparse labels after
them: the values are picked by position. Every other line takes the careful path, which also finds what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import isfinite
from operator import itemgetter

from rerank_adapters.formats.numbers import finite, shortest
from rerank_plugins.errors import FormatError
from rerank_plugins.nbest import NO_SPARSE

UNLABELLED = "feature"
NEVER = 1 << 60  # longer than any line
MOST_NAMES = 1_000_000  # sparse names remembered, so that a stream of lines takes bounded memory
Features = tuple[tuple[float, ...], Mapping[str, float]]  # dense values, sparse features
Pick = Callable[[Sequence[str]], tuple[str, ...]]


class FeatureField:
    """Parser of the feature columns of one file; remembers the layout and the dense names of its lines.

    `names` are the dense features, once a line has been parsed.
    """

    def __init__(self, is_sparse: Callable[[str], bool], path: str) -> None:
        self.names: tuple[str, ...] = ()
        self.line = 0  # that of the first line parsed, which sets the names
        self._is_sparse = is_sparse
        self._path = path
        self._length = NEVER  # tokens of the dense features in the remembered layout
        self._labels: tuple[str, ...] = ()
        self._underscores = 0
        self._pick_labels: Pick = tuple
        self._pick_values: Pick = tuple
        self._joined = False  # lines hold sparse `name=value` alone
        self._sparse_names: dict[str, str] = {}  # label as spelt -> name, one object for all lines

    def parse(self, field: str, line: int) -> Features:
        """Dense values (in the order of `names`) and sparse features of one line. Raises FormatError."""
        tokens = field.split()
        try:
            found = self._all_joined(tokens) if self._joined else self._by_position(tokens, field)
        except (ValueError, KeyError):
            found = None
        return found or self._carefully(tokens, line)

    def _all_joined(self, tokens: list[str]) -> Features | None:
        """The fast path of `name=value` with known sparse names. ValueError, KeyError or None: not so."""
        parts = [token.rpartition("=") for token in tokens]
        sparse = {self._sparse_names[name]: float(text) for name, _, text in parts}
        plain = _plain("".join([text for _, _, text in parts]))
        return ((), sparse) if plain and len(sparse) == len(tokens) and isfinite(sum(sparse.values())) else None

    def _by_position(self, tokens: list[str], field: str) -> Features | None:
        """The fast path of the remembered layout. ValueError, KeyError or None: not so, or a value is no number.

        One nan or inf makes the sum of the values one.
        """
        if len(tokens) < self._length or self._pick_labels(tokens) != self._labels:
            return None
        texts = self._pick_values(tokens)
        values = tuple(map(float, texts))
        if len(tokens) == self._length:
            plain = field.count("_") == self._underscores and field.isascii()  # as _plain, without joining
            return (values, NO_SPARSE) if plain and isfinite(sum(values)) else None
        labels, more = tokens[self._length :: 2], tokens[self._length + 1 :: 2]
        sparse = {self._sparse_names[a]: float(b) for a, b in zip(labels, more, strict=True)}
        finite_all = isfinite(sum(values) + sum(sparse.values()))
        return (
            (values, sparse) if finite_all and len(sparse) == len(labels) and _plain("".join((*texts, *more))) else None
        )

    def _carefully(self, tokens: list[str], line: int) -> Features:
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
        """Label ("" where there is none) and texts of the values of each feature."""
        label, texts = "", list[str]()
        for token in tokens:
            name, equals, value = (token[:-1], "=", "") if token[-1] in "=:" else token.rpartition("=")
            if not equals:
                texts.append(token)
                continue
            if label and not texts:
                raise FormatError(f"feature {label!r} has no value", path=self._path, line=line)
            if texts:
                yield label, texts
            if not name:
                raise FormatError(f"{token!r} lacks the name of a feature", path=self._path, line=line)
            label, texts = name, [value] if value else []
        if label and not texts:
            raise FormatError(f"feature {label!r} has no value", path=self._path, line=line)
        if texts:
            yield label, texts

    def _set(self, features: dict[str, float], name: str, text: str, line: int) -> None:
        if name in features:
            raise FormatError(f"feature {name!r} comes twice", path=self._path, line=line)
        try:
            features[name] = finite(text)
        except ValueError as error:
            raise FormatError(f"feature {name!r} {error}", path=self._path, line=line) from None

    def check(self, names: Sequence[str], line: int) -> None:
        """Raise FormatError naming what is missing or extra where `names` are not, in any order, those of the file."""
        difference = names_differ(self.names, names)
        if difference:
            message = f"{difference}; the lines from line {self.line} on have {len(self.names)} dense features"
            raise FormatError(message, path=self._path, line=line)

    def _remember(self, tokens: list[str], sparse: Mapping[str, float]) -> None:
        """The names of sparse features, and where labels and values of the dense ones before them stand."""
        if len(self._sparse_names) + len(sparse) > MOST_NAMES:
            self._sparse_names.clear()
        self._sparse_names.update({name if self._joined else name + "=": name for name in sparse})
        self._length = NEVER
        length = len(tokens) - 2 * len(sparse)
        dense = tokens[: max(length, 0)]
        labels = [i for i, token in enumerate(dense) if token[-1] in "=:"]
        values = [i for i, token in enumerate(dense) if token[-1] not in "=:"]
        joined = any("=" in dense[i] for i in values)  # no positions to pick from
        if values and not joined and all(token[:-1] in sparse for token in tokens[length::2]):
            self._length = length
            self._pick_labels, self._pick_values = _picker(labels), _picker(values)
            self._labels = self._pick_labels(tokens)
            self._underscores = sum(label.count("_") for label in self._labels)


def _plain(values: str) -> bool:
    """Whether none of the values is a number to nobody but Python: `1_000`, other scripts' digits."""
    return "_" not in values and values.isascii()


def _picker(positions: list[int]) -> Pick:
    """The tokens at some positions, as a tuple."""
    if not positions:
        return lambda tokens: ()
    if len(positions) == 1:
        only = positions[0]
        return lambda tokens: (tokens[only],)
    if all(b - a == 1 for a, b in pairwise(positions)):
        run = slice(positions[0], positions[-1] + 1)
        return lambda tokens: tuple(tokens[run])
    return itemgetter(*positions)


def names_differ(wanted: Sequence[str], found: Sequence[str]) -> str:
    """`lacks feature 'lm' and has the unexpected feature 'x'`, or "" where both hold the same names."""
    wanted_set, found_set = set(wanted), set(found)
    missing = [name for name in wanted if name not in found_set]
    extra = [name for name in found if name not in wanted_set]
    parts = [f"lacks {_some(missing)}"] if missing else []
    parts += [f"has the unexpected {_some(extra)}"] if extra else []
    return " and ".join(parts)


def _some(names: Sequence[str], most: int = 6) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"feature{'s' if len(names) > 1 else ''} {shown}{more}"


def label_groups(names: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Runs X_0, X_1, ... (two or more, in this order, one after the other) under the label X; the others by themselves.

    There is no run X where X is a name too: it could not be told from it.
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
    """The feature column of these features: `X= a b` for X_0, X_1 where `separator` is "= ", else `name=value`.

    feature_0, feature_1 ... stand without label where they come first.
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
