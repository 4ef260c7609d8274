"""The arrays of small files of n-gram models, such as the embedded one: they compress well, and have no links.

Contexts and events are stored by level in the order of the tables: how many extensions and how many events each context
has, the differences between neighbouring symbols, and the indices of the values in codebooks of 6 bits or so. All are
single bytes; those of a number of two bytes lie in two arrays. The links are found again when the file is read, which
takes a quarter of a microsecond an n-gram.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import LongArray
from rerank_plugins.kit.backoff.order_estimation import first_children, link_events
from rerank_plugins.kit.backoff.stores import codebook, nearest
from rerank_plugins.kit.backoff.tables import CONTEXT, EVENT, BackoffTables
from rerank_plugins.kit.files.array_values import check_range, check_values
from rerank_plugins.kit.files.model_file import Arrays

MOST_WORDS = 1 << 16


def compact_arrays(tables: BackoffTables, bits: int) -> Arrays:
    """The arrays of tables over at most 65,536 words, with values of so many bits, at most 8."""
    contexts, events = tables.contexts, tables.events
    extensions = np.diff(first_children(contexts))
    arrays: Arrays = {}
    for level in range(tables.order):
        here = slice(*tables.context_levels[level : level + 2].tolist())
        _store(arrays, f"events {level}", np.diff(contexts["events"])[here])
        _store(arrays, f"extensions {level}", extensions[here])
        _store(arrays, f"symbols {level}", _differences(contexts["symbol"][here], contexts["parent"][here]))
        _store_values(arrays, f"weights {level}", contexts["backoff"][here], bits)
        those = slice(*tables.event_levels[level : level + 2].tolist())
        if level:
            owner = np.repeat(np.arange(here.start, here.stop), np.diff(contexts["events"])[here])
            _store(arrays, f"words {level}", _differences(events["symbol"][those], owner))
        _store_values(arrays, f"values {level}", events["log10"][those], bits)
    return arrays


def is_compact(arrays: Arrays) -> bool:
    """Whether the arrays of a model file are such arrays."""
    return "values 0" in arrays


def tables_of_compact(arrays: Arrays, size: int) -> BackoffTables:
    """The tables of such arrays, over `size` words.

    Raises ContentsError for symbols and values that tables cannot have, and what numpy raises for arrays that do not
    fit together.
    """
    order = sum(name.startswith("values ") for name in arrays) // 2
    number = [_fetch(arrays, f"events {level}") for level in range(order)]
    context_levels = np.cumsum([0, *map(len, number)])
    event_levels = np.cumsum([0, *(int(sizes.sum()) for sizes in number)])
    contexts = np.zeros(int(context_levels[-1]) + 1, CONTEXT)
    events = np.zeros(int(event_levels[-1]), EVENT)
    contexts["events"][1:] = np.cumsum(np.concatenate(number))
    for level in range(order):
        here = contexts[context_levels[level] : context_levels[level + 1]]
        those = events[event_levels[level] : event_levels[level + 1]]
        if level:
            above = _fetch(arrays, f"extensions {level - 1}")
            here["parent"] = np.repeat(np.arange(len(above)) + context_levels[level - 1], above)
            here["symbol"] = _sums(_fetch(arrays, f"symbols {level}"), above)
            those["symbol"] = _sums(_fetch(arrays, f"words {level}"), number[level])
            check_range(f"symbols {level}", here["symbol"], 0, size - 1)
            check_range(f"words {level}", those["symbol"], 0, size - 1)
        else:
            those["symbol"] = np.arange(size)
        check_values(f"weights {level} of", arrays[f"weights {level} of"], "finite")
        check_values(f"values {level} of", arrays[f"values {level} of"], "finite ln p")
        here["backoff"] = arrays[f"weights {level} of"][arrays[f"weights {level}"]]
        those["log10"] = arrays[f"values {level} of"][arrays[f"values {level}"]]
    link_events(contexts, first_children(contexts), events, context_levels)
    return BackoffTables(contexts, events, context_levels, event_levels)


def _differences(symbols: NDArray[np.int32], groups: NDArray[Any]) -> LongArray:
    """(n) each symbol less the one before it in the same group."""
    differences: LongArray = symbols.astype(np.int64)
    differences[1:] -= symbols[:-1]
    first = np.flatnonzero(np.diff(groups, prepend=-1))
    differences[first] = symbols[first]
    return differences


def _sums(differences: LongArray, sizes: LongArray) -> LongArray:
    """(n) the symbols again, in groups of these sizes."""
    sums: LongArray = np.cumsum(differences)
    starts = (np.cumsum(sizes) - sizes)[sizes > 0]
    before = np.where(starts > 0, sums[starts - 1], 0)
    sums -= np.repeat(before, sizes[sizes > 0])
    return sums


def _store(arrays: Arrays, name: str, numbers: NDArray[Any]) -> None:
    arrays[f"{name} low"] = (numbers & 0xFF).astype(np.uint8)
    arrays[f"{name} high"] = (numbers >> 8).astype(np.uint16)


def _fetch(arrays: Arrays, name: str) -> LongArray:
    numbers: LongArray = arrays[f"{name} high"].astype(np.int64) << 8
    numbers += arrays[f"{name} low"]
    return numbers


def _store_values(arrays: Arrays, name: str, values: NDArray[np.float32], bits: int) -> None:
    book = codebook(values, bits)
    arrays[f"{name} of"], arrays[name] = book, nearest(values, book).astype(np.uint8)
