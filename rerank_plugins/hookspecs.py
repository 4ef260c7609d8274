"""The hooks: each says what exists. One shape for all: `register(name, factory)` for each thing of a kind.

A factory is a dataclass that implements the interface; its fields are the options.
Names are what a config's `use` says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    import click

hookspec = pluggy.HookspecMarker("rerank_plugins")
hookimpl = pluggy.HookimplMarker("rerank_plugins")

Register = Callable[[str, Callable[..., Any]], None]


@hookspec
def register_feature_extractors(register: Register) -> None:
    """Call register(name, factory) for each FeatureExtractor."""


@hookspec
def register_language_models(register: Register) -> None:
    """Call register(name, factory) for each LanguageModel."""


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
def register_commands(cli: click.Group) -> None:
    """Add commands to `rerank` with cli.add_command(command), to a group of it with cli.subgroup("train").add_command.

    Our own commands are there already. A name that is taken is an error.
    """
