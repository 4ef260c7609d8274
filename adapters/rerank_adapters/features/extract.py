"""Extracts features of n-best lists: the values of an array, the same for any number of processes and any cache.

The values of a list depend on that list alone, so that chunks of lists only divide the work. Extractors of scope "text"
see each distinct text of a list once. The values of a finished chunk are in the cache: the same call goes on where a
killed one stopped. Values that an extractor returns are checked here: their shape, their type, and that all are finite.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from rerank_adapters.features.feature import Feature, Sees, seen_part
from rerank_adapters.features.processes import HERE, Processes
from rerank_plugins import FeatureExtractor, FloatArray, NBestList, PluginError, RerankError
from rerank_plugins.core.owners import class_name, owner_of, said
from rerank_plugins.core.sentences import check_lists
from rerank_plugins.kit.cache import Kind, user_cache

ROWS_OF_FIRST_CHUNK, MAX_ROWS_OF_CHUNK = 64, 512  # hypotheses; the first chunk loads the models
SHARES_OF_PROCESS = 4  # the largest chunk is that part of the remaining work of one process

Counts = defaultdict[str, int]  # of hypotheses, by label
Report = Callable[[int, Mapping[str, float]], None]  # (hypotheses done since the last call, CPU seconds by label)


@dataclass(frozen=True)
class Task:
    """Lists with their numbers and, for each of them, the features that lack its values, by their numbers."""

    numbers: Sequence[int]
    lists: Sequence[NBestList]
    lacking: Sequence[Sequence[int]]


@dataclass(frozen=True)
class Done:
    """The values of a task by feature and list, and the CPU seconds of each feature."""

    values: Mapping[int, Mapping[int, FloatArray]]
    seconds: Mapping[int, float]


def extract(
    lists: Sequence[NBestList],
    features: Sequence[Feature],
    processes: Processes = HERE,
    *,
    report: Report = lambda rows, seconds: None,
    cached: Counts | None = None,
    out: FloatArray | None = None,
) -> FloatArray:
    """(hypotheses, columns) the values of all features, the hypotheses of each list below those of the list before.

    `out` is the array to write to; `cached` gets the number of hypotheses whose values were in the cache, by label.
    Raises TypeError for what is no sequence of n-best lists, PluginError for an extractor that breaks its contract, and
    the errors of `check_lists` of an extractor.
    """
    check_lists(lists)
    for feature in features:
        feature.extractor.check_lists(lists)
    rows = np.cumsum([0, *map(len, lists)]).tolist()
    columns = np.cumsum([0, *(len(feature.names) for feature in features)]).tolist()
    values: FloatArray = np.empty((rows[-1], columns[-1])) if out is None else out
    blocks = [slice(*ends) for ends in pairwise(rows)], [slice(*ends) for ends in pairwise(columns)]

    cache = user_cache()
    seen: dict[Sees, list[bytes]] = {}
    lacking: list[list[int]] = [[] for _ in lists]
    for f, feature in enumerate(features):
        known: Mapping[bytes, bytes] = {}
        if cache is not None and feature.extractor.cached:
            keys = seen.setdefault(feature.sees, []) or [seen_part(nbest, feature.sees) for nbest in lists]
            seen[feature.sees] = keys
            known = cache.get(kind_of(feature), list(dict.fromkeys(keys)))
        for n, nbest in enumerate(lists):
            value = known.get(seen[feature.sees][n]) if known else None
            if value is None or len(value) != 8 * len(nbest) * len(feature.names):
                lacking[n].append(f)
                continue
            values[blocks[0][n], blocks[1][f]] = np.frombuffer(value).reshape(len(nbest), -1)
            if cached is not None:
                cached[feature.label] += len(nbest)

    alone = {f for f, feature in enumerate(features) if feature.extractor.one_process}
    for where, chosen in ((processes, lambda f: f not in alone), (HERE, alone.__contains__)):
        wanted = [[f for f in own if chosen(f)] for own in lacking]
        work = partial(compute, {f: feature for f, feature in enumerate(features) if chosen(f)})
        for done in where.results(work, list(_tasks(lists, wanted, where.jobs))):
            for f, arrays in done.values.items():
                for n, array in arrays.items():
                    values[blocks[0][n], blocks[1][f]] = array
                if cache is not None and features[f].extractor.cached:
                    own = seen[features[f].sees]
                    cache.put(kind_of(features[f]), [(own[n], array.tobytes()) for n, array in arrays.items()])
            finished = {n for arrays in done.values.values() for n in arrays}
            report(sum(len(lists[n]) for n in finished), {features[f].label: s for f, s in done.seconds.items()})
    return values


def kind_of(feature: Feature) -> Kind:
    """The kind of the values of a feature in the cache."""
    return Kind.of("lists", feature.extractor, feature.identity)


def groups_of(lists: Iterable[NBestList], rows: int = MAX_ROWS_OF_CHUNK) -> Iterator[list[NBestList]]:
    """Lists that come one by one, in groups of about `rows` hypotheses; with 1, each list is a group of its own."""
    group = list[NBestList]()
    for nbest in lists:
        group.append(nbest)
        if sum(map(len, group)) >= rows:
            yield group
            group = []
    if group:
        yield group


def _tasks(lists: Sequence[NBestList], lacking: Sequence[Sequence[int]], jobs: int) -> Iterator[Task]:
    """Chunks of lists: small ones first and last, and the costly lists first, so that processes end together."""
    numbers = sorted((n for n, own in enumerate(lacking) if own), key=lambda n: -_cost(lists[n]))
    left, size, chunk, rows = sum(len(lists[n]) for n in numbers), ROWS_OF_FIRST_CHUNK, list[int](), 0
    for n in numbers:
        chunk.append(n)
        rows += len(lists[n])
        if rows >= max(ROWS_OF_FIRST_CHUNK, min(size, left // (SHARES_OF_PROCESS * jobs))) or n == numbers[-1]:
            yield Task(chunk, [lists[n] for n in chunk], [lacking[n] for n in chunk])
            left, size = left - rows, min(2 * size, MAX_ROWS_OF_CHUNK)
            chunk, rows = [], 0


def _cost(nbest: NBestList) -> float:
    """A measure of the cost of a list: parsers need more time for each word of a long text."""
    return float(sum(len(text) ** 1.5 for text in nbest.texts))


def compute(features: Mapping[int, Feature], task: Task) -> Done:
    """The values that a task lacks, of features by their numbers.

    Raises PluginError for an extractor that breaks its contract.
    """
    values: dict[int, dict[int, FloatArray]] = {}
    seconds: dict[int, float] = {}
    for f in sorted({f for own in task.lacking for f in own}):
        started = time.process_time()
        own = [(n, nbest) for n, nbest, own in zip(task.numbers, task.lists, task.lacking, strict=True) if f in own]
        arrays = extracted(features[f], [nbest for _, nbest in own])
        values[f] = {n: array for (n, _), array in zip(own, arrays, strict=True)}
        seconds[f] = time.process_time() - started
    return Done(values, seconds)


def extracted(feature: Feature, lists: Sequence[NBestList]) -> list[FloatArray]:
    """(hypotheses, components) for each list, by this process and without a cache. Raises as `compute` does."""
    lists = feature.read(lists)
    if feature.extractor.scope == "list":
        return _checked(feature, lists, lists)
    first_rows = [{text: row for row, text in reversed(list(enumerate(nbest.texts)))} for nbest in lists]
    rows = [sorted(own.values()) for own in first_rows]
    distinct = [nbest if len(own) == len(nbest) else nbest.select(own) for nbest, own in zip(lists, rows, strict=True)]
    return [
        array[np.searchsorted(own, [first[text] for text in nbest.texts])]
        for array, own, first, nbest in zip(_checked(feature, distinct, lists), rows, first_rows, lists, strict=True)
    ]


def _checked(feature: Feature, lists: Sequence[NBestList], whole: Sequence[NBestList]) -> list[FloatArray]:
    """The extractor's values of `lists`, which are parts of the lists `whole`; errors name rows of `whole`."""
    extractor, kind = feature.extractor, type(feature.extractor)
    who = f"feature {feature.label!r} ({class_name(kind)}{owner_of(kind)})"
    try:
        arrays = extractor.extract_all(lists)
    except RerankError:
        raise
    except (Exception, SystemExit) as error:
        raise PluginError(f"{who}, {_where_it_fails(extractor, lists)}: {said(error)}") from error
    if not isinstance(arrays, list | tuple) or len(arrays) != len(lists):
        got = f"{len(arrays)} arrays" if isinstance(arrays, list | tuple) else f"a {type(arrays).__name__}"
        raise PluginError(f"{who}: extract_all returned {got} for {len(lists)} lists")
    for nbest, original, values in zip(lists, whole, arrays, strict=True):
        where, expected = f"{who}, segment {nbest.segment_id}", (len(nbest), len(extractor.components))
        if not isinstance(values, np.ndarray) or values.dtype != np.float64:
            dtype = values.dtype if isinstance(values, np.ndarray) else type(values).__name__
            raise PluginError(f"{where}: expected a numpy array of float64, got {dtype}")
        if values.shape != expected:
            raise PluginError(f"{where}: expected shape {expected} (hypotheses, components), got {values.shape}")
        if not np.isfinite(values).all():
            at, column = map(int, np.argwhere(~np.isfinite(values))[0])
            text = nbest[at].text
            name = f"component {extractor.components[column]!r} " if extractor.components[column] else ""
            message = f"{name}is {values[at, column]}, expected a finite number (text: {text[:60]!r})"
            raise PluginError(f"{where}, row {original.texts.index(text)}: {message}")
    return list(arrays)


def _where_it_fails(extractor: FeatureExtractor, lists: Sequence[NBestList]) -> str:
    """The first segment whose list alone makes the extractor fail; lists of a chunk are in the order of their costs."""
    for nbest in lists:
        try:
            extractor.extract_all([nbest])
        except (Exception, SystemExit):
            return f"segment {nbest.segment_id}"
    return f"{len(lists)} segments together, {lists[0].segment_id} among them"
