"""The plan of an extraction: extractors by label, their text pipelines, and the columns that they make.

A chunk of lists is extracted by all extractors of a plan: it is the unit of parallel and resumable work. The arrays
that extractors return are checked: their shape, their type, and that all values are finite. No value depends on which
lists form a chunk.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

import numpy as np

from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError, FeatureExtractor, FloatArray, NBestList, PluginError, RerankError
from rerank_plugins.core.arrays import BoolArray, LongArray
from rerank_plugins.core.fingerprint import describe
from rerank_plugins.core.guests.calls import GuestError
from rerank_plugins.core.guests.features import fault_of_components
from rerank_plugins.core.guests.names import class_name, owner

Item = TypeVar("Item")


def column_names(label: str, components: Sequence[str]) -> list[str]:
    """`label.component` for each component; the label alone for a component without a name."""
    return [f"{label}.{component}" if component else label for component in components]


@dataclass(frozen=True)
class Plan:
    """Extractors and, by label, the pipelines of their hypotheses and sources.

    An extractor without a pipeline sees the text as it is.
    """

    extractors: Mapping[str, FeatureExtractor]
    texts: Mapping[str, TextPipeline] = field(default_factory=dict)
    sources: Mapping[str, TextPipeline] = field(default_factory=dict)

    def check(self, taken: Sequence[str] = ()) -> None:
        """Raise ConfigError for two columns of one name (`taken` are the decoder's) or a pipeline without extractor.

        Names go to files of lists and weights: PluginError is raised for components whose names do not fit there.
        """
        for label, extractor in self.extractors.items():
            if fault := fault_of_components(extractor.components):
                kind = type(extractor)
                raise PluginError(f"feature {label!r} ({class_name(kind)}{owner(kind)}): {fault}")
        for label in [*self.texts, *self.sources]:
            if label not in self.extractors:
                raise ConfigError(f"there is a text pipeline for the feature {label!r}, which is not extracted")
        for name, times in Counter([*taken, *self.names]).items():
            if times > 1:
                other = "the decoder has" if name in taken else "another extractor makes"
                raise ConfigError(f"{other} a feature {name!r} too: give the extractor another label")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(name for names in self.columns.values() for name in names)

    @property
    def columns(self) -> dict[str, list[str]]:
        """By label, the names of the columns of each extractor."""
        return {label: column_names(label, extractor.components) for label, extractor in self.extractors.items()}

    def pipelines(self, label: str) -> tuple[TextPipeline, TextPipeline]:
        """The pipelines of an extractor, for hypotheses and for the source."""
        return self.texts.get(label, TextPipeline()), self.sources.get(label, TextPipeline())

    def describe(self) -> dict[str, Any]:
        """By label, all that the values depend on besides the lists, as plain values for JSON."""
        return {label: self.description(label) for label in self.extractors}

    def description(self, label: str, *, file_names: bool = True) -> dict[str, Any]:
        """The same of one feature; without the names of files if `file_names` is false, so that copies are equal."""
        extractor, (text, source) = self.extractors[label], self.pipelines(label)
        return {
            "extractor": describe(extractor, file_names=file_names),
            "components": list(extractor.components),
            "text": text.describe(),
            "source": source.describe(),
        }


FIRST, LARGEST = 64, 512  # hypotheses in the first chunk, and in those from the fourth on
SHARES = 4  # the largest chunk of lists in memory is that part of what is left for one process


@dataclass(frozen=True)
class Task:
    """Lists and, by label, the rows (of all rows of the lists) whose values are wanted; other labels are left out."""

    nbests: Sequence[NBestList]
    wanted: dict[str, BoolArray]


@dataclass(frozen=True)
class Extracted:
    """By label, the values (wanted rows, components) of a task, and the CPU seconds that each extractor took."""

    values: Mapping[str, FloatArray]
    seconds: Mapping[str, float]


def chunks(nbests: Iterable[NBestList]) -> Iterator[list[NBestList]]:
    """Lists in groups of at least 64, 128, 256, then 512 hypotheses; the first, small ones are timed soon."""
    return _grouped(nbests, len)


def chunks_by_cost(nbests: Sequence[NBestList], jobs: int) -> Iterator[list[int]]:
    """The numbers of the lists in groups: costly lists first, and ever smaller groups, so that processes end together.

    Groups grow as those of `chunks` do, and shrink as little is left for each of the `jobs` processes.
    """
    by_cost = sorted(range(len(nbests)), key=lambda number: -_cost(nbests[number]))
    return _grouped(by_cost, lambda number: len(nbests[number]), sum(map(len, nbests)), jobs)


def _grouped(
    items: Iterable[Item], rows_of: Callable[[Item], int], left: int = sys.maxsize, jobs: int = 1
) -> Iterator[list[Item]]:
    """Items in groups, which grow, and shrink as few of their rows are `left` for each of the `jobs` processes."""
    size, group, rows = FIRST, list[Item](), 0
    for item in items:
        group.append(item)
        rows += rows_of(item)
        if rows >= max(FIRST, min(size, left // (SHARES * jobs))):
            yield group
            left, size = left - rows, min(2 * size, LARGEST)
            group, rows = [], 0
    if group:
        yield group


def _cost(nbest: NBestList) -> float:
    """A measure of what a list costs: parsers need more time for each word of a long text."""
    return float(sum(len(text) ** 1.5 for text in nbest.texts))


def extract_chunk(plan: Plan, task: Task, *, last_first: bool = False) -> Extracted:
    """Extract the wanted values, the last feature first if told so.

    Raises PluginError for an extractor that breaks its contract.
    """
    sizes = np.cumsum([len(nbest) for nbest in task.nbests])[:-1]
    values: dict[str, FloatArray] = {}
    seconds: dict[str, float] = {}
    through = cache(lambda text, source: as_read(task.nbests, text, source))
    for label in reversed(task.wanted) if last_first else task.wanted:
        extractor, rows = plan.extractors[label], task.wanted[label]
        started = time.process_time()
        parts = np.split(rows, sizes)
        lists = [
            (nbest, part) for nbest, part in zip(through(*plan.pipelines(label)), parts, strict=True) if part.any()
        ]
        whole = [nbest for nbest, _ in lists]
        if extractor.scope == "text":
            distinct, back = _distinct(lists)
            values[label] = np.concatenate(_checked(label, extractor, distinct, whole))[back]
        else:
            arrays = _checked(label, extractor, whole, whole)
            values[label] = np.concatenate([array[part] for array, (_, part) in zip(arrays, lists, strict=True)])
        seconds[label] = time.process_time() - started
    return Extracted(values, seconds)


def extract_lists(plan: Plan, nbests: Sequence[NBestList]) -> Extracted:
    """Extract all features of all hypotheses of some lists. Raises as `extract_chunk` does."""
    rows = sum(map(len, nbests))
    return extract_chunk(plan, Task(nbests, {label: np.ones(rows, bool) for label in plan.extractors}))


def as_read(nbests: Sequence[NBestList], text: TextPipeline, source: TextPipeline) -> list[NBestList]:
    """The lists as an extractor reads them."""
    if not text.steps and not source.steps:
        return list(nbests)
    texts = iter(text.apply([t for nbest in nbests for t in nbest.texts]))
    sources = source.apply([nbest.source or "" for nbest in nbests])
    return [
        nbest.with_texts([next(texts) for _ in nbest], None if nbest.source is None else new)
        for nbest, new in zip(nbests, sources, strict=True)
    ]


def _distinct(lists: Sequence[tuple[NBestList, BoolArray]]) -> tuple[list[NBestList], LongArray]:
    """The lists with one hypothesis for each distinct text among the marked rows, and the row in these of each mark."""
    distinct, back, base = [], [], 0
    for nbest, marked in lists:
        rows: dict[str, int] = {}  # the first row of each text
        places: dict[str, int] = {}
        texts = nbest.texts
        for row in np.flatnonzero(marked).tolist():
            text = texts[row]
            rows.setdefault(text, row)
            back.append(base + places.setdefault(text, len(places)))
        base += len(rows)
        distinct.append(nbest if len(rows) == len(nbest) else nbest.select(list(rows.values())))
    return distinct, np.array(back, np.int64)


def _checked(
    label: str, extractor: FeatureExtractor, nbests: Sequence[NBestList], whole: Sequence[NBestList]
) -> list[FloatArray]:
    """The extractor's values of `nbests`, which are parts of the lists `whole`; errors name rows of `whole`."""
    kind = type(extractor)
    who = f"feature {label!r} ({class_name(kind)}{owner(kind)})"
    try:
        arrays = extractor.extract_all(nbests)
    except GuestError as error:  # say which feature it is, and where it failed
        if error.kind != class_name(kind):
            raise
        raise PluginError(f"{who}, {_where_it_fails(extractor, nbests)}: {error.reason}") from error
    except RerankError:
        raise
    except Exception as error:
        raise PluginError(f"{who}, {_where_it_fails(extractor, nbests)}: {type(error).__name__}: {error}") from error
    if not isinstance(arrays, list | tuple) or len(arrays) != len(nbests):
        found = f"{len(arrays)} arrays" if isinstance(arrays, list | tuple) else f"a {type(arrays).__name__}"
        raise PluginError(f"{who}: extract_all returned {found} for {len(nbests)} lists")
    for nbest, original, values in zip(nbests, whole, arrays, strict=True):
        where, wanted = f"{who}, segment {nbest.segment_id}", (len(nbest), len(extractor.components))
        if not isinstance(values, np.ndarray) or values.dtype != np.float64:
            dtype = values.dtype if isinstance(values, np.ndarray) else type(values).__name__
            raise PluginError(f"{where}: found {dtype}, wanted a numpy array of float64")
        if values.shape != wanted:
            raise PluginError(f"{where}: shape {values.shape}, wanted {wanted} (hypotheses, components)")
        if not np.isfinite(values).all():
            at, column = map(int, np.argwhere(~np.isfinite(values))[0])
            value, text = values[at, column], nbest[at].text
            row = at if nbest is original else original.texts.index(text)
            name = f"component {extractor.components[column]!r} " if extractor.components[column] else ""
            raise PluginError(f"{where}, row {row}: {name}is {value}, wanted a finite number (text: {text[:60]!r})")
    return arrays


def _where_it_fails(extractor: FeatureExtractor, nbests: Sequence[NBestList]) -> str:
    """The first segment whose list alone makes the extractor fail; lists of a chunk are in the order of their costs."""
    for nbest in nbests:
        try:
            extractor.extract_all([nbest])
        except Exception:
            return f"segment {nbest.segment_id}"
    return f"{len(nbests)} segments together, {nbests[0].segment_id} among them"
