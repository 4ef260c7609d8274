"""Finding plugins: built-ins, installed distributions and single files come through the same door.

`load_plugins()` returns a fresh `Registry` each time; a `Builder` (builder.py) makes objects from config tables.
"""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import inspect
import re
import sys
import typing
import zlib
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

import pluggy

from rerank_plugins import hookspecs
from rerank_plugins.errors import PluginError

if TYPE_CHECKING:
    import click

GROUP = "rerank_plugins"
FILE_MODULE = "rerank_plugin_"  # how the module names of plugin files begin
KINDS = {  # kind, as users name it -> hook that registers it
    "feature": "register_feature_extractors",
    "language_model": "register_language_models",
    "parser": "register_parsers",
    "metric": "register_metrics",
    "tuner": "register_tuners",
    "format": "register_nbest_formats",
}
BUILTIN = (
    "rerank_plugins.features",
    "rerank_plugins.language_models",
    "rerank_plugins.parsers",
)


@dataclasses.dataclass(frozen=True)
class Option:
    """One option of a plugin: `default` is dataclasses.MISSING where the option is required."""

    name: str
    type: Any
    default: Any
    doc: str

    @property
    def type_name(self) -> str:
        """The type as a user reads it: `float`, `Literal['a', 'b']`, `str | None`."""
        if isinstance(self.type, type):
            return self.type.__name__
        return re.sub(r"\b(?:[a-z_]\w*\.)+(?=[A-Z])", "", str(self.type))

    @property
    def required(self) -> bool:
        """Whether a config must give it."""
        return self.default is dataclasses.MISSING


@dataclasses.dataclass(frozen=True)
class Entry:
    """One registered thing: what `use = "name"` in a config means, and whose it is."""

    kind: str
    name: str
    factory: Callable[..., Any]
    owner: str

    @property
    def summary(self) -> str:
        """First line of the factory's docstring."""
        return (inspect.getdoc(self.factory) or "").partition("\n")[0]

    def options(self) -> list[Option]:
        """The dataclass fields of the factory that a user may set."""
        if not dataclasses.is_dataclass(self.factory):
            return []
        types = typing.get_type_hints(self.factory, include_extras=True)
        return [_option(f, types[f.name]) for f in dataclasses.fields(self.factory) if f.init]


def _option(f: dataclasses.Field[Any], type_: Any) -> Option:
    default = f.default_factory() if f.default_factory is not dataclasses.MISSING else f.default
    return Option(f.name, type_, default, f.metadata.get("doc", ""))


@dataclasses.dataclass(frozen=True)
class Failure:
    """An installed plugin that was left out, or whose commands were: why, and the (kind, name) pairs it registers."""

    owner: str
    reason: str
    what: str = "the plugin"
    names: frozenset[tuple[str, str]] = frozenset()

    def __str__(self) -> str:
        """One line for the user."""
        return f"{self.what} {self.owner} is left out: {self.reason}"


@dataclasses.dataclass(frozen=True)
class Registry:
    """Everything registered, by kind and name; `builtin` and `files` are what it was loaded with.

    `failures` are the installed plugins that could not be loaded: each is an error only where it is asked for.
    """

    entries: dict[str, dict[str, Entry]]
    manager: pluggy.PluginManager
    builtin: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    failures: list[Failure] = dataclasses.field(default_factory=list)

    def get(self, kind: str, name: str) -> Entry:
        """The entry of that name.

        Raises PluginError naming the close match, plugins that were left out, and for a name that two installed
        plugins register.
        """
        known = self.entries[kind]
        if name not in known:
            missing = f"no {kind.replace('_', ' ')} named {name!r}{suggestion(name, known)}"
            raise PluginError(f"{missing}{self.left_out(kind, name)}")
        if self._is_installed(known[name].owner):
            for failure in self.failures:
                if (kind, name) in failure.names:
                    raise PluginError(str(failure))
        return known[name]

    def left_out(self, kind: str = "", name: str = "") -> str:
        """What to add to an error about an unknown name: the plugins that were left out, and that it may be theirs."""
        own = [failure for failure in self.failures if (kind, name) in failure.names]
        return "".join(f"; {failure}" for failure in own or self.failures)

    def with_files(self, files: Sequence[Path]) -> Registry:
        """A registry that has the plugins in these files too (this one where there is no new file)."""
        known = {file.resolve() for file in self.files}
        new = tuple({file.resolve(): file for file in files if file.resolve() not in known}.values())
        return load_plugins(self.builtin, (*self.files, *new)) if new else self

    def add_commands(self, cli: click.Group) -> None:
        """Let every plugin add its commands to the `rerank` group and the groups in it, our own first.

        What an installed plugin adds before it fails is taken away again, and the plugin is among `failures`. Raises
        PluginError for a plugin file.
        """
        for implementation in self.manager.hook.register_commands.get_hookimpls():  # in order of registration
            owner = implementation.plugin_name
            groups = [cli, *(cast("click.Group", each) for each in cli.commands.values() if hasattr(each, "commands"))]
            before = [dict(group.commands) for group in groups]
            try:
                _guarded(owner, partial(implementation.function, cli))
            except PluginError as error:
                if not self._is_installed(owner):
                    raise
                for group, commands in zip(groups, before, strict=True):
                    group.commands = commands
                self.failures.append(Failure(owner, _reason(owner, error), "what adds commands of the plugin"))

    def _is_installed(self, owner: str) -> bool:
        return owner not in (*BUILTIN, *self.builtin, *map(str, self.files))


