"""`rerank svs`: what a model of structured vectorial semantics knows; subcommands are files `svs_NAME.py`."""

from __future__ import annotations

import click

from rerank_adapters.commands.lazy_group import LazyGroup


@click.group("svs", cls=LazyGroup, names=("clusters",))
def command() -> None:
    """Look into a model of structured vectorial semantics (`rerank train svs`).

    \b
    rerank svs clusters --category VBD
    """  # noqa: D301
