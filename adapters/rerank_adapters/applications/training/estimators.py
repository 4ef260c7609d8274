"""Chooses where back-off models of trees are estimated: on this machine, or by the cluster in use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerank_adapters.runtime.cluster import each, on_cluster, present_workers

if TYPE_CHECKING:
    from rerank_plugins.kit.backoff.estimation import Estimator
    from rerank_plugins.kit.workspace import Workspace

PARTS = 2  # parts of the events for each worker of a cluster
ARRAYS = 0.5  # share of the memory of a worker for the arrays of a task


def sharing_in_use(workspace: Workspace) -> tuple[int, int]:
    """How many parts a training on the cluster in use should have at least, and the memory of a task in bytes.

    That is the memory of the workspace, or half of what a worker may use.
    """
    workers, limit = present_workers()
    return PARTS * workers, workspace.memory if limit is None else min(workspace.memory, int(ARRAYS * limit))


def estimator_in_use(workspace: Workspace | None) -> Estimator:
    """The estimator of models of tuples; all give the same model."""
    if on_cluster():
        from rerank_plugins.kit.backoff.shards.tuples import sharded_estimator
        from rerank_plugins.kit.workspace import Workspace

        return sharded_estimator(each, *sharing_in_use(workspace or Workspace()))
    from rerank_plugins.kit.backoff.estimation import estimate

    return estimate
