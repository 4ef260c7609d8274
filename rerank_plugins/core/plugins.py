"""Plugins by kind and name: their entries with their options, the objects that these make, and the registry of all.

loader.py loads plugins into a registry.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import typing
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, lru_cache, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pluggy

from rerank_plugins.core.errors import PluginError, suggestion
from rerank_plugins.core.owners import PASSED_ON, is_ours, remember, said, type_of

if TYPE_CHECKING:
    import click

KINDS = {  # from the name of a kind to the hook that registers plugins of this kind
    "feature": "register_feature_extractors",
    "language_model": "register_language_models",
    "parser": "register_parsers",
    "metric": "register_metrics",
    "tuner": "register_tuners",
    "format": "register_nbest_formats",
    "trainer": "register_trainers",
}
INTERFACES = {  # by kind, the place of the interface, which is imported when it is first used
    "feature": "rerank_plugins.core.interfaces:FeatureExtractor",
    "language_model": "rerank_plugins.core.interfaces:SentenceModel",
    "parser": "rerank_plugins.core.interfaces:Parser",
    "metric": "rerank_plugins.core.metrics_and_tuners:Metric",
    "tuner": "rerank_plugins.core.metrics_and_tuners:Tuner",
    "format": "rerank_plugins.core.metrics_and_tuners:NBestFormat",
    "trainer": "rerank_plugins.core.trainer:Trainer",
}
FAMILIES = (
    *("lists", "ngram", "dependency", "constituency", "treelet", "hhmm", "svs", "referential"),
    *("missing_words", "similarity", "translation", "neural"),
)
BUILTIN = tuple(f"rerank_plugins.{family}" for family in FAMILIES)  # packages, each with a module `plugin`
OF_FEATURES = {
    "use": "the plugin",
    "label": "the name of the feature",
    "text": "the text steps of the hypotheses",
    "source_text": "the text steps of the sources",
}
RESERVED: Mapping[str, Mapping[str, str]] = {  # by kind, the keys of its tables and what they name
    "feature": OF_FEATURES,
    "language_model": OF_FEATURES,  # a language model is a feature too
    "parser": {"use": "the plugin"},
    "metric": {"use": "the plugin", "label": "the name of the metric", "text": "the text steps of the hypotheses"},
    "tuner": {"use": "the plugin", "margin": "how far another hypothesis must lead the first"},
    "format": {"use": "the plugin"},
    "trainer": {"paths": "the files to learn from", "output": "the model file", "help": "the help"},
}


# --- entries


@dataclasses.dataclass(frozen=True)
class Option:
    """An option of a plugin; `default` is dataclasses.MISSING if the option is required.

    `type` has the constraints that pydantic checks, such as `Annotated[int, Field(ge=1)]`; `plain_type` has none.
    """

    name: str
    type: Any
    plain_type: Any
    default: Any
    doc: str
    metadata: Mapping[str, Any] = dataclasses.field(default_factory=dict)  # all that `option` was told

    @property
    def type_name(self) -> str:
        """The type as shown to users: `float`, `Literal['a', 'b']`, `str | None`."""
        if isinstance(self.plain_type, type):
            return self.plain_type.__name__
        return re.sub(r"\b(?:[a-z_]\w*\.)+(?=[A-Z])", "", str(self.plain_type))

    @property
    def required(self) -> bool:
        """Whether a config must set the option."""
        return self.default is dataclasses.MISSING


@dataclasses.dataclass(frozen=True)
class Entry:
    """A registered plugin: the factory that `use = "name"` in a config refers to, and the owner that registered it.

    `made_by` is the factory, or the place of a class (`module:Class`), which is imported when it is first used.
    `distribution` and `version` are those of the package that an installed plugin is from, and empty for others.
    """

    kind: str
    name: str
    made_by: Callable[..., Any] | str
    owner: str
    distribution: str = ""
    version: str = ""

    def __str__(self) -> str:
        """The kind and the name, for errors."""
        return f"{self.kind.replace('_', ' ')} {self.name!r}"

    @cached_property
    def factory(self) -> Callable[..., Any]:
        """What makes the objects. Raises PluginError, which names the owner, where it cannot be imported."""
        made_by = self.made_by
        return guarded(self.owner, partial(class_at, made_by)) if isinstance(made_by, str) else made_by

    @property
    def place(self) -> str:
        """Where the factory is, `module:Class`; a class is not imported for it."""
        return self.made_by if isinstance(self.made_by, str) else place_of(self.made_by)

    @property
    def summary(self) -> str:
        """The first line of the factory's docstring."""
        if isinstance(self.factory, Variant):
            return self.factory.about
        return (inspect.getdoc(self.factory) or "").partition("\n")[0]

    @property
    def needs_options(self) -> bool:
        """Whether the plugin has an option that a config must set."""
        return any(option.required for option in self.options())

    def options(self) -> list[Option]:
        """The dataclass fields of the factory that a user may set."""
        if isinstance(self.factory, Variant):
            return self.factory.option_list()
        if not dataclasses.is_dataclass(self.factory):
            return []
        types, plain = _types_of(self.factory)
        return [_option(f, types[f.name], plain[f.name]) for f in dataclasses.fields(self.factory) if f.init]


