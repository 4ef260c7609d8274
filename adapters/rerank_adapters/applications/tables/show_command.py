"""`rerank table show`: shows the features of a table, or the rows of a segment."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.commands.options import columns_option, output_option, style_option
from rerank_plugins import ConfigError


@click.command("show")
@click.argument("table", type=Path)
@click.option("--segment", metavar="ID", help="Show the rows of this segment.")
@columns_option
@output_option("Write the report to this file.")
@style_option
def command(table: Path, segment: str | None, columns: tuple[str, ...], output: Path, style: str) -> None:
    """Show the features of a TABLE, or the rows of a segment.

    Of each feature: the family that it belongs to, its range and mean, and its spread, the mean over the lists of the
    standard deviation within a list. A feature whose spread is 0 cannot change any choice.

    \b
    rerank table show tune.npz
    rerank table show tune.npz --segment 17 --column 'lm.*'
    """  # noqa: D301
    from rerank_adapters.applications.tables.showing import feature_records, overview, segment_records, segment_rows
    from rerank_adapters.report.output import write_records
    from rerank_plugins import FeatureTable
    from rerank_plugins.core.registry import suggestion

    whole = FeatureTable.load(table)
    if segment is None:
        records = feature_records(whole, columns)
        report = overview(whole, records, table.name)
    else:
        if segment not in whole.segment_ids:
            raise ConfigError(
                f"{table}: there is no segment {segment!r}{suggestion(segment, whole.segment_ids[:1000])}"
            )
        records = segment_records(whole, whole.segment_ids.index(segment), columns)
        report = segment_rows(records, f"{table.name}: segment {segment}")
    if columns and not records:
        raise ConfigError(f"{table}: no feature matches {', '.join(columns)}{suggestion(columns[0], whole.all_names)}")
    write_records(records, [report], style, output)
