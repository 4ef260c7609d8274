"""Loads plugins: built-in packages, installed distributions and single files are all registered in the same way.

`load_plugins()` returns a new `Registry` (plugins.py) at each call.
"""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from importlib.metadata import Distribution, EntryPoints, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import pluggy

from rerank_plugins.core import hookspecs
from rerank_plugins.core.errors import PluginError, suggestion
from rerank_plugins.core.files import FILE_MODULE
from rerank_plugins.core.owners import type_of
from rerank_plugins.core.plugins import BUILTIN, KINDS, Entry, Registry, failure_of, fault_of_options, guarded

GROUP = "rerank_plugins"  # of entry points
NAME = re.compile(r"[^\s=,{}]+")
OF_USES: Mapping[str, Sequence[str]] = {  # the common options of `rerank train NAME` by what a trainer `uses`
    **{name: (name,) for name in ("language", "seed", "jobs", "parser", "config")},
    "text": ("text", "steps"),
    "held-out": ("held_out",),
    "cluster": ("scheduler",),
}


def load_plugins(builtin: Sequence[str] = (), files: Sequence[Path] = (), *, installed: bool = True) -> Registry:
    """A new registry of our built-in plugins, those in `builtin`, installed distributions (entry points), and `files`.

    Built-in plugins are packages whose `plugin` module defines the hooks. Each plugin must be importable, implement
    only hooks that exist, give their arguments no defaults (pluggy would never fill them) and register only names that
    are not taken. An installed plugin that violates this is left out completely and added to the registry's `failures`.
    For a file, which the user asked for, and for a built-in plugin, PluginError is raised. The error about a name that
    is taken names both owners.
    """
    manager = _Manager(GROUP)
    manager.add_hookspecs(hookspecs)
    registry = Registry({kind: {} for kind in KINDS}, manager, tuple(builtin), tuple(files))
    for name in (*BUILTIN, *builtin):
        _add(registry, name, partial(import_module, f"{name}.plugin"))
    for point in installed_plugins() if installed else ():
        owner = f"{point.name} ({point.dist.name})" if point.dist else point.name
        new: list[Entry] = []
        try:
            _add(registry, owner, point.load, new, point.dist)
        except PluginError as error:
            names = [(entry.kind, entry.name) for entry in new]
            registry.failures.append(failure_of(owner, "the plugin", error, names))
    for file in files:
        _add(registry, str(file), partial(import_file, file))
    return registry


class _Manager(pluggy.PluginManager):
    """Looks for the hooks of a module among its callables alone, as pluggy takes long over each attribute."""

    def parse_hookimpl_opts(self, plugin: object, name: str) -> pluggy.HookimplOpts | None:
        """The options of a hook, or None for another attribute."""
        if inspect.ismodule(plugin) and not callable(vars(plugin).get(name)):
            return None
        return super().parse_hookimpl_opts(plugin, name)


def installed_plugins() -> EntryPoints:
    """The entry points of the installed plugins."""
    return entry_points(group=GROUP)


def with_files(registry: Registry, files: Sequence[Path]) -> Registry:
    """A registry that also has the plugins of these files; `registry` itself if it has all of them."""
    known = {file.resolve() for file in registry.files}
    new = tuple({file.resolve(): file for file in files if file.resolve() not in known}.values())
    return load_plugins(registry.builtin, (*registry.files, *new)) if new else registry


def import_file(path: Path) -> ModuleType:
    """Import a plugin file as a module with a unique name, so that its dataclasses can be resolved and pickled.

    The name consists of FILE_MODULE, the stem and a hash of the path. Raises PluginError for a missing file, and any
    error that the code of the file raises.
    """
    name = f"{FILE_MODULE}{path.stem}_{zlib.crc32(str(path.resolve()).encode()):08x}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise PluginError(f"plugin {path}: no such Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _add(
    registry: Registry,
    owner: str,
    load: Callable[[], Any],
    new: list[Entry] | None = None,
    distribution: Distribution | None = None,
) -> None:
    """Load a plugin and add all of its entries or none; `new` gets those that it registers, also if none is added."""
    manager, new = registry.manager, [] if new is None else new
    if manager.has_plugin(owner):
        raise PluginError(f"two installed plugins are called {owner}")
    module = guarded(owner, load)
    _check_defaults(owner, module)
    origin = (distribution.name, distribution.version) if distribution else ("", "")
    try:
        guarded(owner, partial(manager.register, module, name=owner))
        _check_hooks(
            owner, module, {caller.name: caller.has_spec() for caller in manager.get_hookcallers(module) or ()}
        )
        for kind, hook in KINDS.items():

            def register(name: str, factory: Callable[..., Any] | str, kind: str = kind) -> None:
                new.append(Entry(kind, name, factory, owner, *origin))

            for implementation in getattr(manager.hook, hook).get_hookimpls():
                if implementation.plugin_name == owner:
                    guarded(owner, partial(implementation.function, register))
        for entry in new:
            _check_entry(registry, entry, [other for other in new if other is not entry])
    except PluginError:
        if manager.has_plugin(owner):
            manager.unregister(name=owner)
        raise
    for entry in new:
        registry.entries[entry.kind][entry.name] = entry


