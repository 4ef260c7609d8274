"""`rerank similarity evaluate`: correlates scores with those of people."""

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
@output_option("Write the result to this file.")
def command(
    files: tuple[Path, ...],
    model: Path | None,
    measure: str | None,
    data: dict[str, Any],
    steps: tuple[str, ...],
    style: str,
    output: Path,
) -> None:
    """Correlate scores with human scores (Pearson and Spearman), for each FILE of scored pairs and on average."""
    from rerank_adapters.applications.similarity.evaluation import evaluate_similarity
    from rerank_adapters.applications.similarity.report import similarity_records, similarity_table
    from rerank_adapters.commands.closing import Closing, counted
    from rerank_adapters.report.output import write_records
    from rerank_adapters.runtime.progress import StatusLine

    closing = Closing()
    system, measures = similarity_of(model, measure, data, steps)
    with StatusLine("scoring pairs of sentences"):
        records = similarity_records(evaluate_similarity(system, files, measures))
    write_records(records, [similarity_table(records)], style, output)
    if str(output) != "-":
        closing.wrote(f"correlations for {counted(len(files), 'file')}", output)