@dataclasses.dataclass(frozen=True)
class Variant:
    """A factory that changes some fields of an object, a dataclass: its options.

    `about` is what the object is, in a line; `options` are the names of the fields, in words.
    """

    made: Any
    about: str
    options: str = ""

    def __call__(self, **values: Any) -> Any:
        """The object with these values of options."""
        return dataclasses.replace(self.made, **values)

    def option_list(self) -> list[Option]:
        """The options, each with the object's value of the field as its default."""
        kind: Callable[..., Any] = type(self.made)
        types, plain = _types_of(kind)
        known = {f.name: f for f in dataclasses.fields(self.made)}
        made = [_option(known[name], types[name], plain[name]) for name in self.options.split()]
        return [dataclasses.replace(option, default=getattr(self.made, option.name)) for option in made]


@lru_cache(maxsize=512)
def _types_of(factory: Callable[..., Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The types of the fields of a class with and without constraints, which are looked up in its module once."""
    return typing.get_type_hints(factory, include_extras=True), typing.get_type_hints(factory)


def _option(f: dataclasses.Field[Any], type_: Any, plain_type: Any) -> Option:
    default = f.default_factory() if f.default_factory is not dataclasses.MISSING else f.default
    return Option(f.name, type_, plain_type, default, f.metadata.get("doc", ""), f.metadata)


def make(entry: Entry, options: Mapping[str, Any]) -> Any:
    """The object of an entry with these options.

    Raises ValueError where the constructor does, for options that contradict each other, and PluginError for any other
    error of a constructor that is not the project's, and for an object that does not implement the interface.
    """
    if isinstance(entry.factory, type) and is_ours(entry.factory):
        return entry.factory(**options)
    who = f"{entry} of {entry.owner}"
    try:
        plugin = entry.factory(**options)
    except (*PASSED_ON, ValueError):
        raise
    except (Exception, SystemExit) as error:
        raise PluginError(f"{who}: its constructor raised {said(error)}") from error
    wanted = interface_of(entry.kind)
    if not isinstance(plugin, wanted):
        raise PluginError(f"{who}: the factory made {type_of(plugin)}, wanted a {wanted.__name__}")
    if not is_ours(type(plugin)):
        remember(type(plugin), str(entry), entry.owner)
    if (scope := getattr(plugin, "scope", "text")) not in ("text", "list"):
        raise PluginError(f"{who}: scope is {scope!r}, wanted 'text' or 'list'")
    return plugin


def interface_of(kind: str) -> type:
    """The interface that the plugins of a kind implement."""
    interface: type = class_at(INTERFACES[kind])
    return interface


def fault_of_options(kind: str, options: Iterable[str], common: Mapping[str, str] | None = None) -> str | None:
    """What is wrong with the names of options: the first that is that of a key of the tables; None if nothing is.

    `common` are further names that are taken, and what they name.
    """
    taken = {**RESERVED[kind], **(common or {})}
    return next(
        (
            f"the option {option!r} cannot be set: in tables of this kind the key names {taken[option]}; rename it"
            for option in options
            if option in taken
        ),
        None,
    )


def class_at(place: str) -> Any:
    """The class at a place: `module:Class`.

    >>> class_at("collections:Counter")
    <class 'collections.Counter'>
    """
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def place_of(made: Any) -> str:
    """The place of a class or a function, where `class_at` finds it; empty for an object without one.

    >>> place_of(Entry)
    'rerank_plugins.core.plugins:Entry'
    """
    name = getattr(made, "__qualname__", "")
    return f"{made.__module__}:{name}" if name else ""


# --- the registry


@dataclasses.dataclass(frozen=True)
class Failure:
    """A line about an installed plugin that is left out, and the (kind, name) pairs that it registers."""

    owner: str
    line: str
    names: frozenset[tuple[str, str]] = frozenset()

    def __str__(self) -> str:
        """One line for the user."""
        return self.line


@dataclasses.dataclass(frozen=True)
class Registry:
    """All registered plugins, by kind and name; `builtin` and `files` are the arguments of `load_plugins`.

    `failures` are the installed plugins that could not be loaded. Only the use of such a plugin is an error.
    """

    entries: dict[str, dict[str, Entry]]
    manager: pluggy.PluginManager
    builtin: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    failures: list[Failure] = dataclasses.field(default_factory=list)

    def get(self, kind: str, name: str) -> Entry:
        """The entry of that name.

        Raises PluginError for an unknown name, with a similar name and the plugins that were left out in its message,
        and for a name that two installed plugins register.
        """
        entry = self.find(kind, name)
        if entry is None:
            left_out = self.left_out(kind, name)
            similar = "" if "pip install" in left_out else suggestion(name, self.known(kind))
            raise PluginError(f"no {kind.replace('_', ' ')} named {name!r}{similar}{left_out}")
        for failure in self.claims(entry):
            raise PluginError(str(failure))
        return entry

    def known(self, kind: str) -> dict[str, Entry]:
        """The plugins that a table of this kind may name: for a feature, the language models too."""
        return (self.entries["language_model"] if kind == "feature" else {}) | self.entries[kind]

    def factories(self, kind: str) -> dict[str, Callable[..., Any]]:
        """What makes the plugins of a kind, by their names."""
        return {name: entry.factory for name, entry in self.known(kind).items()}

    def find(self, kind: str, name: str) -> Entry | None:
        """The entry of that name; None if there is none."""
        return self.known(kind).get(name)

    def left_out(self, kind: str = "", name: str = "") -> str:
        """The end of an error about an unknown name: the plugins left out that register it, or else all that were."""
        responsible = [failure for failure in self.failures if (kind, name) in failure.names]
        return "".join(f"; {failure}" for failure in responsible or self.failures)

    def claims(self, entry: Entry) -> list[Failure]:
        """Other installed plugins that register the name of an installed one: the name then belongs to neither."""
        own = (entry.kind, entry.name)
        return [f for f in self.failures if own in f.names] if self.is_installed(entry.owner) else []

    def with_recorded(self, recorded: Iterable[Mapping[str, str]]) -> Registry:
        """The registry in which errors about unknown names tell the distributions that a file records for them."""
        missing = [
            Failure(
                each["distribution"],
                f"it is in {each['distribution']} {each['version']}, which is not installed: pip install "
                + each["distribution"],
                frozenset({(each["kind"], each["name"])}),
            )
            for each in recorded
            if each["kind"] in self.entries and self.find(each["kind"], each["name"]) is None
        ]
        return dataclasses.replace(self, failures=[*self.failures, *missing]) if missing else self

    def add_commands(self, cli: click.Group) -> None:
        """Let every plugin add its commands to the `rerank` group and its subgroups; the built-in ones come first.

        If an installed plugin fails, the commands that it has added are removed, and it is added to `failures`. Raises
        PluginError if a plugin file or a built-in plugin fails.
        """
        for implementation in self.manager.hook.register_commands.get_hookimpls():  # in order of registration
            owner = implementation.plugin_name
            subgroups = (cast("click.Group", child) for child in cli.commands.values() if hasattr(child, "commands"))
            groups = [cli, *subgroups]
            before = [dict(group.commands) for group in groups]
            try:
                guarded(owner, partial(implementation.function, cli))
            except PluginError as error:
                if not self.is_installed(owner):
                    raise
                for group, commands in zip(groups, before, strict=True):
                    group.commands = commands
                self.failures.append(failure_of(owner, "what adds commands of the plugin", error))

    def is_installed(self, owner: str) -> bool:
        """Whether the owner is an installed distribution, not a built-in package or a plugin file."""
        return owner not in (*BUILTIN, *self.builtin, *map(str, self.files))


def failure_of(owner: str, what: str, error: PluginError, names: Iterable[tuple[str, str]] = ()) -> Failure:
    """The failure of an owner, all of whose plugins, or `what` else, an error keeps out."""
    reason = str(error).removeprefix(f"plugin {owner}: ")
    return Failure(owner, f"{what} {owner} is left out: {reason}", frozenset(names))


def guarded(owner: str, action: Callable[[], Any]) -> Any:
    """The value of `action()`. Raises PluginError, which names the owner, for any error in it."""
    try:
        return action()
    except PluginError as error:
        if owner in str(error):
            raise
        raise PluginError(f"plugin {owner}: {error}") from error
    except (Exception, SystemExit) as error:  # a foreign module may raise any error
        message = " ".join(str(error).split())
        raise PluginError(f"plugin {owner}: {type(error).__name__}: {message}") from error
