"""`rerank plugins`: lists all registered plugins, their owners and their options."""

from __future__ import annotations

from functools import partial

import click

from rerank_plugins import PluginError
from rerank_plugins.core.errors import suggestion
from rerank_plugins.core.plugins import KINDS, Registry
from rerank_plugins.kit.files.standard_streams import data_stream


@click.command("plugins")
@click.argument("names", nargs=-1)
@click.option("--kind", type=click.Choice(list(KINDS)), help="List only plugins of this kind.")
@click.option("--as", "form", type=click.Choice(["text", "markdown"]), default="text", show_default=True,
              help="The form of the list; Markdown is a page with a table of options for each plugin.")  # fmt: skip
@click.pass_obj
def command(registry: Registry, names: tuple[str, ...], kind: str | None, form: str) -> None:
    """List all plugins (features, metrics, …) and their options.

    For each plugin the list has its kind, name, summary and owner, and below them a line for each option: its type, its
    default and its meaning. With NAMES, only the plugins of these names are listed. In a config, a plugin is a table
    with use = "NAME" and its options. On the command line, it is NAME,option=value,option=value.

    \b
    rerank plugins consensus bleu
    rerank plugins --kind tuner
    """  # noqa: D301
    known = [*registry.known(kind).values()] if kind else [e for kind in KINDS for e in registry.entries[kind].values()]
    entries = [entry for entry in known if not names or entry.name in names]
    known_names = {entry.name for entry in known}
    for name in names:
        if name not in known_names:
            missing = f"no {kind or 'plugin'} named {name!r}{suggestion(name, known_names)}"
            raise PluginError(f"{missing}{registry.left_out()}")
    echo = partial(click.echo, file=data_stream())
    if form == "markdown":
        from rerank_adapters.report.text import plugin_page

        kinds = dict.fromkeys(entry.kind for entry in entries)
        echo(plugin_page({kind: {e.name: e for e in entries if e.kind == kind} for kind in kinds}), nl=False)
        return
    for entry in entries:
        echo(f"{entry.kind} {click.style(entry.name, bold=True)}  {entry.summary}  [{entry.owner}]")
        if claims := registry.claims(entry):
            owners = " and ".join([entry.owner, *(claim.owner for claim in claims)])
            echo(f"    {owners} both register this name, so neither can be used: uninstall one of them")
        for option in entry.options():
            default = " (required)" if option.required else f" = {option.default!r}"
            echo(f"    {option.name}: {option.type_name}{default}  {option.doc}")
