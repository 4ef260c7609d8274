"""The k best of many scored items, in a heap: its root is the worst that is kept, of equal ones that of highest number.

A heap is two arrays of length k, `scores` and the numbers `items`, of which the first `size` elements are in use.
"""

from __future__ import annotations

from rerank_plugins.core.arrays import FloatArray, IntArray
from rerank_plugins.kit.kernels import part


@part
def is_worse(score: float, item: int, other_score: float, other: int) -> bool:
    """Return whether an item has a lower score than another one or, with an equal score, a higher number."""
    return score < other_score or (score == other_score and item > other)


@part
def sift_down(scores: FloatArray, items: IntArray, size: int, score: float, item: int) -> None:
    """Replace the root by an item, and move it away from the root."""
    place = 0
    while True:
        child = 2 * place + 1
        if child + 1 < size and is_worse(scores[child + 1], items[child + 1], scores[child], items[child]):
            child += 1
        if child >= size or not is_worse(scores[child], items[child], score, item):
            break
        scores[place], items[place] = scores[child], items[child]
        place = child
    scores[place], items[place] = score, item


@part
def offer(scores: FloatArray, items: IntArray, size: int, score: float, item: int) -> int:
    """Put an item into the heap if it is among the k best so far, and return the new size."""
    if size == len(scores):
        if is_worse(scores[0], items[0], score, item):
            sift_down(scores, items, size, score, item)
        return size
    place = size
    while place > 0:
        parent = (place - 1) >> 1
        if not is_worse(score, item, scores[parent], items[parent]):
            break
        scores[place], items[place] = scores[parent], items[parent]
        place = parent
    scores[place], items[place] = score, item
    return size + 1


@part
def sort_heap(scores: FloatArray, items: IntArray, size: int) -> None:
    """Put the items in order, the best first: the worst one is taken off again and again."""
    for last in range(size - 1, 0, -1):
        score, item = scores[last], items[last]
        worst_score, worst = scores[0], items[0]
        sift_down(scores, items, last, score, item)
        scores[last], items[last] = worst_score, worst
