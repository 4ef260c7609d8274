"""`rerank tools cache`: lists and clears the cache of parses, feature values, sorted queues and compiled kernels."""

from __future__ import annotations

import shutil
import sqlite3
from collections import Counter
from functools import partial

import click

from rerank_plugins import ConfigError, RerankError
from rerank_plugins.kit.files.standard_streams import data_stream


@click.command("cache")
@click.option("--clear", is_flag=True, help="Delete all parses, feature values, sorted queues and compiled kernels.")
@click.option("--prune", is_flag=False, flag_value="", metavar="[SIZE]",
              help="Delete what has not been used for the longest time, until parses and feature values take "
                   "SIZE, such as 2GB.",
              show_default="the limit")  # fmt: skip
def command(clear: bool, prune: str | None) -> None:
    """Show the size of the cache, or clear it.

    The command lists how many sentences each parser has parsed, and of how many lists the values of each feature are
    kept, so that no run parses or extracts them again; the largest come first. They take at most
    $RERANK_CACHE_LIMIT (10 GB if it is not set); what has not been used for the longest time is removed first. The
    queues of models that substitutes were searched with and compiled kernels are kept there too; these do not count.

    The folder is $RERANK_CACHE, or else rerank-plugins in $XDG_CACHE_HOME or ~/.cache. Where $RERANK_CACHE is set to
    nothing, neither parses nor feature values are kept, and kernels in the other folder.

    \b
    rerank tools cache
    rerank tools cache --prune 2GB
    rerank tools cache --clear
    """  # noqa: D301
    from rerank_plugins.core.files import KERNELS, cache_limit, size_in_bytes
    from rerank_plugins.kit.cache import user_cache
    from rerank_plugins.substitutes import fastsubs as queue_files

    echo, cache = partial(click.echo, file=data_stream()), user_cache()
    if cache is None:
        raise ConfigError("nothing is kept, because RERANK_CACHE is set to nothing")
    folder, before = cache.folder, cache.size()
    others = {folder / KERNELS: "compiled kernels", folder / queue_files.FOLDER: "sorted queues"}
    if clear or prune is not None:
        limit = size_in_bytes(prune, "--prune") if prune else cache_limit()
        try:
            if not clear:
                cache.prune(limit)
            else:
                cache.clear()
                for other in others:
                    if other.is_dir():
                        shutil.rmtree(other)
        except (sqlite3.Error, OSError) as error:
            raise RerankError(f"{folder}: cannot be {'cleared' if clear else 'pruned'} ({error})") from None
        freed = f"{max(0, before - cache.size()) / 1e6:.1f} MB freed"
        echo(f"{folder}: {'cleared' if clear else 'pruned'}, {freed}")
        return
    echo(f"{cache.file}: {before / 1e6:.1f} MB")
    counts, sizes = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for (unit, _, plugin), number, size in cache.usage():  # several identities of one plugin are added up
        counts[unit, plugin] += number
        sizes[unit, plugin] += size
    for (unit, plugin), size in sizes.most_common():
        echo(f"{counts[unit, plugin]} {unit}, {size / 1e6:.1f} MB: {plugin}")
    total = before
    for other, what in others.items():
        if other.is_dir():
            size = sum(path.stat().st_size for path in other.rglob("*") if path.is_file())
            total += size
            echo(f"{other}: {size / 1e6:.1f} MB of {what}")
    echo(f"{folder}: {total / 1e6:.1f} MB in all")
