"""A plugin by its entry and its options: the one form of tables, NAME,option=value, objects and records.

A `Spec` is read where a plugin is named, and everything is resolved there: names of tables, relative paths, the models
of the config's language, the parser of a model's trees. Behind that door there are no names.

The value of an option typed `Parser`, `SentenceModel`, `LanguageModel` or `Metric` is a name (that of a config table,
`[parser.ud]`, or of a registered plugin), a table, or an object. A parser that is left out is the one that the plugin's
`model` was trained with. In the place of a list there may be a single value.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, is_dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import TypeAdapter, ValidationError

from rerank_adapters.text import KINDS, TextPipeline, in_language, is_step, split_steps
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
from rerank_plugins.core.errors import suggestion
from rerank_plugins.core.files import resolve
from rerank_plugins.core.identity import identity
from rerank_plugins.core.json_and_toml import read_toml_table
from rerank_plugins.core.plugins import RESERVED, Entry, Option, Registry, make, place_of
from rerank_plugins.kit.files.cached_parser import CachedParser, usual_parser
from rerank_plugins.kit.files.in_use import objects_in_use
from rerank_plugins.kit.files.languages import defaults_of
from rerank_plugins.kit.language_models import with_words

INJECTED: Mapping[type, str] = {  # types of options whose values are plugins, and the kinds of these
    Parser: "parser",
    LanguageModel: "language_model",
    SentenceModel: "language_model",
    Metric: "metric",
}
SET = "{set}"  # what stands for the name of the data set in the options of a feature
NEVER_SHARED = ("format", "trainer")  # kinds of plugins with a state
OBJECT = "an object of Python"  # the owner of the entry of an object that no plugin registers


@dataclass(frozen=True)
class Names:
    """What names mean: plugins, the tables and text pipelines of a config, and the folder that its paths start from.

    `language` is the code of the language whose models are used where none is named; empty: English.
    """

    registry: Registry
    base: Path = Path()
    tables: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)  # by kind and name
    pipelines: Mapping[str, Sequence[str]] = field(default_factory=dict)
    language: str = ""

    @property
    def own_models(self) -> Mapping[str, Mapping[str, Any]]:
        """The tables of the config's language models, which are features too."""
        return self.tables.get("language_model", {})

    def pipeline(self, given: object, where: str, *, of_source: bool = False) -> TextPipeline:
        """The text pipeline of a value: the name of one in `[text]`, steps joined by `+`, or a list of both.

        None is a pipeline without steps. Steps change case as the config's language does, unless the text is that
        `of_source`. Raises ConfigError, which begins with `where`, for a name that is neither a pipeline nor a step.
        """
        steps: list[str] = []
        for name in (given,) if isinstance(given, str) and given in self.pipelines else split_steps(given, where):
            if name in self.pipelines:
                steps += split_steps(list(self.pipelines[name]))
            elif is_step(name):
                steps.append(name)
            else:
                known = suggestion(name, [*self.pipelines, *KINDS])
                raise ConfigError(f"{where}: no text pipeline or step named {name!r}{known}")
        language = "" if of_source else self.language
        return TextPipeline([in_language(step, language) for step in steps], self.base)


