"""A plugin by its entry and its options: the one form of tables, NAME,option=value and objects.

A `Spec` is read where a plugin is named, and everything is resolved there: names of tables, relative paths, the models
of the config's language, the parser of a model's trees. Behind that door there are no names.

The value of an option typed `Parser`, `SentenceModel`, `LanguageModel` or `Metric` is a name (that of a config table,
`[parser.ud]`, or of a registered plugin), a table, or an object. A parser that is left out is the one that the plugin's
`model` was trained with. In the place of a list there may be a single value.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, is_dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, get_origin

from rerank_adapters.job.model_parsers import parser_of
from rerank_adapters.job.names import INJECTED, Names, injected_type
from rerank_plugins import (
    ConfigError,
    LanguageModel,
    ModelError,
    Parser,
    PluginError,
    RerankError,
    SentenceModel,
)
from rerank_plugins.core.errors import suggestion
from rerank_plugins.core.files import resolve
from rerank_plugins.core.identity import identity
from rerank_plugins.core.plugins import Entry, Option, make, place_of
from rerank_plugins.kit.files.cached_parser import CachedParser
from rerank_plugins.kit.files.in_use import objects_in_use
from rerank_plugins.kit.files.languages import defaults_of

SET = "{set}"  # what stands for the name of the data set in the options of a feature
NEVER_SHARED = ("format", "trainer")  # kinds of plugins with a state: a format remembers the files that it read
OBJECT = "an object of Python"  # the owner of the entry of an object that no plugin registers


@dataclass(frozen=True)
class Spec:
    """A plugin's entry with the options that were given: a path is absolute, a plugin in an option is a Spec.

    `implied` are the options that follow from the language and from the model; they are not recorded, as they follow
    again. `where` names the place in errors, and `name` the table of the config that the plugin was named by. `plugin`
    is the object, where it was given as one.
    """

    entry: Entry
    options: Mapping[str, Any] = field(default_factory=dict)
    implied: Mapping[str, Any] = field(default_factory=dict)
    where: str = field(default="", compare=False)
    name: str = field(default="", compare=False)
    plugin: Any = field(default=None, compare=False)

    @classmethod
    def read(cls, kind: str, given: object, names: Names, where: str = "") -> Spec:
        """The spec of a table, of NAME,option=value, or of an object, which may also stand under `use`.

        `where` names the place in errors, as in `[[feature]] 2`. Raises ConfigError for a missing `use` and for an
        unknown, missing or ill-typed option, PluginError for an unknown name, and ModelError where the language has no
        such model.
        """
        where = where or f"[{kind}]"
        if isinstance(given, str):
            given = names.written(kind, given)
        if not isinstance(given, Mapping):
            return cls.of(kind, given, names)
        if "use" not in given:
            raise ConfigError(f"{where}: missing key 'use' (one of: {', '.join(names.registry.known(kind))})")
        use, table = given["use"], {key: value for key, value in given.items() if key != "use"}
        if not isinstance(use, str):
            return cls.of(kind, use, names)
        if kind == "feature" and not table and use not in names.registry.known(kind):
            models = names.tables.get("language_model", {})
            if use in models:
                return cls.read("language_model", models[use], names, f"[language_model.{use}]")
        try:
            entry = names.registry.get(kind, use)
        except PluginError as error:
            raise PluginError(f"{where}: {error}") from None
        known = {option.name: option for option in entry.options()}
        required = [name for name, option in known.items() if option.required]
        try:
            of_language = defaults_of(names.language, entry.name, required, table)
        except ModelError as error:
            raise ModelError(f"{where}: {error}") from None
        for key in table.keys() - known.keys():
            raise ConfigError(f"{where}: {entry.name} has no option {key!r}{suggestion(key, known)}")
        for name in required:
            if name not in table and name not in of_language:
                raise ConfigError(f"{where}: {entry.name} needs the option {name!r} ({known[name].doc})")
        options, implied = (
            {key: _value(known[key], value, names, where) for key, value in own.items()} for own in (table, of_language)
        )
        return cls(entry, options, implied, where)._with_parser(known, names)

    @classmethod
    def named(cls, kind: str, name: str, names: Names, where: str) -> Spec:
        """The spec of a name, that of a config table or of a plugin. Raises ConfigError for another, and as `read`.

        `where` is the place of the name.
        """
        tables = names.tables.get(kind, {})
        if name not in tables and names.registry.find(kind, name) is None:
            known = suggestion(name, [*tables, *names.registry.entries[kind]])
            raise ConfigError(f"{where}: no {kind} named {name!r}{known}{names.registry.left_out(kind, name)}")
        return replace(cls.read(kind, tables.get(name, {"use": name}), names, f"[{kind}.{name}]"), name=name)

    @classmethod
    def of(cls, kind: str, plugin: Any, names: Names) -> Spec:
        """The spec of an object, which `make` returns: of a class that no plugin registers, an entry of its own."""
        inner = plugin.parser if isinstance(plugin, CachedParser) else plugin
        same_place = (e for e in names.registry.known(kind).values() if e.place == place_of(type(inner)))
        entry = next((entry for entry in same_place if entry.factory is type(inner)), None)
        if entry is not None and is_dataclass(inner):
            with suppress(_NoTable):
                return cls(entry, dict(_options_of(entry, inner, names)), where=entry.name, plugin=plugin)
        name = type(inner).__name__
        return cls(Entry(kind, name, type(inner), OBJECT), where=name, plugin=plugin)

    def of_set(self, name: str) -> Spec:
        """The spec with the name of a data set in the place of {set}."""

        def named(value: Any) -> Any:
            return type(value)(str(value).replace(SET, name)) if isinstance(value, Path | str) else value

        return replace(self, options={key: named(value) for key, value in self.options.items()})

    @property
    def is_object(self) -> bool:
        """Whether no table can make the plugin again, as it is, or has, an object that no plugin registers."""
        return any(entry.owner == OBJECT for entry in self.entries())

    def entries(self) -> Iterator[Entry]:
        """The entries of this plugin and of all in its options."""
        yield self.entry
        for spec in _parts((*self.options.values(), *self.implied.values()), Spec):
            yield from spec.entries()

    def parts(self, kind: str) -> Iterator[Spec]:
        """The plugins of a kind in its options, at any depth."""
        for spec in _parts((*self.options.values(), *self.implied.values()), Spec):
            if spec.entry.kind == kind:
                yield spec
            yield from spec.parts(kind)

    def make(self, *more: object) -> Any:
        """The plugin, a parser with its cache; equal plugins in use are one object, whoever asks for them.

        Plugins are equal if all that they are made of is, their classes included, since the file of a plugin may be
        loaded again; and if `more` is, whatever that is. Raises ConfigError where
        options contradict each other, PluginError for a constructor that fails, and ModelError for a parser of another
        language than the model's.
        """
        if self.plugin is not None:
            return self.plugin
        plugin = self._made()
        if self.entry.kind in NEVER_SHARED:
            return plugin
        is_parser = self.entry.kind == "parser"
        try:
            same = identity(is_parser, plugin, list(map(str, self.paths())), *more)
        except (RerankError, OSError):  # an option that cannot be described, or a file that cannot be read yet
            same = ""
        key = same, *(entry.factory for entry in self.entries())
        found = objects_in_use().get(key) if same else None
        if found is None:
            found = CachedParser(plugin) if is_parser else plugin
            with suppress(TypeError):  # of an object that no weak reference can be made of
                if same:
                    objects_in_use()[key] = found
        return found

    def table(self, folder: Path | None = None) -> dict[str, Any]:
        """The table of a config for this plugin, with paths relative to a folder; without one, they are absolute."""

        def plain(value: Any) -> Any:
            if isinstance(value, Spec):
                return value.table(folder)
            if isinstance(value, list | tuple):
                return [plain(item) for item in value]
            if isinstance(value, Path):
                return str(value) if folder is None else os.path.relpath(value, folder)
            return value

        options = {key: plain(value) for key, value in self.options.items() if value is not None}
        return {"use": self.entry.name, **options}

    def _made(self) -> Any:
        """A new object. Raises as `make`."""
        known = {option.name: option for option in self.entry.options()}
        values = {key: _made(known[key], value, self.where) for key, value in {**self.implied, **self.options}.items()}
        try:
            plugin = make(self.entry, values)
        except RerankError:
            raise
        except ValueError as error:  # from __post_init__: the values contradict each other
            raise ConfigError(f"{self.where}: {self.entry.name}: {error}") from error
        if _takes_parser(known):
            tuple(plugin.parsers)  # a parser of another language is an error now, not after the features before
        return plugin

    def paths(self) -> Iterator[Path]:
        """The files of the plugin and of those in its options: equal ones in other places are not the same plugin's."""
        values = (*self.options.values(), *self.implied.values())
        yield from _parts(values, Path)
        for spec in _parts(values, Spec):
            yield from spec.paths()

    def _with_parser(self, options: Mapping[str, Option], names: Names) -> Spec:
        """The spec with the parser of its model's trees, where the plugin takes a parser and none is named.

        It is one for as many trees of a sentence as the plugin reads.
        """
        values = {**self.implied, **self.options}
        if not _takes_parser(options) or values.get("parser") is not None or not isinstance(values.get("model"), Path):
            return self
        if not (table := parser_of(values["model"], names.language)):
            return self
        entry = names.registry.entries["parser"].get(table["use"])
        k = values.get("k", options["k"].default) if "k" in options else None
        if k is not None and entry and any(option.name == "k" for option in entry.options()):
            table["k"] = k
        parser = Spec.read("parser", table, names, f"{self.where}: the parser of {values['model']}")
        return replace(self, implied={**self.implied, "parser": parser})


