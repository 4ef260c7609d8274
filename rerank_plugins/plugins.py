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
from typing import TYPE_CHECKING, Any

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
    "rerank_plugins.models",
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
class Registry:
    """Everything registered, by kind and name; `builtin` and `files` are what it was loaded with."""

    entries: dict[str, dict[str, Entry]]
    manager: pluggy.PluginManager
    builtin: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()

    def get(self, kind: str, name: str) -> Entry:
        """The entry of that name. Raises PluginError naming the close match."""
        known = self.entries[kind]
        if name not in known:
            raise PluginError(f"no {kind.replace('_', ' ')} named {name!r}{suggestion(name, known)}")
        return known[name]

    def with_files(self, files: Sequence[Path]) -> Registry:
        """A registry that has the plugins in these files too (this one where there is no new file)."""
        known = {file.resolve() for file in self.files}
        new = tuple({file.resolve(): file for file in files if file.resolve() not in known}.values())
        return load_plugins(self.builtin, (*self.files, *new)) if new else self

    def add_commands(self, cli: click.Group) -> None:
        """Let every plugin add its commands to the `rerank` group."""
        self.manager.hook.register_commands(cli=cli)


def suggestion(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'bleu'?`, or the whole list where nothing is close."""
    known = sorted(known)
    close = get_close_matches(name, known, 1)
    return f"; did you mean {close[0]!r}?" if close else f" (known: {', '.join(known) or 'none'})"


def load_plugins(builtin: Sequence[str] = (), files: Sequence[Path] = (), *, installed: bool = True) -> Registry:
    """A fresh registry: our built-ins, the caller's, installed distributions (entry points), then single files.

    Raises PluginError naming the plugin for one that cannot be imported, misspells a hook, gives a hook argument a
    default (pluggy would never fill it), or registers a name that is taken (naming both owners).
    """
    manager = pluggy.PluginManager(GROUP)
    manager.add_hookspecs(hookspecs)
    owners: dict[str, ModuleType] = {}
    for name in (*BUILTIN, *builtin):
        owners[name] = importlib.import_module(name)
    for point in entry_points(group=GROUP) if installed else ():
        owner = f"{point.name} ({point.dist.name})" if point.dist else point.name
        if owner in owners:
            raise PluginError(f"two installed plugins are called {owner}")
        owners[owner] = _guarded(owner, point.load)
    for file in files:
        owners[str(file)] = _guarded(str(file), partial(import_file, file))
    entries: dict[str, dict[str, Entry]] = {kind: {} for kind in KINDS}
    for owner, module in owners.items():
        _check_defaults(owner, module)
        manager.register(module, name=owner)
    try:
        manager.check_pending()
    except pluggy.PluginValidationError as error:
        known = [name for name, _ in inspect.getmembers(hookspecs, inspect.isfunction) if name[:9] == "register_"]
        hook = str(error).partition("'")[2].partition("'")[0]
        raise PluginError(f"unknown hook {hook!r}{suggestion(hook, known)}") from error
    for kind, hook in KINDS.items():
        for implementation in getattr(manager.hook, hook).get_hookimpls():  # in order of registration
            owner = implementation.plugin_name
            _guarded(owner, partial(implementation.function, _register(entries[kind], kind, owner)))
    return Registry(entries, manager, tuple(builtin), tuple(files))


def _register(known: dict[str, Entry], kind: str, owner: str) -> hookspecs.Register:
    def register(name: str, factory: Callable[..., Any]) -> None:
        if name in known:
            raise PluginError(f"{kind} {name!r} is registered by both {known[name].owner} and {owner}")
        known[name] = Entry(kind, name, factory, owner)

    return register


def _guarded(owner: str, action: Callable[[], Any]) -> Any:
    try:
        return action()
    except PluginError:
        raise
    except Exception as error:  # anything a stranger's module can do, named by its owner
        raise PluginError(f"plugin {owner}: {type(error).__name__}: {error}") from error


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
