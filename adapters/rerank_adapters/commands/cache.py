"""`rerank cache`: the parses on disk."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import click

from rerank_plugins import ConfigError, RerankError


@click.command("cache")
@click.option("--folder", type=Path, metavar="FOLDER", help="Another folder than the one that commands use.")
@click.option("--clear", is_flag=True, help="Forget every parse.")
def command(folder: Path | None, clear: bool) -> None:
    """Show where parses are kept, how many by which parser, and how much room they take; or forget them.

    The folder is $RERANK_CACHE (empty: parses are not kept), else rerank-plugins in $XDG_CACHE_HOME or ~/.cache.

    \b
    rerank cache
    rerank cache --clear
    """  # noqa: D301
    from rerank_plugins.parsers.parse_cache import ParseCache, cache_folder

    folder = folder or cache_folder()
    if folder is None:
        raise ConfigError("no parses are kept: RERANK_CACHE is empty")
    cache = ParseCache(folder)
    if clear:
        before = cache.size()
        try:
            cache.clear()
        except (sqlite3.Error, OSError) as error:
            raise RerankError(f"{cache.file}: cannot be cleared ({error})") from None
        click.echo(f"{cache.file}: cleared, {(before - cache.size()) / 1e6:.1f} MB given back")
        return
    click.echo(f"{cache.file}: {cache.size() / 1e6:.1f} MB")
    for holding in cache.holdings():
        about = json.loads(holding.identity)
        options = ",".join(f"{name}={value}" for name, value in about["options"].items() if value not in (None, ""))
        name = about["class"].rpartition(".")[2] + (f"({options})" if options else "")
        click.echo(f"{holding.sentences} sentences, {holding.size / 1e6:.1f} MB: {name}")
