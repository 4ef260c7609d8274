"""`rerank edit-distance`: scores restored sentences as the billion-word imputation task does."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.commands.options import output_option, style_option


@click.command("edit-distance")
@click.argument("complete")
@click.argument("restored", nargs=-1, required=True, metavar="RESTORED...")
@style_option
@output_option("Write the scores to this file.")
def command(complete: str, restored: tuple[str, ...], style: str, output: Path) -> None:
    """Score restored sentences by their mean edit distance.

    The score of the billion-word imputation task is the mean Levenshtein distance in characters between the RESTORED
    sentences and the COMPLETE ones; lower is better. Both are CSV files with the columns id and sentence, matched by
    id, or texts, matched line by line. `right` is the proportion of sentences that are restored exactly.

    \b
    rerank edit-distance solution.csv submission.csv
    rerank edit-distance novel.ref novel.1best novel.reranked
    """  # noqa: D301
    from rerank_adapters.applications.restoration.edit_distance import (
        distance_records,
        distance_table,
        read_sentences,
    )
    from rerank_adapters.commands.closing import Closing, counted
    from rerank_adapters.report.output import write_records
    from rerank_plugins.core.errors import FormatError

    closing = Closing()
    whole = read_sentences(complete)
    if not whole.by_id:
        raise FormatError("there is no sentence", path=whole.name)
    records = list(distance_records(whole, [read_sentences(path) for path in restored]))
    write_records(records, [distance_table(records)], style, output)
    if str(output) != "-":
        closing.wrote(f"the scores of {counted(len(records), 'system')}", output)
