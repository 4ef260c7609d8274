"""Loads plugins: built-in packages, installed distributions and single files are all registered in the same way.

`load_plugins()` returns a new `Registry` (registry.py) at each call; a `Spec` (job/specs.py) makes objects from
the tables of a config.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
import zlib
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from importlib.metadata import Distribution, EntryPoints, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

import pluggy

from rerank_plugins.core import hookspecs
from rerank_plugins.core.errors import PluginError
from rerank_plugins.core.files import FILE_MODULE
from rerank_plugins.core.registry import BUILTIN, KINDS, Entry, Failure, Registry, guarded, reason, suggestion

GROUP = "rerank_plugins"


def load_plugins(builtin: Sequence[str] = (), files: Sequence[Path] = (), *, installed: bool = True) -> Registry:
    """A new registry of our built-in plugins, those in `builtin`, installed distributions (entry points), and `files`.

    Built-in plugins are rooms, whose module `plugin` has their hooks. Each plugin must be importable, implement only
    hooks that exist, give their arguments no defaults (pluggy would never fill them) and register only names that are
    not taken. An installed plugin that violates this is left out completely and added to the registry's `failures`. For
    a file, which the user asked for, and for a built-in plugin, PluginError is raised. The error about a name that is
    taken names both owners.
    """
    manager = _Manager(GROUP)
    manager.add_hookspecs(hookspecs)
    registry = Registry({kind: {} for kind in KINDS}, manager, tuple(builtin), tuple(files))
    for name in (*BUILTIN, *builtin):
        _add(registry, name, partial(importlib.import_module, f"{name}.plugin"), set())
    for point in installed_plugins() if installed else ():
        owner = f"{point.name} ({point.dist.name})" if point.dist else point.name
        names: set[tuple[str, str]] = set()
        try:
            _add(registry, owner, point.load, names, point.dist)
        except PluginError as error:
            registry.failures.append(Failure(owner, reason(owner, error), names=frozenset(names)))
    for file in files:
        _add(registry, str(file), partial(import_file, file), set())
    return registry


class _Manager(pluggy.PluginManager):
    """Looks for the hooks of a module among its callables alone, as pluggy takes long over each attribute."""

    def parse_hookimpl_opts(self, plugin: object, name: str) -> pluggy.HookimplOpts | None:
        """The options of a hook, or None for another attribute."""
        if inspect.ismodule(plugin) and not callable(vars(plugin).get(name)):
            return None
        return super().parse_hookimpl_opts(plugin, name)


def installed_plugins() -> EntryPoints:
    """The entry points of the installed plugins; they are read again only where a folder of `sys.path` has changed."""
    return _entry_points(tuple((folder, _changed(folder)) for folder in sys.path))


@lru_cache(maxsize=1)
def _entry_points(_folders: tuple[tuple[str, int], ...]) -> EntryPoints:
    """The same, remembered for the folders of `sys.path` and when they changed."""
    return entry_points(group=GROUP)


def _changed(folder: str) -> int:
    """When the entries of a folder (or a zip file) of `sys.path` changed last, in ns; 0 if there is none."""
    try:
        return os.stat(folder or ".").st_mtime_ns
    except OSError:
        return 0


def with_files(registry: Registry, files: Sequence[Path]) -> Registry:
    """A registry that also has the plugins of these files; `registry` itself if it has all of them."""
    known = {file.resolve() for file in registry.files}
    new = tuple({file.resolve(): file for file in files if file.resolve() not in known}.values())
    return load_plugins(registry.builtin, (*registry.files, *new)) if new else registry


def _add(
    registry: Registry,
    owner: str,
    load: Callable[[], Any],
    names: set[tuple[str, str]],
    distribution: Distribution | None = None,
) -> None:
    """Load a plugin and add all of its entries or none; `names` collects the (kind, name) pairs that it registers."""
    manager = registry.manager
    if manager.has_plugin(owner):
        raise PluginError(f"two installed plugins are called {owner}")
    module = guarded(owner, load)
    _check_defaults(owner, module)
    new: list[Entry] = []
    try:
        guarded(owner, partial(manager.register, module, name=owner))
        _check_hooks(
            owner, module, [(caller.name, caller.has_spec()) for caller in manager.get_hookcallers(module) or ()]
        )
        for kind, hook in KINDS.items():
            for implementation in getattr(manager.hook, hook).get_hookimpls():
                if implementation.plugin_name == owner:
                    guarded(owner, partial(implementation.function, _register(new, names, kind, owner, distribution)))
        for entry in new:
            _check_entry(registry, entry, [other for other in new if other is not entry])
    except PluginError:
        if manager.has_plugin(owner):
            manager.unregister(name=owner)
        raise
    for entry in new:
        registry.entries[entry.kind][entry.name] = entry


def _check_hooks(owner: str, module: ModuleType, found: Sequence[tuple[str, bool]]) -> None:
    """Raise PluginError for a hook that does not exist, a hook function without `@hookimpl`, and a module without any.

    `found` are the names of the decorated functions, and whether there is such a hook.
    """
    hooks = [name for name, _ in inspect.getmembers(hookspecs, inspect.isfunction) if name.startswith("register_")]
    if unknown := next((name for name, exists in found if not exists), None):
        longer = [hook for hook in hooks if hook.startswith(unknown.removesuffix("s"))]
        raise PluginError(f"plugin {owner}: unknown hook {unknown!r}{suggestion(unknown, longer or hooks)}")
    decorated = {name for name, _ in found}
    for name, function in inspect.getmembers(module, inspect.isfunction):
        if name in hooks and name not in decorated and function.__module__ == module.__name__:
            raise PluginError(f"plugin {owner}: {name} is not decorated: wanted `@hookimpl` on the line before it")
    if not found:
        raise PluginError(f"plugin {owner}: found no hook function, wanted one of {', '.join(hooks)}, with @hookimpl")


def _register(
    new: list[Entry], names: set[tuple[str, str]], kind: str, owner: str, distribution: Distribution | None
) -> hookspecs.Register:
    origin = (distribution.name, distribution.version) if distribution else ("", "")

    def register(name: str, factory: Callable[..., Any] | str) -> None:
        names.add((kind, name))
        new.append(Entry(kind, name, factory, owner, *origin))

    return register


def _check_entry(registry: Registry, entry: Entry, others: Sequence[Entry]) -> None:
    """Raises PluginError if the name of an entry is taken or, unless it is built in, it does not fit a config."""
    for other in (registry.entries[entry.kind].get(entry.name), *others):
        if other is not None and (other.kind, other.name) == (entry.kind, entry.name):
            raise PluginError(f"{entry.kind} {entry.name!r} is registered by both {other.owner} and {entry.owner}")
    if entry.owner not in (*BUILTIN, *registry.builtin):
        from rerank_plugins.core.guests.registrations import fault_of_entry  # loads the interfaces

        options = [option.name for option in guarded(entry.owner, entry.options)]
        if fault := fault_of_entry(entry.kind, entry.name, entry.factory, options):
            raise PluginError(f"plugin {entry.owner}: {entry.kind.replace('_', ' ')} {entry.name!r}: {fault}")


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


def _check_defaults(owner: str, module: ModuleType) -> None:
    for name, function in inspect.getmembers(module, inspect.isfunction):
        if name.startswith("register_") and function.__defaults__ and hasattr(function, f"{GROUP}_impl"):
            raise PluginError(f"plugin {owner}: the argument of {name} must not have a default")
