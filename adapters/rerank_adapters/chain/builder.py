"""Builds objects from config tables: `{use = "ngram-lm", model = "lm.arpa"}` becomes an extractor.

The value of a field typed `Parser`, `SentenceModel`, `LanguageModel` or `Metric` is a name (that of a config table,
`[parser.ud]`, or of a registered plugin that needs no options) or a table itself. Each of these objects is built once,
and every parser is wrapped in a cache. A parser that is left out is the one that the plugin's `model` was trained with.
A field typed `LanguageModel` takes models that give probabilities to words alone. In the place of a list there may be a
single value.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args, get_origin

from rerank_plugins import (
    ConfigError,
    LanguageModel,
    Metric,
    ModelError,
    Parser,
    PluginError,
    RerankError,
    SentenceModel,
)
from rerank_plugins.core.files import resolve
from rerank_plugins.core.guests.makes import make
from rerank_plugins.core.identity import identity
from rerank_plugins.core.registry import Entry, Option, Registry, suggestion
from rerank_plugins.kit.files.languages import ENGLISH, defaults_of

OBJECT = "an object of Python"  # the owner of entries that are made for an object, of which there is one
INJECTED: dict[type, str] = {
    Parser: "parser",
    LanguageModel: "language_model",
    SentenceModel: "language_model",
    Metric: "metric",
}


@dataclass
class Builder:
    """Builds the objects of a config.

    `registry`  the plugins
    `base`      the folder to which relative paths are relative
    `named`     the config's named tables, by kind and name
    `language`  the code of the language whose models are used where none is named; empty: English
    `shared`    objects of other builders by fingerprint, among which equal ones are looked for; None: no others
    """

    registry: Registry
    base: Path = Path()
    named: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    language: str = ""
    shared: MutableMapping[Hashable, Any] | None = None
    _built: dict[tuple[str, str], Any] = field(default_factory=dict)

    def _absolute(self, value: Any) -> Any:
        """A path, or several, from the root; other values as they are."""
        if isinstance(value, list | tuple):
            return [self._absolute(item) for item in value]
        return str(resolve(value, self.base).absolute()) if isinstance(value, str | Path) else value

    def build(self, kind: str, table: Mapping[str, Any], where: str = "") -> Any:
        """The object that a table describes; `where` names the table in errors, as in `[[feature]] 2`.

        Raises ConfigError for a missing `use` and for an unknown, missing or ill-typed option, PluginError for an
        unknown name, ModelError for a parser of another language than the model's.
        """
        where = where or f"[{kind}]"
        if "use" not in table:
            raise ConfigError(f"{where}: missing key 'use' (one of: {', '.join(self.registry.known(kind))})")
        if kind == "feature" and table.keys() == {"use"} and self.is_named_model(table["use"]):
            return self.named_object("language_model", table["use"], where)
        try:
            entry = self.registry.get(kind, table["use"])
        except PluginError as error:
            raise PluginError(f"{where}: {error}") from None
        options = {option.name: option for option in entry.options()}
        settings = {key: value for key, value in table.items() if key != "use"}
        if self.language:
            settings |= self._of_language(entry.name, options, settings, where)
        for key in settings.keys() - options.keys():
            raise ConfigError(f"{where}: {entry.name} has no option {key!r}{suggestion(key, options)}")
        for name, option in options.items():
            if option.required and name not in settings:
                raise ConfigError(f"{where}: {entry.name} needs the option {name!r} ({option.doc})")
        values = {key: self._value(options[key], value, where) for key, value in settings.items()}
        if "parser" not in options or _injected_type(options["parser"].type) is not Parser:
            return self._make(entry, values, where)
        if values.get("parser") is None and isinstance(values.get("model"), Path):
            k = values.get("k", options["k"].default) if "k" in options else None
            values["parser"] = self._parser_of_model(values["model"], k, where)
        plugin = self._make(entry, values, where)
        tuple(plugin.parsers)  # a parser of another language is an error now, not after the features before this one
        return plugin

    def _of_language(
        self, plugin: str, options: Mapping[str, Option], settings: Mapping[str, Any], where: str
    ) -> dict[str, Any]:
        """The options that a plugin gets for the language. Raises ModelError where the language has no such model."""
        required = [name for name, option in options.items() if option.required]
        try:
            return defaults_of(self.language, plugin, required, settings)
        except ModelError as error:
            raise ModelError(f"{where}: {error}") from None

    def _parser_of_model(self, model: Path, k: int | None, where: str) -> Any:
        """The parser of a model's trees, with its cache; None where there is none.

        It is one for `k` trees of a sentence where it gives several.
        """
        from rerank_adapters.chain.model_parsers import parser_table  # which reads the headers of model files

        table = parser_table(model, self.language)
        if not table:
            return None
        entry = self.registry.entries["parser"].get(table["use"])
        if k is not None and entry and any(option.name == "k" for option in entry.options()):
            table["k"] = k
        return self._once("parser", identity(table), table, f"{where}: the parser of {model}")

    def _make(self, entry: Entry, values: Mapping[str, Any], where: str) -> Any:
        try:
            return make(entry, values)
        except RerankError:
            raise
        except ValueError as error:  # from __post_init__: the values contradict each other
            raise ConfigError(f"{where}: {entry.name}: {error}") from error

    def _value(self, option: Option, value: Any, where: str) -> Any:
        injected = _injected_type(option.type)
        if get_origin(option.type) is tuple and value is not None and not isinstance(value, list | tuple):
            value = [_alone(value, f"{where}: option {option.name!r}")]
        if injected and isinstance(value, list | tuple):
            return tuple(self._injected(injected, option, named, where) for named in value)
        if injected and value is not None:
            return self._injected(injected, option, value, where)
        from pydantic import TypeAdapter, ValidationError

        try:
            checked = TypeAdapter(option.type).validate_python(value)
        except ValidationError as error:
            problem = error.errors()[0]["msg"]
            message = f"{where}: option {option.name!r} is {value!r}; wanted {option.type_name}: {problem}"
            raise ConfigError(message) from None
        return resolve(checked, self.base) if isinstance(checked, Path) else checked

    def _injected(self, type_: type, option: Option, value: Any, where: str) -> Any:
        kind, here = INJECTED[type_], f"{where}: option {option.name!r}"
        if isinstance(value, Mapping):
            plugin = self._once(kind, identity(value), value, f"{where}: {option.name}")
        elif isinstance(value, str):
            plugin = self.named_object(kind, value, here)
        elif isinstance(value, type_):
            plugin = value
        else:
            raise ConfigError(f"{here} is {value!r}; wanted the name or the table of a {kind}")
        if type_ is not LanguageModel:
            return plugin
        from rerank_plugins.kit.language_models import with_words

        return with_words(plugin, f"{here} is {value!r}")

    def named_object(self, kind: str, name: str, where: str) -> Any:
        """The parser, language model or metric of that name, built once."""
        table = self.named.get(kind, {}).get(name)
        if table is None and self.registry.find(kind, name) is None:
            available = [*self.named.get(kind, {}), *self.registry.entries[kind]]
            message = f"{where}: no {kind} named {name!r}{suggestion(name, available)}"
            raise ConfigError(f"{message}{self.registry.left_out(kind, name)}")
        return self._once(kind, name, {"use": name} if table is None else table, f"[{kind}.{name}]")

    def is_named_model(self, use: str) -> bool:
        """Whether a feature of that name is a language model of the config; a registered name takes precedence."""
        return use in self.named.get("language_model", {}) and use not in self.registry.known("feature")

    def _once(self, kind: str, key: str, table: Mapping[str, Any], where: str) -> Any:
        if (kind, key) not in self._built:
            self._built[kind, key] = self.shared_object(kind, table, where)
        return self._built[kind, key]

    def shared_object(self, kind: str, table: Mapping[str, Any], where: str, *more: object) -> Any:
        """The object of a table, a parser with its cache: one that is `shared`, if there is an equal one.

        Objects are equal if all that they are made of is, and `more`, whatever that is.
        """
        key = None if self.shared is None else self._fingerprint(kind, table, more)
        plugin = self.shared.get(key) if self.shared is not None and key is not None else None
        if plugin is None:
            plugin = self.build(kind, table, where)
            if kind == "parser":
                from rerank_plugins.kit.files.cached_parser import CachedParser

                plugin = CachedParser(plugin)
            self._keep(key, plugin)
        return plugin

    def share(self, plugin: Any, kind: str, table: Mapping[str, Any]) -> None:
        """Let builders with the same `shared` objects take this plugin for the table that describes it."""
        self._keep(self._fingerprint(kind, table, ()), plugin)

    def _keep(self, key: str | None, plugin: Any) -> None:
        if self.shared is not None and key is not None:
            with suppress(TypeError):  # of an object that no weak reference can be made of
                self.shared[key] = plugin

    def _fingerprint(self, kind: str, table: Mapping[str, Any], more: object) -> str | None:
        """A hash of all that an object is made of, its files by date and size; None if some of it is an object.

        A language model has one fingerprint, whether it is asked for as that or as a feature.
        """
        entry = self.registry.find(kind, str(table.get("use")))
        if entry is None or entry.owner == OBJECT or self.named.get(kind) or self.named.get(entry.kind):
            return None
        options = {option.name: option.type_name for option in entry.options()}
        files = {key: self._absolute(value) for key, value in table.items() if "Path" in options.get(key, "")}
        inner = any(isinstance(value, Mapping) for value in table.values())  # whose paths are relative to the base
        try:
            plain = json.loads(json.dumps([{**table, **files}, more], default=_plain))
        except TypeError:
            return None
        stats = [(text, self._file_state(text)) for text in texts_in(plain) if text]
        return identity(
            [entry.kind, entry.owner, str(self.base.absolute()) * inner, self.language or ENGLISH, plain, stats]
        )

    def _file_state(self, text: str) -> tuple[int, int] | None:
        """The state of the file that a text names; None if it names none."""
        try:
            return file_state(resolve(text, self.base))
        except ConfigError:  # a `$` that begins no variable
            return None


def _plain(value: object) -> str:
    if isinstance(value, Path):
        return str(value)
    raise TypeError


def texts_in(value: object) -> Iterator[str]:
    """The texts in tables, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from texts_in(part)


def file_state(path: Path) -> tuple[int, int] | None:
    """When a file changed last, in ns, and its size in bytes; None if there is none."""
    try:
        stat = path.stat()
    except (OSError, ValueError):
        return None
    return stat.st_mtime_ns, stat.st_size


def _alone(value: Any, here: str) -> Any:
    """A value in the place of a list. Raises ConfigError for a text that looks like several: they would be one."""
    if isinstance(value, str) and "," in value and "=" not in value:  # NAME=VALUE,VALUE is one axis
        listed = [part.strip() for part in value.split(",")]
        raise ConfigError(f"{here} is {value!r}, which is one value; wanted a list: {listed}")
    return value


def injected_kind(type_: Any) -> str | None:
    """The kind of a field typed `Parser`, `Parser | None`, `tuple[Parser, ...]` and so on; None for other types."""
    injected = _injected_type(type_)
    return INJECTED[injected] if injected else None


def _injected_type(type_: Any) -> type | None:
    return next((part for part in (type_, *get_args(type_)) if part in INJECTED), None)
