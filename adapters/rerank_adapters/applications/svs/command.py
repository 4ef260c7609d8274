"""`rerank svs`: inspects models of structured vectorial semantics, with a module for each subcommand."""

from __future__ import annotations

import click

from rerank_adapters.commands.lazy_group import LazyGroup


@click.group("svs", cls=LazyGroup, modules={"clusters": f"{__package__}.clusters_command"})
def command() -> None:
    """Look into a model of structured vectorial semantics.

    Inspect a model of structured vectorial semantics (`rerank train svs`).

    \b
    rerank svs clusters --category VBD
    """  # noqa: D301
