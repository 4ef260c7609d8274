"""Shows and joins feature tables, and writes pairs of texts to be scored elsewhere."""

from __future__ import annotations

import click

from rerank_adapters.commands.lazy_group import LazyGroup

MODULES = {"show": f"{__package__}.show", "join": f"{__package__}.join", "pairs": f"{__package__}.pairs"}


@click.group("table", cls=LazyGroup, modules=MODULES)
def command() -> None:
    """Show and join feature tables, or write pairs of texts.

    \b
    show    the features of a table, or the rows of a segment
    join    several tables of the same lists in one
    pairs   hypotheses and references, to be scored elsewhere

    `rerank extract` makes a table; `tune`, `cross-validate`, `ablate` and `apply` take it by --table.

    \b
    rerank extract tune.nbest -f column,file=tune.comet,label=comet -o comet.npz
    rerank table join tune.npz comet.npz -o all.npz
    rerank tune tune.nbest -r tune.en --table all.npz -o all.toml
    """  # noqa: D301
