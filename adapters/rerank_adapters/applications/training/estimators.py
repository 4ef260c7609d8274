"""Where back-off models of trees are estimated: on this machine, or by the cluster in use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerank_adapters.cluster import each, on_cluster, present_workers

if TYPE_CHECKING:
    from rerank_plugins.models.backoff.estimation import Estimator

PARTS = 2  # parts of the events for each worker of a cluster


def parts_in_use() -> int:
    """How many parts a training on the cluster in use should have."""
    return PARTS * present_workers()


def estimator_in_use() -> Estimator:
    """The estimator of models of tuples; all give the same model."""
    if on_cluster():
        from rerank_plugins.models.backoff.shards.tuples import sharded_estimator

        return sharded_estimator(each, parts_in_use())
    from rerank_plugins.models.backoff.estimation import estimate

    return estimate
