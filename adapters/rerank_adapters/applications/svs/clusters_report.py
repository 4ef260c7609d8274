"""Clusters of headwords as records and as a table."""

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


def cluster_table(clusters: Sequence[Cluster], category: str) -> Table:
    """A table with a row for each cluster: its share of the category, and its headwords with their probabilities."""
    rows = (
        (
            str(cluster.concept),
            f"{100 * cluster.share:.1f} %",
            ", ".join(f"{head.headword} {head.p:.3f}".replace(" 0.", " .") for head in cluster.heads),
        )
        for cluster in clusters
    )
    note = "The number after a headword is P(headword | concept)."
    return Table(f"Clusters of {category}", ("cluster", "share", "headwords"), tuple(rows), (note,))
