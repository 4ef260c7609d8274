"""Reports clusters of headwords as records and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rerank_adapters.report.tables import Table
from rerank_plugins.svs.clusters import Cluster


def cluster_records(clusters: Sequence[Cluster], category: str) -> list[dict[str, Any]]:
    """A record for each headword of each cluster."""
    return [
        {"category": category, "concept": cluster.concept, "share": cluster.share, "rank": rank, **head._asdict()}
        for cluster in clusters
        for rank, head in enumerate(cluster.heads, 1)
    ]


def cluster_table(clusters: Sequence[Cluster], category: str) -> Table:
    """A table with a row for each cluster: its headwords, most probable first, its number and its probability."""
    rows = (
        (
            ", ".join(head.headword for head in cluster.heads),
            str(cluster.concept),
            f"{100 * cluster.share:.1f} %",
        )
        for cluster in clusters
    )
    note = "Headwords are sorted by P(headword | concept); --as tsv prints it."
    return Table(f"Clusters of {category}", ("headwords", "no.", "share"), tuple(rows), (note,))