def suggestion(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'bleu'?`, or the whole list where nothing is close."""
    known = sorted(known)
    close = get_close_matches(name, known, 1)
    return f"; did you mean {close[0]!r}?" if close else f" (known: {', '.join(known) or 'none'})"


def load_plugins(builtin: Sequence[str] = (), files: Sequence[Path] = (), *, installed: bool = True) -> Registry:
    """A fresh registry: our built-ins, the caller's, installed distributions (entry points), then single files.

    Each must be importable, spell its hooks right, give their arguments no defaults (pluggy would never fill them) and
    register names that are not taken. An installed plugin that does not is left out whole and is among the registry's
    `failures`. Raises PluginError for a file, which somebody asked for, and for a built-in; both owners of a name that
    is taken are named.
    """
    manager = pluggy.PluginManager(GROUP)
    manager.add_hookspecs(hookspecs)
    registry = Registry({kind: {} for kind in KINDS}, manager, tuple(builtin), tuple(files))
    for name in (*BUILTIN, *builtin):
        _add(registry, name, partial(importlib.import_module, name), set())
    for point in entry_points(group=GROUP) if installed else ():
        owner = f"{point.name} ({point.dist.name})" if point.dist else point.name
        names: set[tuple[str, str]] = set()
        try:
            _add(registry, owner, point.load, names)
        except PluginError as error:
            registry.failures.append(Failure(owner, _reason(owner, error), names=frozenset(names)))
    for file in files:
        _add(registry, str(file), partial(import_file, file), set())
    return registry


def _add(registry: Registry, owner: str, load: Callable[[], Any], names: set[tuple[str, str]]) -> None:
    """Load a plugin and take what it registers, all of it or nothing; `names` collects what it means to register."""
    manager = registry.manager
    if manager.has_plugin(owner):
        raise PluginError(f"two installed plugins are called {owner}")
    module = _guarded(owner, load)
    _check_defaults(owner, module)
    new: list[Entry] = []
    try:
        _guarded(owner, partial(manager.register, module, name=owner))
        for caller in manager.get_hookcallers(module) or ():
            if not caller.has_spec():
                hooks = [
                    name for name, _ in inspect.getmembers(hookspecs, inspect.isfunction) if name[:9] == "register_"
                ]
                raise PluginError(f"plugin {owner}: unknown hook {caller.name!r}{suggestion(caller.name, hooks)}")
        for kind, hook in KINDS.items():
            for implementation in getattr(manager.hook, hook).get_hookimpls():
                if implementation.plugin_name == owner:
                    _guarded(owner, partial(implementation.function, _register(new, names, kind, owner)))
        for entry in new:
            _check_entry(registry, entry, [other for other in new if other is not entry])
    except PluginError:
        if manager.has_plugin(owner):
            manager.unregister(name=owner)
        raise
    for entry in new:
        registry.entries[entry.kind][entry.name] = entry


def _register(new: list[Entry], names: set[tuple[str, str]], kind: str, owner: str) -> hookspecs.Register:
    def register(name: str, factory: Callable[..., Any]) -> None:
        names.add((kind, name))
        new.append(Entry(kind, name, factory, owner))

    return register


def _check_entry(registry: Registry, entry: Entry, others: Sequence[Entry]) -> None:
    """Raises PluginError where the name of an entry is taken, or its options cannot be read (a stranger's only)."""
    taken = [registry.entries[entry.kind].get(entry.name), *others]
    for other in taken:
        if other is not None and (other.kind, other.name) == (entry.kind, entry.name):
            raise PluginError(f"{entry.kind} {entry.name!r} is registered by both {other.owner} and {entry.owner}")
    if entry.owner not in (*BUILTIN, *registry.builtin):
        _guarded(entry.owner, entry.options)


def _guarded(owner: str, action: Callable[[], Any]) -> Any:
    try:
        return action()
    except PluginError as error:
        if owner in str(error):
            raise
        raise PluginError(f"plugin {owner}: {error}") from error
    except (Exception, SystemExit) as error:  # anything a stranger's module can do, named by its owner
        said = " ".join(str(error).split())
        raise PluginError(f"plugin {owner}: {type(error).__name__}: {said}") from error


def _reason(owner: str, error: PluginError) -> str:
    return str(error).removeprefix(f"plugin {owner}: ")


def import_file(path: Path) -> ModuleType:
    """Import a plugin file under a name of its own (FILE_MODULE, stem, a hash of the path), so that its dataclasses
    can be resolved and pickled. Raises PluginError for a file that is not there, and whatever its code raises.
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
