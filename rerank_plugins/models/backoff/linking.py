"""Ways from context to context, so that a scorer need not look for them.

In a text a context is an n-gram itself, and after the word x in the context h comes the longest known context that ends
h x. N-grams of one order and contexts of that length are both in suffix order: one pass over both finds which n-grams
are contexts. Models of tuples, whose contexts are of other symbols than what they predict, are entered from the empty
context instead, and need to know where the longer contexts of each context start.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from rerank_plugins.arrays import IntArray
from rerank_plugins.models.backoff.tables import RecordArray


@njit(cache=True, nogil=True)
def link_ngrams(
    symbol: Any, parent: Any, shorter_node: Any, shorter_next: Any, contexts: Any, base: int, node: Any, following: Any
) -> None:
    """For n-grams of one order: `node`, the context that each is (-1: none), `following`, the longest one that ends it.

    `shorter_node` and `shorter_next` are the same of their parents; `contexts` the records of that length, from number
    `base` on.
    """
    j = 0
    for i in range(len(symbol)):
        above = shorter_node[parent[i]]
        node[i] = -1
        if above >= 0:
            while j < len(contexts) and (
                contexts[j]["parent"] < above or (contexts[j]["parent"] == above and contexts[j]["symbol"] < symbol[i])
            ):
                j += 1
            if j < len(contexts) and contexts[j]["parent"] == above and contexts[j]["symbol"] == symbol[i]:
                node[i] = base + j
        following[i] = node[i] if node[i] >= 0 else shorter_next[parent[i]]


@njit(cache=True, nogil=True)
def place_links(events: Any, following: Any) -> None:
    """`next` of each event, which held the number of its n-gram."""
    for i in range(len(events)):
        events[i]["next"] = following[events[i]["next"]]


def first_children(contexts: RecordArray) -> IntArray:
    """(C + 1) the first context that lengthens each context, the end of the array where there is none."""
    count = len(contexts) - 1
    lengthened = np.bincount(contexts["parent"][1:count], minlength=count + 1)
    return (1 + np.cumsum(lengthened) - lengthened).astype(np.int32)
