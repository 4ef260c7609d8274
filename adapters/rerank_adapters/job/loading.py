"""Loads plugins for Python users: by name, with options, as a table, as an object, or by the file of a model.

What is loaded twice with equal options is one object: as long as somebody uses a parser or a model, nobody reads it
again.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar, cast

from rerank_adapters.builtin import BUILTIN
from rerank_adapters.job.models import reader
from rerank_adapters.job.names import Names
from rerank_adapters.job.notation import plugin_table
from rerank_adapters.job.specs import Spec
from rerank_adapters.text import TextPipeline, is_step
from rerank_plugins import (
    ConfigError,
    Parser,
    PluginError,
    SentenceFeature,
)
from rerank_plugins.core.errors import suggestion
from rerank_plugins.core.loader import load_plugins
from rerank_plugins.core.plugins import KINDS, OF_FEATURES, Entry, Registry, interface_of
from rerank_plugins.core.sentences import read_texts
from rerank_plugins.kit.files.cached_parser import CachedParser
from rerank_plugins.kit.files.languages import ENGLISH
from rerank_plugins.kit.files.model_file import is_model_file, read_trained_on

USUAL_STEPS = ("penn-tokenize",)  # of the commands, for a model that does not say what its text went through
Made = TypeVar("Made")
READING = ("language_model", "parser", "feature")  # kinds of plugins that read model files


def load(
    name_or_file: object, kind: str | None = None, *, language: str = "", text: object = None, **options: Any
) -> Any:
    """The plugin of that name or that file, or the object itself: `load` of applications/loading.py, for plugins.

    >>> load("length")
    LengthFeature()
    """
    if kind is not None and kind not in KINDS:
        raise ConfigError(f"kind is {kind!r}{suggestion(kind, KINDS)}")
    if not isinstance(name_or_file, str | Path | Mapping):
        if options:
            named = f"options ({', '.join(options)}) belong to a name"
            raise TypeError(f"{named}; {type(name_or_file).__name__} is an object")
        return check_object(name_or_file, kind)
    registry = all_plugins()
    entry, table = entry_and_table(registry, name_or_file, kind)
    own = {option.name for option in entry.options()}
    table |= options
    if language and "language" in own:
        table["language"] = language
    if "text" in own and text is not None:
        table["text"] = text
    ours = {key: table.pop(key) for key in OF_FEATURES if key != "use" and key in table and key not in own}
    names = Names(registry, Path.cwd(), language=language or ENGLISH)
    steps = ours.get("text", text)
    spec = Spec.read(entry.kind, table, names, f"load({entry.name!r})")
    plugin = spec.make(*([] if steps is None else [steps]))
    if isinstance(plugin, Parser | SentenceFeature):
        read_texts(plugin, _Steps(plugin, steps))
    return plugin


def load_all(specs: object, kind: str | None = None, *, language: str = "", text: object = None) -> dict[str, Any]:
    """One or many plugins of a kind by label: `load_all` of applications/loading.py, for plugins."""
    named = labelled(specs, kind)
    return {label: load(spec, kind, language=language, text=text) for label, spec in named.items()}


def labelled(specs: object, kind: str | None = None) -> dict[str, Any]:
    """One or many values that `load` takes, by label. Raises ConfigError for equal ones, TypeError for none at all.

    >>> labelled(["length", {"use": "unigram", "label": "words"}])
    {'length': 'length', 'words': {'use': 'unigram', 'label': 'words'}}
    """
    if isinstance(specs, Mapping) and "use" not in specs:
        named = [(str(label), spec) for label, spec in specs.items()]
    else:
        named = [(label_of(spec), spec) for spec in several(specs)]
    if not named:
        raise TypeError(f"wanted at least one {(kind or 'plugin').replace('_', ' ')}, found none")
    by_label: dict[str, Any] = {}
    for label, spec in named:
        if label in by_label:
            raise ConfigError(f"two are called {label!r}: give one a label, as in {{label: model}}")
        by_label[label] = spec
    return by_label


def several(specs: object) -> list[Any]:
    """The plugins of a list, or the one that is no list."""
    single = isinstance(specs, (str, Path, Mapping, type, *map(interface_of, KINDS))) or not isinstance(specs, Iterable)
    return [specs] if single else list(specs)  # type: ignore[call-overload]


def label_of(spec: object) -> str:
    """The label of a value that `load` takes: see `load_all`."""
    if isinstance(spec, Path):
        return spec.name
    if isinstance(spec, Mapping):
        return str(spec.get("label", spec.get("use")))
    if isinstance(spec, str):
        return Path(spec).name if Path(spec).is_file() else str(plugin_table(spec).get("label", spec))
    if getattr(spec, "loaded_as", None) == "measure":
        model = getattr(spec, "model", "")
        return str(
            getattr(spec, "name", "") or (Path(model).name if isinstance(model, str | Path) else type(spec).__name__)
        )
    return type(spec.parser if isinstance(spec, CachedParser) else spec).__name__


def file_of(spec: str | Path | Mapping[str, Any]) -> Path | None:
    """The file of that name, if there is one."""
    path = "" if isinstance(spec, Mapping) else os.path.expanduser(spec)
    return Path(path) if os.path.isfile(path) else None


def table_of_name(spec: str | Path | Mapping[str, Any]) -> dict[str, Any]:
    """The table of a name with its options, under `use`. Raises ConfigError for a table without it."""
    table = dict(spec) if isinstance(spec, Mapping) else plugin_table(str(spec))
    if not isinstance(table.get("use"), str):
        raise ConfigError(f"a table of a plugin wants its name under 'use', found {table!r:.60}")
    return table


def made(class_: type[Made], named: Mapping[str, Any], options: Mapping[str, Any], name: str) -> Made:
    """The object of a dataclass that is no plugin, with options. Raises ConfigError for an unknown one."""
    known = [field.name for field in fields(cast("Any", class_)) if field.init and field.name not in named]
    for key in options:
        if key not in known:
            raise ConfigError(f"{name} has no option {key!r}{suggestion(key, known)}")
    return class_(**named, **options)


def all_plugins() -> Registry:
    """A registry of all plugins; one that cannot be loaded is left out with a warning."""
    registry = load_plugins(BUILTIN)
    for failure in registry.failures:
        warnings.warn(str(failure), stacklevel=3)
    return registry


def config_tables(specs: object, kind: str, names: Names) -> list[dict[str, Any]]:
    """The config tables of one or many plugins, each as `load` takes it, or by label. Raises what `load` raises."""
    if isinstance(specs, Mapping) and "use" not in specs:
        return [{**config_table(spec, kind, names), "label": str(label)} for label, spec in specs.items()]
    return [config_table(spec, kind, names) for spec in several(specs)]


def config_table(spec: object, kind: str, names: Names) -> dict[str, Any]:
    """The config table of a plugin as `load` takes it; an object stands under `use`. Raises what `load` raises."""
    if not isinstance(spec, str | Path | Mapping):
        return {"use": check_object(spec, kind)}
    if kind == "feature" and isinstance(spec, Mapping) and spec.get("use") in names.tables.get("language_model", {}):
        return dict(spec)
    _, table = entry_and_table(names.registry, spec, kind)
    if isinstance(spec, str) and "," in spec:
        return names.written(kind, spec)
    return {key: value.absolute() if isinstance(value, Path) else value for key, value in table.items()}


def check_object(plugin: object, kind: str | None) -> object:
    """The plugin itself. Raises TypeError for a value that is not a plugin, is one of another kind, or is a class."""
    wanted = f"a {kind.replace('_', ' ')}" if kind else "a plugin"
    if isinstance(plugin, type):
        raise TypeError(f"wanted {wanted}, found the class {plugin.__name__}: write {plugin.__name__}()")
    interface = interface_of(kind) if kind else tuple(map(interface_of, KINDS))
    if not isinstance(plugin, interface):
        raise TypeError(f"wanted {wanted}, found {plugin!r:.60}")
    return plugin


def entry_and_table(
    registry: Registry, spec: str | Path | Mapping[str, Any], kind: str | None
) -> tuple[Entry, dict[str, Any]]:
    """The entry of a plugin, and its table with `use`. Raises what `load` raises."""
    if isinstance(spec, Mapping):
        table = table_of_name(spec)
        return _named(registry, table["use"], kind), table
    name = spec.partition(",")[0] if isinstance(spec, str) else ""
    if name and kinds_of(registry, name, kind):
        return _named(registry, name, kind), plugin_table(str(spec))
    path = Path(spec).expanduser()
    if isinstance(spec, Path) or os.path.exists(path) or _looks_like_file(spec):
        kinds = READING if kind is None else ("language_model", kind) if kind == "feature" else (kind,)
        entry = reader(registry, path, kinds)  # a language model is a feature
        return entry, {"use": entry.name, "model": str(path.resolve())}
    return _named(registry, name, kind), {}


def _looks_like_file(text: str) -> bool:
    return "," not in text and ("/" in text or "." in text)


def kinds_of(registry: Registry, name: str, kind: str | None) -> list[str]:
    """The kinds of the plugins of that name; that of a trainer only if there is no other."""
    if kind is not None:
        return [kind] if name in registry.known(kind) else []
    kinds = [kind for kind, entries in registry.entries.items() if name in entries]
    return [kind for kind in kinds if kind != "trainer"] or kinds


def _named(registry: Registry, name: str, kind: str | None) -> Entry:
    kinds = kinds_of(registry, name, kind)
    if len(kinds) > 1:
        what = " and ".join(f"a {kind.replace('_', ' ')}" for kind in kinds)
        how = " or ".join(f"kind={kind!r}" for kind in kinds)
        raise ConfigError(f"{name!r} is the name of {what}: say which by {how}")
    if kind or kinds:
        return registry.get(kind or kinds[0], name)
    known = {known for entries in registry.entries.values() for known in entries}
    raise PluginError(f"no plugin named {name!r}{suggestion(name, known)}{registry.left_out()}")


class _Steps:
    """The text steps of a plugin: those named, or else those of the text that its model was trained on."""

    def __init__(self, plugin: object, steps: object) -> None:
        self.model = getattr(plugin.parser if isinstance(plugin, CachedParser) else plugin, "model", None)
        self.pipeline = None if steps is None else TextPipeline(steps)  # type: ignore[arg-type]

    def __call__(self, texts: Any) -> list[str]:
        if not texts:
            return []
        if self.pipeline is None:
            self.pipeline = TextPipeline(trained_steps(self.model))
        return self.pipeline.apply(texts)


def trained_steps(model: Path | None) -> tuple[str, ...]:
    """The text steps that the text of a model file went through, or the usual ones where none are recorded.

    Raises ConfigError for steps that have a file, which is not known here.
    """
    recorded = read_trained_on(model).text if isinstance(model, Path) and is_model_file(model) else ""
    if recorded in ("", "none"):
        return USUAL_STEPS
    steps = tuple(step.partition("(")[0] for step in recorded.split("+"))
    if not all(map(is_step, steps)) or any("sha256-" in step for step in steps):
        raise ConfigError(f"{model}: trained on text after {recorded}: name these steps by `text=`")
    return steps
