"""Makes n-best lists of the hypotheses that readers find, and checks what every list must keep.

A reader yields an `Item` for each hypothesis; `lists_of` joins those of a segment. Only one list is in memory. All
checks that do not depend on the format are here, so that no reader can forget one: numbers are finite and of ordinary
size, all hypotheses have the features of the first one, all or none have totals, and no segment comes again. What
programs lay over the words of a text is taken off here (`layers.py`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

from rerank_adapters.formats.layers import Layers
from rerank_plugins import FormatError, Hypothesis, NBestFormat, NBestList, open_text
from rerank_plugins.core.nbest import NO_SPARSE
from rerank_plugins.kit.files.text import MAX_SCORE, finite_value, wild

SCORE = "score"  # the feature that a total is, where a list has no other
MAX_SHOWN_NAMES = 6  # features that a message names


class Item(NamedTuple):
    """A hypothesis as a reader finds it.

    `id`      of its segment; the hypotheses of a segment follow each other, best first
    `line`    its line in the file, from 1; 0 where there is none
    `text`    its tokens
    `total`   the decoder's total score, a number or the text of one, or None
    `names`   the names of its dense features
    `values`  of the dense features: numbers, or texts of numbers
    `sparse`  sparse features by name: numbers, or texts of numbers; NO_SPARSE where the format knows none
    `source`  the source sentence, or None
    `raw`     what it was read from, with line ends; "" where it cannot be written as it was
    `last`    whether its list is known to be complete, so that nobody waits for the next line
    `context` a sentence that the segment answers or follows, or None
    `path`    its file, where that is one of several
    """

    id: str
    line: int
    text: str
    total: Any = None
    names: tuple[str, ...] = ()
    values: Sequence[Any] = ()
    sparse: Mapping[str, Any] = NO_SPARSE
    source: str | None = None
    raw: str = ""
    last: bool = False
    context: str | None = None
    path: str = ""


class Reader(NBestFormat):
    """A format that finds the hypotheses of a file, of which `lists_of` makes lists."""

    @abstractmethod
    def items(self, lines: Iterable[str], path: str) -> Iterator[Item]:
        """Yield the hypotheses, those of a segment one after another. Raises FormatError with the path and line."""

    def folder_items(self, folder: str) -> Iterator[Item]:
        """Yield the hypotheses of the files of a folder. Raises FormatError where lists are never spread over files."""
        raise FormatError("is a folder, expected a file", path=folder)

    def read(self, lines: Iterable[str], path: str) -> Iterator[NBestList]:
        """Yield a list for each run of hypotheses of one segment. Raises FormatError as `lists_of` does."""
        return lists_of(self.items(lines, path), path, repeated=True)

    def read_folder(self, folder: str) -> Iterator[NBestList]:
        """Yield the lists of a folder. Raises FormatError as `lists_of` does."""
        return lists_of(self.folder_items(folder), folder, repeated=True)

    def items_of_files(self, paths: Iterable[Path]) -> Iterator[Item]:
        """Yield the hypotheses of several files. Raises FormatError for a file without any."""
        for path in map(str, paths):
            item = None
            with open_text(path) as lines:
                for item in self.items(lines, path):
                    yield item._replace(path=path)
            if item is None:
                raise FormatError("the file holds no n-best list", path=path)


def lists_of(items: Iterable[Item], path: str, *, repeated: bool = False) -> Iterator[NBestList]:
    """Yield a list for each run of items with one id. Where totals are the only numbers, they are a feature, `score`.

    Raises FormatError, with `path` and the line, where there is no item; for a segment without an id, and for one that
    comes again, unless `repeated`; for a number that is not finite or of more than the size MAX_SCORE; and for an item
    that has other features than the first one, or that has a total where the first one has none, or none where it has.
    """
    first: Item | None = None
    run: list[Item] = []
    seen: set[str] = set()
    layers = Layers()
    for item in items:
        if run and item.id != run[-1].id:
            yield _list(run, first or run[0], path, layers)
            run = []
        if not run:
            if not item.id:
                raise FormatError("the id of the segment is missing", path=item.path or path, line=item.line or None)
            if item.id in seen and not repeated:
                again = f"segment {item.id} appears twice; merge the lists first (`rerank lists merge`)"
                raise FormatError(again, path=item.path or path, line=item.line or None)
            seen.add(item.id)
        first = first or item
        run.append(item)
        if item.last:
            yield _list(run, first, path, layers)
            run = []
    if first is None:
        raise FormatError("the file holds no n-best list", path=path)
    if run:
        yield _list(run, first, path, layers)
    layers.log(path)


def items_of(nbests: Iterable[NBestList]) -> Iterator[Item]:
    """Yield the hypotheses of lists that another reader has made, each list for itself."""
    for nbest in nbests:
        last = len(nbest) - 1
        for row, (text, values, total, sparse, raw) in enumerate(nbest):
            rest = nbest.feature_names, values, sparse, nbest.source, raw, row == last, nbest.context
            yield Item(nbest.segment_id, nbest.line, text, total, *rest)


def _list(run: Sequence[Item], first: Item, path: str, layers: Layers) -> NBestList:
    """The list of a segment, with the features of the first item of the file."""
    alone = not first.names and first.sparse is NO_SPARSE and first.total is not None
    scored = first.total is not None
    texts = layers.taken_off([item.text for item in run])
    rows = _floats_of_all(run, first) or [_floats_like(item, first, item.path or path) for item in run]
    hypotheses = []
    for item, text, values, sparse in zip(run, texts, rows, _sparse_of_all(run, path), strict=True):
        total = values[-1] if scored else None
        dense = values[:-1] if scored and not alone else values
        hypotheses.append(Hypothesis(text, dense, total, sparse, item.raw))
    names = (SCORE,) if alone else first.names
    return NBestList(run[0].id, tuple(hypotheses), names, run[0].source, run[0].context, run[0].line)


def _sparse_of_all(run: Sequence[Item], path: str) -> Sequence[Mapping[str, float]]:
    """The sparse features of all items. Raises FormatError for an unusual number."""
    values = [value for item in run for value in item.sparse.values()]
    if not values:
        return [NO_SPARSE] * len(run)
    if floats := _usual(values):
        left = iter(floats)
        return [dict(zip(item.sparse, left)) if item.sparse else NO_SPARSE for item in run]  # noqa: B905
    numbers = (_floats([*item.sparse.values()], item, path, [*item.sparse]) for item in run)
    return [dict(zip(item.sparse, own, strict=True)) for item, own in zip(run, numbers, strict=True)]


def _floats_of_all(run: Sequence[Item], first: Item) -> list[tuple[float, ...]]:
    """The numbers of all items, each with its total behind; none where an item has others, or an unusual number."""
    values: list[Any] = []
    scored = first.total is not None
    for item in run:
        if item.names != first.names or (item.total is None) is scored:
            return []
        values += item.values
        if scored:
            values.append(item.total)
    width = len(first.names) + scored
    if not width:
        return [()] * len(run)
    floats = _usual(values)
    return [floats[start : start + width] for start in range(0, len(floats), width)]


def _floats_like(item: Item, first: Item, path: str) -> tuple[float, ...]:
    """The numbers of an item, in the order of the first one. Raises FormatError for others, and for unusual ones."""
    if item.names != first.names or (item.total is None) != (first.total is None):
        item = _like(item, first, path)
    return _floats((*item.values, item.total) if item.total is not None else item.values, item, path)


def _like(item: Item, first: Item, path: str) -> Item:
    """The item with its features in the order of the first one. Raises FormatError where it has others."""
    line = item.line or None
    if difference := names_differ(first.names, item.names):
        raise FormatError(f"the hypothesis {difference}, unlike line {first.line}", path=path, line=line)
    if (item.total is None) != (first.total is None):
        has, have = ("no total score", "has one") if item.total is None else ("a total score", "has none")
        raise FormatError(f"the hypothesis has {has}, but line {first.line} {have}", path=path, line=line)
    by_name = dict(zip(item.names, item.values, strict=True))
    return item._replace(names=first.names, values=[by_name[name] for name in first.names])


def names_differ(wanted: Sequence[str], names: Sequence[str]) -> str:
    """As `lacks feature 'lm' and has the unexpected feature 'x'`; "" where both sequences hold the same names."""
    wanted_set, name_set = set(wanted), set(names)
    missing = [name for name in wanted if name not in name_set]
    extra = [name for name in names if name not in wanted_set]
    parts = [f"lacks {_some(missing)}"] if missing else []
    parts += [f"has the unexpected {_some(extra)}"] if extra else []
    return " and ".join(parts)


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:MAX_SHOWN_NAMES])
    more = f" and {len(names) - MAX_SHOWN_NAMES} more" if len(names) > MAX_SHOWN_NAMES else ""
    return f"feature{'s' if len(names) > 1 else ''} {shown}{more}"


def _floats(values: Sequence[Any], item: Item, path: str, names: Sequence[str] = ()) -> tuple[float, ...]:
    """The values as finite numbers of ordinary size; only where something is wrong is each looked at by itself.

    `names` are those of the values where these are not the dense features with the total behind them.
    """
    if not values:
        return ()
    if floats := _usual(values):
        return floats
    called = [f"feature {name!r}" for name in names or item.names]
    called += ["the total score"] * (len(values) - len(called))
    return tuple(_number(value, name, item.path or path, item.line) for value, name in zip(values, called, strict=True))


def _usual(values: Sequence[Any]) -> tuple[float, ...]:
    """The values as floats; none of them where one is no number, not finite or beyond all others."""
    kinds = {*map(type, values)}
    texts = values if kinds == {str} else [value for value in values if type(value) is str] if str in kinds else ()
    if kinds <= {str, float, int} and _is_plain("".join(texts)):
        try:
            floats = tuple(map(float, values))
        except (ValueError, OverflowError):
            return ()
        if min(floats) >= -MAX_SCORE and max(floats) <= MAX_SCORE and sum(floats) == sum(floats):  # not nan
            return floats
    return ()


def _is_plain(numbers: str) -> bool:
    """Whether no text has a form that only Python accepts as a number: `1_000` or digits of other scripts."""
    return "_" not in numbers and numbers.isascii()


def _number(value: Any, name: str, path: str, line: int) -> float:
    """The value as a finite number of ordinary size. Raises FormatError."""
    if isinstance(value, str):
        return finite_value(value, name, path, line)
    try:
        if isinstance(value, bool) or not isinstance(value, Real):
            raise ValueError(f"is {value!r:.60}, expected a number")
        number = float(value)
        if not isfinite(number):
            raise ValueError(f"is {number}, expected a finite number")
        if abs(number) > MAX_SCORE:
            raise ValueError(wild(number))
    except (ValueError, OverflowError) as error:
        raise FormatError(f"{name} {error}", path=path, line=line or None) from None
    return number
