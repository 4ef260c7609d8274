"""`rerank tools cache`: lists and clears the cache of parses, feature values, sorted queues and compiled kernels."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import click

from rerank_plugins import ConfigError, RerankError


@click.command("cache")
@click.option("--clear", is_flag=True, help="Delete all parses, feature values, sorted queues and compiled kernels.")
@click.option("--prune", is_flag=False, flag_value="", metavar="[SIZE]",
              help="Delete what has not been used for the longest time, until parses and feature values take "
                   "SIZE, such as 2GB.",
              show_default="the limit")  # fmt: skip
def command(clear: bool, prune: str | None) -> None:
    """Show how much room the cache takes, or clear it.

    The command lists how many sentences each parser has parsed, and of how many hypotheses the values of each feature
    are kept, so that no run parses or extracts them again; the largest come first. They take at most
    $RERANK_CACHE_LIMIT (10 GB if it is not set); what has not been used for the longest time is removed first. The
    queues of models that substitutes were searched with are kept there too, and compiled kernels if the folder of the
    installed program cannot be written; these do not count.

    The folder is $RERANK_CACHE, or else rerank-plugins in $XDG_CACHE_HOME or ~/.cache. Where $RERANK_CACHE is set to
    nothing, neither parses nor feature values are kept.

    \b
    rerank tools cache
    rerank tools cache --prune 2GB
    rerank tools cache --clear
    """  # noqa: D301
    from rerank_adapters.chain.extraction.value_cache import rows_of
    from rerank_plugins.core.paths import KERNELS, cache_limit, size_in_bytes
    from rerank_plugins.kit.files.packed_parses import FAMILY
    from rerank_plugins.kit.files.store import user_store
    from rerank_plugins.substitutes import fastsubs as queue_files

    store = user_store()
    if store is None:
        raise ConfigError("nothing is kept, because RERANK_CACHE is set to nothing")
    folder, before = store.folder, store.size()
    others = {folder / KERNELS: "compiled kernels", folder / queue_files.FOLDER: "sorted queues"}
    if clear or prune is not None:
        limit = size_in_bytes(prune, "--prune") if prune else cache_limit()
        try:
            if not clear:
                store.prune(limit)
            else:
                store.clear()
                for other in others:
                    if other.is_dir():
                        shutil.rmtree(other)
        except (sqlite3.Error, OSError) as error:
            raise RerankError(f"{folder}: cannot be {'cleared' if clear else 'pruned'} ({error})") from None
        freed = f"{max(0, before - store.size()) / 1e6:.1f} MB freed"
        click.echo(f"{folder}: {'cleared' if clear else 'pruned'}, {freed}")
        return
    total = before
    click.echo(f"{store.file}: {total / 1e6:.1f} MB")
    parses, values = [], []
    for (family, identity), blobs, size in store.usage():
        described = _plain(identity)
        if family == FAMILY:
            parses.append((_name(described), blobs, size))
        else:
            of_feature = described.get("values", {})
            rows = rows_of(size, len(of_feature.get("components", ())))
            values.append((_name(of_feature.get("extractor", {})), rows, size))
    _list("sentences", parses)
    _list("hypotheses", values)
    for other, what in others.items():
        if other.is_dir():
            size = sum(path.stat().st_size for path in other.rglob("*") if path.is_file())
            total += size
            click.echo(f"{other}: {size / 1e6:.1f} MB of {what}")
    click.echo(f"{folder}: {total / 1e6:.1f} MB in all")


def _plain(identity: str) -> dict[str, Any]:
    """The identity of a parser or of values; empty if it is damaged."""
    with suppress(ValueError):
        described = json.loads(identity)
        if isinstance(described, dict):
            return described
    return {}


def _list(unit: str, holdings: Sequence[tuple[str, int, int]]) -> None:
    """Print a line for each name, the largest first; what several versions have kept under one name is added up."""
    counts, sizes = Counter[str](), Counter[str]()
    for name, count, size in holdings:
        counts[name] += count
        sizes[name] += size
    for name, size in sizes.most_common():
        click.echo(f"{counts[name]} {unit}, {size / 1e6:.1f} MB: {name}")


def _name(description: dict[str, Any]) -> str:
    """The class of a described parser or feature (core/fingerprint.py), and those of its options that are set."""
    set_options = {name: value for name, value in description.get("options", {}).items() if value not in (None, "")}
    options = ",".join(f"{name}={_name(v) if isinstance(v, dict) else v}" for name, v in set_options.items())
    name = str(description.get("class", "?")).rpartition(".")[2]
    return f"{name}({options})" if options else name
