"""Commands collect garbage seldom."""

import gc

from rerank_adapters.cli.main import relax_gc


def full_collections(objects):
    """Collections of all generations while so many objects are made and kept."""
    before = gc.get_stats()[2]["collections"]
    assert len([[] for _ in range(objects)]) == objects
    return gc.get_stats()[2]["collections"] - before


def test_garbage_is_collected_seldom():
    thresholds = gc.get_threshold()
    gc.freeze()  # what other tests have made is not looked at each time
    try:
        gc.set_threshold(700, 10, 10)  # CPython's own
        assert full_collections(1_000_000) > 1
        relax_gc()
        assert full_collections(1_000_000) <= 1
    finally:
        gc.set_threshold(*thresholds)
