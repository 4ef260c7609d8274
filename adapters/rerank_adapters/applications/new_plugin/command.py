"""`rerank new-plugin`: writes a package for a feature of one's own."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.commands.closing import Closing
from rerank_plugins.core.registry import Registry


@click.command("new-plugin")
@click.argument("name")
@click.option("-o", "--output", type=Path, metavar="FOLDER", help="Write the package here. Default: ./NAME.")
@click.pass_context
def command(context: click.Context, name: str, output: Path | None) -> None:
    """Write a package for a feature of your own.

    The package installs and works as it is: a feature, its model file, the command that trains it, and tests with the
    contract checks. Replace what it computes. NAME is that of the feature.

    \b
    rerank new-plugin word-rarity
    cd word-rarity && pip install -e '.[test]'
    python -m pytest
    rerank plugins word-rarity
    """  # noqa: D301
    from rerank_adapters.applications.new_plugin.package import check_name, write_package
    from rerank_adapters.commands.lazy_group import GroupWithHeadings

    closing = Closing()
    registry: Registry = context.obj
    root = context.find_root().command
    trained = root.subgroup("train").list_commands(context) if isinstance(root, GroupWithHeadings) else []
    check_name(name, {*registry.known("feature"), *trained})
    folder = output or Path(name)
    for path in write_package(name, folder):
        click.echo(str(folder / path))
    closing.wrote(f"the plugin {name}", folder)
