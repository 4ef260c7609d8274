"""`rerank svs clusters`: the most probable headwords of each concept, as in Figure 2 of Wu & Schuler (2011)."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.commands.options import output_option, style_option


@click.command("clusters")
@click.argument("model", required=False, type=Path, metavar="[MODEL]")
@click.option(
    "--category",
    default="VBD",
    show_default=True,
    metavar="NAME",
    help="VBD: all past-tense verbs; VBD-argNP, VBD-argNP/ID: an annotated category, a symbol.",
)
@click.option("--top", type=click.IntRange(1), default=10, show_default=True, help="Headwords of each cluster.")
@style_option
@output_option("Where to write the clusters.")
def command(model: Path | None, category: str, top: int, style: str, output: Path) -> None:
    """Show the clusters of a category: the concepts that it has, and their most probable headwords.

    For each headword P(headword | concept), and the share of the headword that is of this concept; `unk` is all
    headwords that the model does not keep. MODEL is the embedded English model if not given.

    \b
    rerank svs clusters --category VBD
    rerank svs clusters english.svs --category NN --top 20 --as tsv
    """  # noqa: D301
    from rerank_adapters.applications.svs.clusters_report import cluster_records, cluster_tables
    from rerank_adapters.report.records import write_records
    from rerank_plugins.models.svs.clusters import clusters
    from rerank_plugins.models.svs.model_file import read_or_embedded

    found = clusters(read_or_embedded(model), category, top)
    write_records(cluster_records(found, category), cluster_tables(found, category), style, output)
