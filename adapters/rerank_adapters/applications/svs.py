"""`rerank lm clusters`: the most probable headwords of each concept, as in Figure 2 of Wu & Schuler (2011)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rerank_adapters.cli.options import FILE, style_option
from rerank_adapters.report.tables import Table

if TYPE_CHECKING:
    from rerank_plugins.svs.clusters import Cluster


def cluster_records(clusters: Sequence[Cluster], category: str) -> list[dict[str, Any]]:
    """A record for each headword of each cluster."""
    return [
        {"category": category, "concept": cluster.concept, "share": cluster.proportion, "rank": rank, **head._asdict()}
        for cluster in clusters
        for rank, head in enumerate(cluster.heads, 1)
    ]


def cluster_table(clusters: Sequence[Cluster], category: str) -> Table:
    """A table with a row for each cluster: its headwords, most probable first, its number and its probability."""
    rows = (
        (", ".join(head.headword for head in cluster.heads), str(cluster.concept), f"{100 * cluster.proportion:.1f} %")
        for cluster in clusters
    )
    note = "Headwords are sorted by P(headword | concept); --as tsv prints it."
    return Table(f"Clusters of {category}", ("headwords", "no.", "share"), tuple(rows), (note,))


@click.command("clusters")
@click.argument("model", required=False, type=FILE, metavar="[MODEL]")
@click.option("--category", default="VBD", show_default=True, metavar="NAME",
              help="Category of the headwords: VBD (all past-tense verbs), VBD-argNP (an annotated category) or "
              "VBD-argNP/ID (a symbol). In a model of concepts: NN, VB, JJ, RB.")  # fmt: skip
@click.option("--top", type=click.IntRange(1), default=10, show_default=True,
              help="Number of headwords of each cluster.")  # fmt: skip
@style_option
def command(model: Path | None, category: str, top: int, style: str) -> None:
    """Show the concepts of a category, and their most probable headwords.

    The model is one of structured vectorial semantics (`rerank train svs`), or its concepts (`svs-concepts`).
    `--as tsv` and `--as json` give, besides P(headword | concept), the proportion of the headword's occurrences that
    are of this concept. `unk` stands for all headwords that the model does not keep. The default MODEL is the embedded
    English one.

    \b
    rerank lm clusters --category VBD
    rerank lm clusters english.svs --category NN --top 20 --as tsv
    rerank lm clusters english.concepts --category VB
    """  # noqa: D301
    from rerank_adapters.report.output import write_records
    from rerank_plugins.kit.files.model_file import model_kind
    from rerank_plugins.svs.clusters import clusters, concept_clusters
    from rerank_plugins.svs.concept_model import FILE, read_model
    from rerank_plugins.svs.model import read_or_embedded

    if model and model.is_file() and model_kind(model) == FILE.kind:
        shown = concept_clusters(read_model(model), category, top)
    else:
        shown = clusters(read_or_embedded(model), category, top)
    write_records(cluster_records(shown, category), [cluster_table(shown, category)], style)
