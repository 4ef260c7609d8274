"""`rerank similarity evaluate`: correlation with people's scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rerank_adapters.applications.similarity.options import similarity_of, similarity_options
from rerank_adapters.commands.options import output_option, style_option


@click.command("evaluate")
@click.argument("files", nargs=-1, required=True, type=Path, metavar="FILE...")
@similarity_options
@style_option
@output_option("Where to write the result.")
def command(
    files: tuple[Path, ...],
    model: Path | None,
    measure: str | None,
    data: dict[str, Any],
    steps: tuple[str, ...],
    style: str,
    output: Path,
) -> None:
    """Pearson and Spearman correlation of scores with people's, for each FILE of scored pairs, and their mean."""
    from rerank_adapters.applications.similarity.evaluation import evaluate_similarity
    from rerank_adapters.applications.similarity.report import similarity_records, similarity_table
    from rerank_adapters.report.records import write_records

    system, given = similarity_of(model, measure, data, steps)
    records = similarity_records(evaluate_similarity(system, files, given))
    write_records(records, [similarity_table(records)], style, output)
