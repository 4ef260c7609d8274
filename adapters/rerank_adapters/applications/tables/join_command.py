"""`rerank table join`: joins several feature tables of the same lists in one."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.applications.tables.options import table_output
from rerank_adapters.commands.closing import Closing, counted
from rerank_plugins import ConfigError
from rerank_plugins.core.registry import Registry


@click.command("join")
@click.argument("tables", nargs=-1, required=True, metavar="[PREFIX=]TABLE...")
@table_output
@click.pass_obj
def command(registry: Registry, tables: tuple[str, ...], output: Path) -> None:
    """Join feature tables of the same lists.

    The joined table has the features of all tables. What several tables have with the same values, as the decoder's
    own features, is taken once. Different values under one name are an error: with PREFIX=TABLE, the features of
    a table are called PREFIX.name.

    \b
    rerank table join tune.npz comet.npz -o all.npz
    rerank table join tune.npz big=nmt1.npz small=nmt2.npz -o all.npz
    """  # noqa: D301
    from rerank_adapters.applications.tables.files import load
    from rerank_adapters.applications.tables.joining import join, prefixed
    from rerank_adapters.chain.job import lists_size
    from rerank_plugins import FeatureTable

    closing = Closing()
    loaded: dict[str, FeatureTable] = {}
    for argument in tables:
        prefix, _, name = argument.rpartition("=") if not Path(argument).exists() else ("", "", argument)
        if argument in loaded:
            raise ConfigError(f"{name}: the table is named twice")
        table = load(Path(name), registry, output.parent)
        if prefix:
            table = prefixed(table, prefix, next(iter(loaded.values()), table))
        loaded[argument if name in loaded else name] = table
    joined = join(loaded)
    joined.save(output)
    size = lists_size(joined.segments, len(joined.values))
    closing.wrote(f"{counted(len(joined.all_names), 'feature')} of {size}", output)