@dataclass(frozen=True)
class Spec:
    """A plugin's entry with its options: a path is absolute, and a plugin in an option is a Spec.

    The options named in `implied` follow from the language and from the model; they are not recorded, as they follow
    again. `where` names the place in errors, and `name` the table of the config that the plugin was named by. `plugin`
    is the object, where it was given as one.
    """

    entry: Entry
    options: Mapping[str, Any] = field(default_factory=dict)
    implied: frozenset[str] = frozenset()
    where: str = field(default="", compare=False)
    name: str = field(default="", compare=False)
    plugin: Any = field(default=None, compare=False)

    @classmethod
    def read(cls, kind: str, given: object, names: Names, where: str = "", base: Path | None = None) -> Spec:
        """The spec of a table, of NAME,option=value, or of an object or a spec, which may also stand under `use`.

        Paths start from `base`: those of a table from the folder of the config, those of a text from the present one.
        `where` names the place in errors, as in `[[feature]] 2`. Raises ConfigError for a missing `use` and for an
        unknown, missing or ill-typed option, PluginError for an unknown name, and ModelError where the language has no
        such model.
        """
        where = where or f"[{kind}]"
        if isinstance(given, str):
            given, base = plugin_table(given), Path.cwd()
        if not isinstance(given, Mapping):
            return cls.of(kind, given, names)
        if "use" not in given:
            raise ConfigError(f"{where}: missing key 'use' (one of: {', '.join(names.registry.known(kind))})")
        use, table = given["use"], {key: value for key, value in given.items() if key != "use"}
        if not isinstance(use, str):
            return cls.of(kind, use, names)
        if kind == "feature" and not table and use in names.own_models and names.registry.find(kind, use) is None:
            return cls.named("language_model", use, names, where)
        try:
            entry = names.registry.get(kind, use)
        except PluginError as error:
            raise PluginError(f"{where}: {error}") from None
        known = {option.name: option for option in entry.options()}
        required = [name for name, option in known.items() if option.required]
        try:
            of_language = defaults_of(names.language, use, required, table)
        except ModelError as error:
            raise ModelError(f"{where}: {error}") from None
        for key in table.keys() - known.keys():
            raise ConfigError(f"{where}: {use} has no option {key!r}{suggestion(key, known)}")
        for name in required:
            if name not in table and name not in of_language:
                raise ConfigError(f"{where}: {use} needs the option {name!r} ({known[name].doc})")
        read = _Reader(names, where, names.base if base is None else base)
        options = {key: read.value(known[key], value) for key, value in {**of_language, **table}.items()}
        options |= read.parser_of_model(known, options)
        return cls(entry, options, frozenset(key for key in options if table.get(key) is None), where)

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
        if isinstance(plugin, cls):
            return plugin
        inner = plugin.parser if isinstance(plugin, CachedParser) else plugin
        same_place = (e for e in names.registry.known(kind).values() if e.place == place_of(type(inner)))
        entry = next((entry for entry in same_place if entry.factory is type(inner)), None)
        if entry is not None and is_dataclass(inner):
            changed = [(o, value) for o in entry.options() if _differs(value := getattr(inner, o.name), o)]
            read = _Reader(names, entry.name, Path.cwd())
            with suppress(ConfigError):  # a value that no table holds
                options = {option.name: read.value(option, value) for option, value in changed}
                spec = cls(entry, options, where=entry.name, plugin=plugin)
                if not spec.is_object and None not in options.values():
                    return spec
        name = type(inner).__name__
        return cls(Entry(kind, name, type(inner), OBJECT), where=name, plugin=plugin)

    @property
    def label(self) -> str:
        """What the plugin is called where nobody labels it: the name of its config table, or that of the plugin."""
        return self.name or self.entry.name

    def of_set(self, name: str) -> Spec:
        """The spec with the name of a data set in the place of {set}."""

        def named(value: Any) -> Any:
            return type(value)(str(value).replace(SET, name)) if isinstance(value, Path | str) else value

        return replace(self, options={key: named(value) for key, value in self.options.items()})

    @property
    def is_object(self) -> bool:
        """Whether no table can make the plugin again, as it is, or has, an object that no plugin registers."""
        return any(spec.entry.owner == OBJECT for spec in self.all())

    def all(self) -> Iterator[Spec]:
        """This spec, and those of the plugins in its options, at any depth."""
        yield self
        for spec in _parts(self.options.values(), Spec):
            yield from spec.all()

    def paths(self) -> Iterator[Path]:
        """The files of the plugin and of those in its options: equal ones in other places are not the same plugin's."""
        for spec in self.all():
            yield from _parts(spec.options.values(), Path)

    def make(self, *more: object) -> Any:
        """The plugin, a parser with its cache; equal plugins in use are one object, whoever asks for them.

        Plugins are equal if all that they are made of is, their classes included, since the file of a plugin may be
        loaded again; and if `more` is, whatever that is. Raises ConfigError where options contradict each other,
        PluginError for a constructor that fails, and ModelError for a parser of another language than the model's.
        """
        if self.plugin is not None:
            return self.plugin
        known = {option.name: option for option in self.entry.options()}
        try:
            new = make(self.entry, {key: self._made(known[key], value) for key, value in self.options.items()})
        except ValueError as error:  # from __post_init__: the values contradict each other
            raise ConfigError(f"{self.where}: {self.entry.name}: {error}") from error
        if _takes_parser(known):
            tuple(new.parsers)  # a parser of another language is an error now, not after the features before
        is_parser = self.entry.kind == "parser"
        plugin = CachedParser(new) if is_parser else new
        if self.entry.kind in NEVER_SHARED:
            return plugin
        try:
            same = identity(is_parser, new, list(map(str, self.paths())), *more)
        except (RerankError, OSError):  # an option that cannot be described, or a file that cannot be read yet
            return plugin
        with suppress(TypeError):  # of an object that no weak reference can be made of
            plugin = objects_in_use().setdefault((same, *(spec.entry.factory for spec in self.all())), plugin)
        return plugin

    def _made(self, option: Option, value: Any) -> Any:
        """The value of an option for the constructor, with plugins in the place of specs."""
        if isinstance(value, tuple):
            return tuple(self._made(option, item) for item in value)
        if not isinstance(value, Spec):
            return value
        plugin = value.make()
        if injected_type(option.type) is not LanguageModel:
            return plugin
        return with_words(plugin, f"{self.where}: option {option.name!r} is {value.label!r}")

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

        told = {key: plain(v) for key, v in self.options.items() if v is not None and key not in self.implied}
        return {"use": self.entry.name, **told}


