"""`rerank svs clusters`: prints the most probable headwords of each concept, as in Figure 2 of Wu & Schuler (2011)."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.commands.closing import Closing, counted
from rerank_adapters.commands.options import output_option, style_option


@click.command("clusters")
@click.argument("model", required=False, type=Path, metavar="[MODEL]")
@click.option(
    "--category",
    default="VBD",
    show_default=True,
    metavar="NAME",
    help="Category of the headwords: VBD (all past-tense verbs), VBD-argNP (an annotated category) or VBD-argNP/ID (a "
    "symbol).",
)
@click.option(
    "--top", type=click.IntRange(1), default=10, show_default=True, help="Number of headwords of each cluster."
)
@style_option
@output_option("Where to write the clusters.")
def command(model: Path | None, category: str, top: int, style: str, output: Path) -> None:
    """Show the clusters of a category: its concepts, and the most probable headwords of each.

    `--as tsv` and `--as json` give, besides P(headword | concept), the proportion of the headword's occurrences that
    are of this concept. `unk` stands for all headwords that the model does not keep. The default MODEL is the embedded
    English one.

    \b
    rerank svs clusters --category VBD
    rerank svs clusters english.svs --category NN --top 20 --as tsv
    """  # noqa: D301
    from rerank_adapters.applications.svs.clusters_report import cluster_records, cluster_table
    from rerank_adapters.report.output import write_records
    from rerank_plugins.svs.clusters import clusters
    from rerank_plugins.svs.model import read_or_embedded

    closing = Closing()
    shown = clusters(read_or_embedded(model), category, top)
    write_records(cluster_records(shown, category), [cluster_table(shown, category)], style, output)
    closing.wrote(f"{counted(len(shown), 'cluster')} of {category}", output)
