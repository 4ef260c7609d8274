"""Shows, joins and cuts feature tables, and makes them from scores computed elsewhere."""

from __future__ import annotations

import click

from rerank_adapters.commands.lazy_group import LazyGroup

MODULES = {
    "show": f"{__package__}.show",
    "join": f"{__package__}.join",
    "drop": f"{__package__}.join:drop_features",
    "from-text": f"{__package__}.external_scores",
    "pairs": f"{__package__}.external_scores:pairs",
}


@click.group("table", cls=LazyGroup, modules=MODULES)
def command() -> None:
    """Show, join and cut feature tables, or make them.

    \b
    show       the features of a table, or the rows of a segment
    join       several tables of the same lists in one
    drop       a table without some of its features
    from-text  a table of scores computed elsewhere
    pairs      hypotheses and references, to be scored elsewhere

    `rerank extract` makes a table; `tune`, `cross-validate`, `ablate` and `apply` take it by --table.

    \b
    rerank table from-text tune.comet --nbest tune.nbest \\
        --name comet -o comet.npz
    rerank table join tune.npz comet.npz -o all.npz
    rerank tune tune.nbest -r tune.en --table all.npz -o all.toml
    """  # noqa: D301
