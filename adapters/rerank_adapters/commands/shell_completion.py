"""Completes names of plugins, their options and files in bash, zsh and fish, beside click's commands and options."""

from __future__ import annotations

from collections.abc import Callable

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
)

from rerank_plugins.core.registry import Registry

VARIABLE = "_RERANK_COMPLETE"  # set by the shell's completion function, which click writes

Completer = Callable[[click.Context, click.Parameter, str], list[str]]


def plugin_names(kind: str) -> Completer:
    """Completes NAME,option=value,… of a kind of plugin: the name, and after a comma the options."""

    def complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
        registry = ctx.find_object(Registry)
        if registry is None:
            return []
        name, *options = incomplete.split(",")
        if not options:
            return [known for known in registry.known(kind) if known.startswith(name)]
        if name not in registry.known(kind) or "=" in options[-1]:
            return []
        begun = incomplete.removesuffix(options[-1])
        used = {option.partition("=")[0] for option in options[:-1]}
        known_options = [option.name for option in registry.get(kind, name).options()]
        return [f"{begun}{o}=" for o in known_options if o.startswith(options[-1]) and o not in used]

    return complete


def complete_files() -> None:
    """Let the shells complete a file wherever nothing else is known; click knows only files that have to exist."""
    for shell in (BashComplete, ZshComplete, FishComplete):
        add_completion_class(_with_files(shell))


def _with_files(shell: type[ShellComplete]) -> type[ShellComplete]:
    def get_completions(self: ShellComplete, args: list[str], incomplete: str) -> list[CompletionItem]:
        return shell.get_completions(self, args, incomplete) or [CompletionItem(incomplete, type="file")]

    return type(shell.__name__, (shell,), {"get_completions": get_completions})
