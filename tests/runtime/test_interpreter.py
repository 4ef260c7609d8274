"""Room on the stack of calls: at no depth does each call of a loop map memory of its own. Few collections of garbage."""

import gc
import resource

import pytest

from rerank_adapters.runtime.interpreter import THRESHOLDS, collect_seldom, with_room

CALLS = 500


def leaf():
    return None


# At some depth, the rest of a chunk has room for `faults` alone.
leaf.__code__ = leaf.__code__.replace(co_stacksize=100)


def faults(depth):
    """Page faults while a loop at this depth makes calls."""
    if depth:
        return faults(depth - 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(CALLS):
        leaf()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def most_faults():
    return max(map(faults, range(300)))


def test_no_loop_calls_across_the_end_of_a_chunk():
    assert with_room(most_faults) < CALLS / 10
    assert most_faults() >= CALLS, "chunks are larger now: `with_room` has no use any more"


def test_arguments_results_and_errors_are_those_of_the_function():
    assert with_room(divmod, 7, 2) == (3, 1)
    assert with_room(sorted, [1, 2], reverse=True) == [2, 1]
    with pytest.raises(ZeroDivisionError):
        with_room(divmod, 1, 0)


def full_collections(objects):
    """Collections of all generations while so many objects are made and kept."""
    before = gc.get_stats()[2]["collections"]
    assert len([[] for _ in range(objects)]) == objects
    return gc.get_stats()[2]["collections"] - before


def test_garbage_is_collected_seldom():
    thresholds = gc.get_threshold()
    try:
        gc.set_threshold(700, 10, 10)  # CPython's own
        assert full_collections(1_000_000) > 1
        collect_seldom()
        assert gc.get_threshold() == THRESHOLDS
        assert full_collections(1_000_000) <= 1
    finally:
        gc.set_threshold(*thresholds)