def plugin_table(text: str) -> dict[str, Any]:
    """The table of a plugin written as NAME,option=value,…. Raises ConfigError for another form.

    A value that is not TOML is a string. The value of an option that is a plugin itself is a name, or its table in
    braces. Words in a list need no quotation marks.

    >>> plugin_table("chrf,label=chrF++,word_order=2")
    {'use': 'chrf', 'label': 'chrF++', 'word_order': 2}
    >>> plugin_table("slr,lm={headlex,model=own.headlex},label=ratio")
    {'use': 'slr', 'lm': {'use': 'headlex', 'model': 'own.headlex'}, 'label': 'ratio'}
    >>> plugin_table("mean,metrics=[bleu,chrf]")
    {'use': 'mean', 'metrics': ['bleu', 'chrf']}
    >>> plugin_table("grid,axes=[LM=0:1:6,length=-1:1:5]")
    {'use': 'grid', 'axes': ['LM=0:1:6', 'length=-1:1:5']}
    """
    starts, depth = [0], 0  # of the parts between the commas before `option=` that no brackets enclose
    for place, character in enumerate(text):
        depth += (character in "{[") - (character in "}]")
        if character == "," and depth == 0 and re.match(r"[A-Za-z_][\w-]*=", text[place + 1 :]):
            starts.append(place + 1)
    name, *pairs = (text[start : end - 1] for start, end in zip(starts, [*starts[1:], len(text) + 1], strict=True))
    if not name or "=" in name:
        raise ConfigError(f"{text!r} does not start with a name; wanted NAME or NAME,option=value")
    table: dict[str, Any] = {"use": name}
    for key, _, value in (pair.partition("=") for pair in pairs):
        if key in table:
            raise ConfigError(f"{text!r} has the option {key!r} twice; wanted one value, or a list: {key}=[A,B]")
        table[key] = _written(value)
    return table


def _written(text: str) -> Any:
    """The value of an option as a user writes it."""
    if re.fullmatch(r"\{[^{},=]+,.*\}", text):
        return plugin_table(text[1:-1])
    if re.fullmatch(r"\[[^][{}\"']*[A-Za-z][^][{}\"']*\]", text):
        return [word.strip() for word in text[1:-1].split(",")]
    try:
        return read_toml_table(f"v = {text}")["v"]
    except tomllib.TOMLDecodeError:
        return text