def _takes_parser(options: Mapping[str, Option]) -> bool:
    return "parser" in options and injected_type(options["parser"].type) is Parser


def _parts(values: Sequence[Any], type_: type) -> Iterator[Any]:
    """The values of a type, also those in tuples."""
    for value in values:
        yield from (item for item in (value if isinstance(value, tuple) else (value,)) if isinstance(item, type_))


def _value(option: Option, value: Any, names: Names, where: str) -> Any:
    """The value of an option, checked by its type. Raises ConfigError for one that does not fit."""
    here = f"{where}: option {option.name!r}"
    if get_origin(option.type) is tuple and value is not None and not isinstance(value, list | tuple):
        if isinstance(value, str) and "," in value and "=" not in value:  # NAME=VALUE,VALUE is one axis
            listed = [part.strip() for part in value.split(",")]
            raise ConfigError(f"{here} is {value!r}, which is one value; wanted a list: {listed}")
        value = [value]
    if (injected := injected_type(option.type)) and value is not None:
        if isinstance(value, list | tuple):
            return tuple(_injected(injected, option, one, names, where) for one in value)
        return _injected(injected, option, value, names, where)
    from pydantic import ValidationError

    try:
        checked = _adapter(option.type).validate_python(value)
    except ValidationError as error:
        problem = error.errors()[0]["msg"]
        raise ConfigError(f"{here} is {value!r}; wanted {option.type_name}: {problem}") from None
    several = checked if isinstance(checked, tuple) else (checked,)
    paths = tuple(resolve(one, names.base).absolute() if isinstance(one, Path) else one for one in several)
    return paths if isinstance(checked, tuple) else paths[0]


