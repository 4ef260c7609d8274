"""The hooks of plugins. Each but the last registers plugins of one kind: it calls `register(name, factory)` for each.

A factory is a dataclass that implements the interface of its kind; its fields are the options that a user may set. A
config refers to it by its name: `use = "name"`. In place of the class stands, for a plugin of the project, the text
`module:Class`, so that the module is imported when the plugin is used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    import click

hookspec = pluggy.HookspecMarker("rerank_plugins")
hookimpl = pluggy.HookimplMarker("rerank_plugins")

Register = Callable[..., None]  # (name, factory or its place)


@hookspec
def register_feature_extractors(register: Register) -> None:
    """Call register(name, factory) for each FeatureExtractor."""


@hookspec
def register_language_models(register: Register) -> None:
    """Call register(name, factory) for each LanguageModel, which is a feature too."""


@hookspec
def register_parsers(register: Register) -> None:
    """Call register(name, factory) for each Parser."""


@hookspec
def register_metrics(register: Register) -> None:
    """Call register(name, factory) for each Metric."""


@hookspec
def register_tuners(register: Register) -> None:
    """Call register(name, factory) for each Tuner."""


@hookspec
def register_nbest_formats(register: Register) -> None:
    """Call register(name, factory) for each NBestFormat."""


@hookspec
def register_trainers(register: Register) -> None:
    """Call register(name, factory) for each Trainer."""


@hookspec
def register_commands(cli: click.Group) -> None:
    """Add commands to `rerank` with cli.add_command(command), or to a group with cli.subgroup("train").add_command.

    The built-in commands are added first. Adding a command whose name is taken is an error.
    """
