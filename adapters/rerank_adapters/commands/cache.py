"""`rerank cache`: the parses on disk, and the compiled kernels that could not be kept beside the code."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import click

from rerank_plugins import ConfigError, RerankError


@click.command("cache")
@click.option(
    "--folder", type=Path, metavar="FOLDER", help="Look into this folder instead of the one that commands use."
)
@click.option("--clear", is_flag=True, help="Delete all parses and compiled kernels.")
def command(folder: Path | None, clear: bool) -> None:
    """Show how much room the parse cache takes, or clear it.

    The command lists where parses are kept, and how many each parser has made. Compiled kernels are kept there too if
    the folder of the installed program cannot be written.

    The folder is $RERANK_CACHE, or else rerank-plugins in $XDG_CACHE_HOME or ~/.cache. Where $RERANK_CACHE is set to
    nothing, parses are not kept.

    \b
    rerank cache
    rerank cache --clear
    """  # noqa: D301
    from rerank_plugins.kernel_cache import FOLDER
    from rerank_plugins.parsers.parse_cache import ParseCache
    from rerank_plugins.paths import cache_folder

    folder = folder or cache_folder()
    if folder is None:
        raise ConfigError("no parses are kept, because RERANK_CACHE is set to nothing")
    cache, kernels = ParseCache(folder), folder / FOLDER
    if clear:
        before = cache.size()
        try:
            cache.clear()
            if kernels.is_dir():
                shutil.rmtree(kernels)
        except (sqlite3.Error, OSError) as error:
            raise RerankError(f"{cache.file}: cannot be cleared ({error})") from None
        click.echo(f"{cache.file}: cleared, {(before - cache.size()) / 1e6:.1f} MB freed")
        return
    click.echo(f"{cache.file}: {cache.size() / 1e6:.1f} MB")
    for holding in cache.holdings():
        parser = json.loads(holding.identity)
        options = ",".join(f"{name}={value}" for name, value in parser["options"].items() if value not in (None, ""))
        name = parser["class"].rpartition(".")[2] + (f"({options})" if options else "")
        click.echo(f"{holding.sentences} sentences, {holding.size / 1e6:.1f} MB: {name}")
    if kernels.is_dir():
        size = sum(path.stat().st_size for path in kernels.rglob("*") if path.is_file())
        click.echo(f"{kernels}: {size / 1e6:.1f} MB of compiled kernels")
