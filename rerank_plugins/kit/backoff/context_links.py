"""Links each event to the context of the next one, so that scoring a text needs no search for contexts.

In a text a context is itself an n-gram, and the context after the word x in the context h is the longest known suffix
of h x. The n-grams of one order and the contexts of that length are both in suffix order, so that one pass over both
finds the n-grams that are contexts. In models of tuples, contexts have other symbols than those predicted; their
contexts are looked up from the empty one on, for which each context needs to know where its extensions start.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rerank_plugins.core.arrays import IntArray
from rerank_plugins.kit.backoff.tables import RecordArray
from rerank_plugins.kit.kernels import filling_kernel


@filling_kernel
def link_ngrams(
    symbol: Any, parent: Any, shorter_node: Any, shorter_next: Any, contexts: Any, base: int, node: Any, following: Any
) -> None:
    """Fill in, for the n-grams of one order, `node` and `following`.

    `node` is the context that the n-gram is itself (-1: none), `following` the longest context that is a suffix of it;
    `shorter_node` and `shorter_next` are the same for the parents. `contexts` are the records of the contexts of this
    length, which are numbered from `base` on.
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


@filling_kernel
def place_links(events: Any, following: Any) -> None:
    """Set `next` of each event, which held the number of its n-gram, to the context that follows the n-gram."""
    for i in range(len(events)):
        events[i]["next"] = following[events[i]["next"]]


def first_children(contexts: RecordArray) -> IntArray:
    """(C + 1) the first extension of each context by a symbol; the extensions end where those of the next begin."""
    count = len(contexts) - 1
    lengthened = np.bincount(contexts["parent"][1:count], minlength=count + 1)
    return (1 + np.cumsum(lengthened) - lengthened).astype(np.int32)