def split_table(kind: str, given: str | Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any], Path | None]:
    """A plugin's table without the keys that are not the plugin's (`label`, `text`, `margin`), and these keys.

    The third value is the folder that its paths start from, where it is written as NAME,option=value.
    """
    table, base = (plugin_table(given), Path.cwd()) if isinstance(given, str) else (dict(given), None)
    ours = RESERVED[kind].keys() - {"use"}
    return {k: v for k, v in table.items() if k not in ours}, {k: v for k, v in table.items() if k in ours}, base


def injected_type(type_: Any) -> type | None:
    """The type of plugin in an option typed `Parser`, `Parser | None`, `tuple[Parser, ...]` and so on, or None."""
    return next((part for part in (type_, *get_args(type_)) if part in INJECTED), None)


def _differs(value: Any, option: Option) -> bool:
    """Whether a value is not the default of its option."""
    same = value is option.default or (type(value) is type(option.default) and bool(value == option.default))
    return option.required or not same


def _takes_parser(options: Mapping[str, Option]) -> bool:
    return "parser" in options and injected_type(options["parser"].type) is Parser


def _parts(values: Iterable[Any], type_: type) -> Iterator[Any]:
    """The values of a type, also those in tuples."""
    for value in values:
        yield from (item for item in (value if isinstance(value, tuple) else (value,)) if isinstance(item, type_))


@dataclass(frozen=True)
class _Reader:
    """Reads the options of one plugin, whose paths start from `base`."""

    names: Names
    where: str
    base: Path

    def value(self, option: Option, value: Any) -> Any:
        """The value of an option, checked by its type. Raises ConfigError for one that does not fit."""
        here = f"{self.where}: option {option.name!r}"
        if get_origin(option.type) is tuple and value is not None and not isinstance(value, list | tuple):
            if isinstance(value, str) and "," in value and "=" not in value:  # NAME=VALUE,VALUE is one axis
                listed = [part.strip() for part in value.split(",")]
                raise ConfigError(f"{here} is {value!r}, which is one value; wanted a list: {listed}")
            value = [value]
        if (injected := injected_type(option.type)) and value is not None:
            if isinstance(value, list | tuple):
                return tuple(self._plugin(injected, option, one) for one in value)
            return self._plugin(injected, option, value)
        try:
            checked = _adapter(option.type).validate_python(value)
        except ValidationError as error:
            problem = error.errors()[0]["msg"]
            raise ConfigError(f"{here} is {value!r}; wanted {option.type_name}: {problem}") from None
        several = checked if isinstance(checked, tuple) else (checked,)
        paths = tuple(resolve(one, self.base).absolute() if isinstance(one, Path) else one for one in several)
        return paths if isinstance(checked, tuple) else paths[0]

    def _plugin(self, type_: type, option: Option, value: Any) -> Spec:
        """The plugin in an option: a name, a table, or an object."""
        kind, here = INJECTED[type_], f"{self.where}: option {option.name!r}"
        if isinstance(value, str):
            return Spec.named(kind, value, self.names, here)
        if isinstance(value, Mapping):
            return Spec.read(kind, value, self.names, f"{self.where}: {option.name}", self.base)
        if not isinstance(value, Spec | (type_ if type_ is not LanguageModel else SentenceModel)):
            raise ConfigError(f"{here} is {value!r}; wanted the name or the table of a {kind}")
        return Spec.of(kind, value, self.names)

    def parser_of_model(self, known: Mapping[str, Option], options: Mapping[str, Any]) -> dict[str, Spec]:
        """The option `parser` for the trees of the plugin's model, where the plugin takes a parser and none is named.

        It is one for as many trees of a sentence as the plugin reads.
        """
        model = options.get("model")
        if not _takes_parser(known) or options.get("parser") is not None or not isinstance(model, Path):
            return {}
        if not (table := usual_parser(model, self.names.language)):
            return {}
        entry = self.names.registry.entries["parser"].get(table["use"])
        k = options.get("k", known["k"].default) if "k" in known else None
        if k is not None and entry and any(option.name == "k" for option in entry.options()):
            table["k"] = k
        return {"parser": Spec.read("parser", table, self.names, f"{self.where}: the parser of {model}")}


@lru_cache(maxsize=512)
def _adapter(type_: Any) -> Any:
    return TypeAdapter(type_)
