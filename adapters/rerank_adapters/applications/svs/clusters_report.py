"""Clusters of headwords as records and tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rerank_adapters.report.tables import Table
from rerank_plugins.models.svs.clusters import Cluster


def cluster_records(clusters: Sequence[Cluster], category: str) -> list[dict[str, Any]]:
    """A record for each headword of each cluster."""
    return [
        {"category": category, "concept": cluster.concept, "share": cluster.share, "rank": rank, **head._asdict()}
        for cluster in clusters
        for rank, head in enumerate(cluster.heads, 1)
    ]


def cluster_tables(clusters: Sequence[Cluster], category: str) -> list[Table]:
    """A table for each cluster."""
    return [
        Table(
            f"Cluster {cluster.concept}: {100 * cluster.share:.1f} % of {category}",
            ("headword", "P_H", "of the headword"),
            tuple((head.headword, f"{head.p:.3f}", f"{100 * head.of_headword:.0f} %") for head in cluster.heads),
        )
        for cluster in clusters
    ]
