"""What a guest may change by mistake: the lists and arrays that it is given, which others read after it.

`sentences.sort()`, `words.append("</s>")` and `values -= values.mean()` change them in place. The values that the guest
returns then belong to other sentences than those that are asked for, and a tuner's score to other features.
"""

from __future__ import annotations

import zlib
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.feature_table import FeatureTable
from rerank_plugins.core.nbest import NBestList, PackedHypotheses

State = Any  # equal before and after a call that has changed nothing


@singledispatch
def state(value: object) -> State:
    """What of a value can change in place, or its identity; texts, and the items of lists and tuples, by value.

    >>> before = state([["so", "it"], np.zeros(2)])
    >>> before == state([["so", "it"], np.zeros(2)]), before == state([["it", "so"], np.zeros(2)])
    (True, False)
    """
    return id(value)


@state.register(list)
@state.register(tuple)
def _items(value: list[Any] | tuple[Any, ...]) -> State:
    return tuple(item if isinstance(item, str) else state(item) for item in value)


@state.register
def _text(value: str) -> State:
    return value


@state.register(np.ndarray)
def _array(value: NDArray[Any]) -> State:
    return zlib.crc32(value.tobytes()) if value.flags.writeable else id(value)


@state.register
def _hypotheses(value: NBestList) -> State:
    packed = value.hypotheses
    return (state(packed.values), state(packed.totals)) if isinstance(packed, PackedHypotheses) else id(value)


@state.register
def _table(value: FeatureTable) -> State:
    return state((value.values, value.offsets, value.sparse.indptr, value.sparse.indices, value.sparse.data))