def _injected(type_: type, option: Option, value: Any, names: Names, where: str) -> Spec:
    kind, here = INJECTED[type_], f"{where}: option {option.name!r}"
    if isinstance(value, str):
        return Spec.named(kind, value, names, here)
    if isinstance(value, Mapping):
        return Spec.read(kind, value, names, f"{where}: {option.name}")
    if not isinstance(value, type_ if type_ is not LanguageModel else SentenceModel):
        raise ConfigError(f"{here} is {value!r}; wanted the name or the table of a {kind}")
    return Spec.of(kind, value, names)


def _made(option: Option, value: Any, where: str) -> Any:
    """The value of an option for a constructor, with plugins in the place of specs."""
    if isinstance(value, tuple):
        return tuple(_made(option, item, where) for item in value)
    if not isinstance(value, Spec):
        return value
    plugin = value.make()
    if injected_type(option.type) is not LanguageModel:
        return plugin
    from rerank_plugins.kit.language_models import with_words

    return with_words(plugin, f"{where}: option {option.name!r} is {(value.name or value.entry.name)!r}")


@lru_cache(maxsize=512)
def _adapter(type_: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(type_)


class _NoTable(Exception):
    """A value that no table can hold."""


def _options_of(entry: Entry, plugin: Any, names: Names) -> Iterator[tuple[str, Any]]:
    """The options of an object that are not at their defaults. Raises _NoTable for a value that no table holds."""
    for option in entry.options():
        value = getattr(plugin, option.name)
        at_default = value is option.default or (type(value) is type(option.default) and bool(value == option.default))
        if option.required or not at_default:
            yield option.name, _told(option, value, names)


def _told(option: Option, value: Any, names: Names) -> Any:
    if isinstance(value, list | tuple):
        return tuple(_told(option, item, names) for item in value)
    if isinstance(value, Path):
        return value.absolute()
    if isinstance(value, str | int | float):
        return value
    injected = injected_type(option.type)
    spec = Spec.of(INJECTED[injected], value, names) if injected and value is not None else None
    if spec is None or spec.is_object:
        raise _NoTable
    return spec
