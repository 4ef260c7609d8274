"""Builds objects from config tables: `{use = "ngram-lm", model = "lm.arpa"}` becomes an extractor.

The value of a field typed `Parser`, `SentenceModel`, `LanguageModel` or `Metric` is a name: that of a table in the
config (`[parser.ud]`) or of a registered plugin that needs no options. Each named object is built once, and every
parser is wrapped in a cache. A parser that is left out is the one that the plugin's `model` was trained with. A field
typed `LanguageModel` takes models that give probabilities to words alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast, get_args

from rerank_plugins.errors import ConfigError, PluginError, RerankError
from rerank_plugins.interfaces import LanguageModel, Metric, Parser, SentenceModel
from rerank_plugins.language_models.abilities import with_words
from rerank_plugins.parsers.cached import CachedParser
from rerank_plugins.parsers.of_models import recorded_parser
from rerank_plugins.paths import resolve
from rerank_plugins.registry import Entry, Option, Registry, suggestion

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
    """

    registry: Registry
    base: Path = Path()
    named: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    _built: dict[tuple[str, str], Any] = field(default_factory=dict)

    def build(self, kind: str, table: Mapping[str, Any], where: str = "") -> Any:
        """The object that a table describes; `where` names the table in errors, as in `[[feature]] 2`.

        Raises ConfigError for a missing `use` and for an unknown, missing or ill-typed option, PluginError for an
        unknown name, ModelError for a parser of another language than the model's.
        """
        where = where or f"[{kind}]"
        if "use" not in table:
            raise ConfigError(f"{where}: missing key 'use' (one of: {', '.join(self.registry.entries[kind])})")
        try:
            entry = self.registry.get(kind, table["use"])
        except PluginError as error:
            raise PluginError(f"{where}: {error}") from None
        options = {option.name: option for option in entry.options()}
        settings = {key: value for key, value in table.items() if key != "use"}
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
            values["parser"] = self._recorded_parser(values["model"], k, where)
        made = self._make(entry, values, where)
        made.parsers  # noqa: B018  a parser of another language is an error now, not after the features before this one
        return made

    def _recorded_parser(self, model: Path, k: int | None, where: str) -> CachedParser | None:
        """The parser of a model's trees, if one is recorded; for `k` trees of a sentence where it gives several."""
        table = recorded_parser(model)
        if not table:
            return None
        entry = self.registry.entries["parser"].get(table["use"])
        if k is not None and entry and any(option.name == "k" for option in entry.options()):
            table["k"] = k
        key = "parser", json.dumps(table, sort_keys=True)
        if key not in self._built:
            plugin = self.build("parser", table, f"{where}: the parser of {model}")
            self._built[key] = CachedParser(plugin)
        return cast(CachedParser, self._built[key])

    def _make(self, entry: Entry, values: Mapping[str, Any], where: str) -> Any:
        try:
            return entry.factory(**values)
        except RerankError:
            raise
        except ValueError as error:  # from __post_init__: the values contradict each other
            raise ConfigError(f"{where}: {entry.name}: {error}") from error

    def _value(self, option: Option, value: Any, where: str) -> Any:
        injected = _injected_type(option.type)
        if injected and isinstance(value, list | tuple):
            return tuple(self._injected(injected, name, f"{where}: option {option.name!r}") for name in value)
        if injected and value is not None:
            return self._injected(injected, value, f"{where}: option {option.name!r}")
        from pydantic import TypeAdapter, ValidationError

        try:
            checked = TypeAdapter(option.type).validate_python(value)
        except ValidationError as error:
            problem = error.errors()[0]["msg"]
            message = f"{where}: option {option.name!r} is {value!r}; wanted {option.type_name}: {problem}"
            raise ConfigError(message) from None
        return resolve(checked, self.base) if isinstance(checked, Path) else checked

    def _injected(self, type_: type, name: str, where: str) -> Any:
        plugin = self.named_object(INJECTED[type_], name, where)
        return with_words(plugin, f"{where} is {name!r}") if type_ is LanguageModel else plugin

    def named_object(self, kind: str, name: str, where: str) -> Any:
        """The parser, language model or metric of that name, built once."""
        if (kind, name) not in self._built:
            table = self.named.get(kind, {}).get(name)
            if table is None and name not in self.registry.entries[kind]:
                available = [*self.named.get(kind, {}), *self.registry.entries[kind]]
                message = f"{where}: no {kind} named {name!r}{suggestion(name, available)}"
                raise ConfigError(f"{message}{self.registry.left_out(kind, name)}")
            table = {"use": name} if table is None else table
            plugin = self.build(kind, table, f"[{kind}.{name}]")
            self._built[kind, name] = CachedParser(plugin) if kind == "parser" else plugin
        return self._built[kind, name]


def _injected_type(type_: Any) -> type | None:
    """`Parser` for a field typed `Parser`, `Parser | None`, `tuple[Parser, ...]` and so on; None for other types."""
    return next((part for part in (type_, *get_args(type_)) if part in INJECTED), None)