# --- checks of what is registered


def _check_defaults(owner: str, module: ModuleType) -> None:
    for name, function in inspect.getmembers(module, inspect.isfunction):
        if name.startswith("register_") and function.__defaults__ and hasattr(function, f"{GROUP}_impl"):
            raise PluginError(f"plugin {owner}: the argument of {name} must not have a default")


def _check_hooks(owner: str, module: ModuleType, found: Mapping[str, bool]) -> None:
    """Raise PluginError for a hook that does not exist, a hook function without `@hookimpl`, and a module without any.

    `found` has, by the names of the decorated functions, whether there is such a hook.
    """
    hooks = [name for name, _ in inspect.getmembers(hookspecs, inspect.isfunction) if name.startswith("register_")]
    if unknown := next((name for name, exists in found.items() if not exists), None):
        longer = [hook for hook in hooks if hook.startswith(unknown.removesuffix("s"))]
        raise PluginError(f"plugin {owner}: unknown hook {unknown!r}{suggestion(unknown, longer or hooks)}")
    for name, function in inspect.getmembers(module, inspect.isfunction):
        if name in hooks and name not in found and function.__module__ == module.__name__:
            raise PluginError(f"plugin {owner}: {name} is not decorated: wanted `@hookimpl` on the line before it")
    if not found:
        raise PluginError(f"plugin {owner}: found no hook function, wanted one of {', '.join(hooks)}, with @hookimpl")


def _check_entry(registry: Registry, entry: Entry, others: Sequence[Entry]) -> None:
    """Raises PluginError if the name of an entry is taken or, unless it is built in, it does not fit a config."""
    for other in (registry.entries[entry.kind].get(entry.name), *others):
        if other is not None and (other.kind, other.name) == (entry.kind, entry.name):
            raise PluginError(f"{entry.kind} {entry.name!r} is registered by both {other.owner} and {entry.owner}")
    if entry.owner not in (*BUILTIN, *registry.builtin) and (fault := _fault_of(entry)):
        raise PluginError(f"plugin {entry.owner}: {entry}: {fault}")


def _fault_of(entry: Entry) -> str | None:
    """What is wrong with a name, a factory, or the names of options, and what is wanted; None if nothing is."""
    if not isinstance(entry.name, str) or not NAME.fullmatch(entry.name):
        return f"the name is {entry.name!r}; wanted a word without spaces, commas, braces and ="
    options = [option.name for option in guarded(entry.owner, entry.options)]
    if not callable(entry.factory):
        return f"the factory is {type_of(entry.factory)}; wanted a class, or a function that makes its objects"
    if entry.kind != "trainer":
        return fault_of_options(entry.kind, options)
    from rerank_plugins.core.trainer import Reading, Trainer, Use, common_uses  # loads the interfaces

    trainer = entry.factory
    if not isinstance(trainer, type) or not issubclass(trainer, Trainer):
        return f"the factory is {type_of(trainer)}; wanted a class that derives from Trainer"
    if trainer.reads not in get_args(Reading):
        return f"reads = {trainer.reads!r}; wanted one of {', '.join(get_args(Reading))}"
    if isinstance(trainer.uses, str) or (unknown := [use for use in trainer.uses if use not in get_args(Use)]):
        found = trainer.uses if isinstance(trainer.uses, str) else unknown[0]
        return f"uses has {found!r}; wanted some of {', '.join(get_args(Use))}, in a tuple"
    uses = {name: f"a common option, as `uses` has {use!r}" for use in common_uses(trainer) for name in OF_USES[use]}
    return fault_of_options("trainer", options, uses)
