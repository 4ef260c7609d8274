"""`rerank table drop`: writes a feature table without some of its features."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.applications.tables.options import table_output
from rerank_adapters.commands.closing import Closing, counted
from rerank_plugins.core.registry import Registry


@click.command("drop")
@click.argument("table", type=Path)
@click.argument("features", nargs=-1, required=True, metavar="FEATURE...")
@table_output
@click.pass_obj
def command(registry: Registry, table: Path, features: tuple[str, ...], output: Path) -> None:
    """Drop features from a TABLE.

    A FEATURE is a label, for all its columns, the name of a column, or a pattern of names. Sparse features may be named
    too. `rerank table show` lists what a table has.

    \b
    rerank table drop all.npz consensus lm.oovs 'nmt.*' -o fewer.npz
    """  # noqa: D301
    from rerank_adapters.applications.tables.dropping import drop
    from rerank_adapters.applications.tables.files import load

    closing = Closing()
    whole = load(table, registry, output.parent)
    kept, halved = drop(whole, features, str(table))
    for label in halved:
        click.echo(
            f"rerank: only some features of {label!r} are left: `apply` takes them from a table, and extracts none",
            err=True,
        )
    kept.save(output)
    dropped = len(whole.all_names) - len(kept.all_names)
    closing.wrote(f"{counted(len(kept.all_names), 'feature')} ({dropped} dropped)", output)
