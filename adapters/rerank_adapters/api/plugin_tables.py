"""Tables for plugins that a Python user names or has made: a config holds tables, and weights record them.

An object of a registered class becomes the table of its options, and the job uses that very object. Of an object that
no plugin registers, only its label is recorded: the class is the user's, and the object must be given again when the
weights are loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, MutableMapping
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

from rerank_adapters.chain.builder import OBJECT, Builder
from rerank_adapters.chain.job import OURS
from rerank_adapters.chain.loading import check_object, entry_and_table, label_of, load, several
from rerank_plugins import ConfigError, Metric, Parser, SentenceModel
from rerank_plugins.core.registry import Entry, Registry, place_of
from rerank_plugins.kit.files.cached_parser import CachedParser

INNER: dict[type, str] = {Parser: "parser", SentenceModel: "language_model", Metric: "metric"}
NO_TABLE = object()  # what stands for a value that no table can hold


class PluginTables:
    """Makes the tables of a job's plugins; the job's registry also has the objects that no plugin registers.

    `models` are the names of language models that a config describes, which are features by these names; `shared` gets
    the objects of registered classes.
    """

    def __init__(
        self, registry: Registry, models: Collection[str] = (), shared: MutableMapping[Hashable, Any] | None = None
    ) -> None:
        entries = {kind: dict(known) for kind, known in registry.entries.items()}
        self.registry = Registry(entries, registry.manager, registry.builtin, registry.files, registry.failures)
        self.models, self.shared = models, shared
        self.objects: dict[str, Any] = {}  # by label, those that no plugin registers

    def all_of(self, specs: object, kind: str) -> list[dict[str, Any]]:
        """The tables of one or many plugins, each as `load` takes it; a mapping without `use` has labels of its own."""
        if isinstance(specs, Mapping) and "use" not in specs:
            return [{**self.of(spec, kind, str(label)), "label": str(label)} for label, spec in specs.items()]
        return [self.of(spec, kind) for spec in several(specs)]

    def of(self, spec: object, kind: str, label: str = "") -> dict[str, Any]:
        """The table of a plugin; `label` is the name of an object that has none. Raises what `load` raises."""
        if not isinstance(spec, str | Path | Mapping):
            return self._of_object(check_object(spec, kind), kind, label)
        if kind == "feature" and isinstance(spec, Mapping) and spec.get("use") in self.models:
            return dict(spec)
        entry, table = entry_and_table(self.registry, spec, kind)
        own = {option.name for option in entry.options()}
        ours = {key: table.pop(key) for key in (*OURS, "margin") if key in table and key not in own}
        if all(_plain(value) is not NO_TABLE for value in table.values()):
            return {key: _plain(value) for key, value in table.items()} | ours
        return self.of(load(table, kind), kind, label) | ours

    def _of_object(self, plugin: Any, kind: str, label: str) -> dict[str, Any]:
        table = table_of(plugin, kind, self.registry)
        if table is not None:
            Builder(self.registry, Path.cwd(), shared=self.shared).share(plugin, kind, table)
            return table
        label = label or label_of(plugin)
        if label in self.registry.known(kind):
            raise ConfigError(f"two {kind.replace('_', ' ')}s are called {label!r}: name them, as in {{name: plugin}}")
        self.objects[label] = plugin
        self.registry.entries[kind][label] = Entry(kind, label, _always(plugin), OBJECT)
        return {"use": label}


def table_of(plugin: Any, kind: str, registry: Registry) -> dict[str, Any] | None:
    """The table that makes an equal plugin, without the options at their defaults; None if there is none.

    >>> from rerank_adapters import load
    >>> from rerank_adapters.chain.loading import all_plugins
    >>> table_of(load("chrf", word_order=2), "metric", all_plugins())
    {'use': 'chrf', 'word_order': 2}
    """
    plugin = plugin.parser if isinstance(plugin, CachedParser) else plugin
    of_class = (entry for entry in registry.known(kind).values() if entry.place == place_of(type(plugin)))
    entry = next((entry for entry in of_class if entry.factory is type(plugin)), None)
    if entry is None or not is_dataclass(plugin):
        return None
    table: dict[str, Any] = {"use": entry.name}
    for option in entry.options():
        value = getattr(plugin, option.name)
        if option.required or not _equal(value, option.default):
            table[option.name] = _plain(value, registry)
    return None if NO_TABLE in table.values() else table


def _equal(value: object, default: object) -> bool:
    return value is default or (type(value) is type(default) and bool(value == default))


def _plain(value: Any, registry: Registry | None = None) -> Any:
    """A value as tables hold it; NO_TABLE for one that they cannot hold, as None that is no default."""
    if isinstance(value, Path):
        return str(value.absolute())
    if isinstance(value, str | int | float):
        return value
    if isinstance(value, list | tuple):
        items = [_plain(item, registry) for item in value]
        return NO_TABLE if any(item is NO_TABLE for item in items) else items
    if isinstance(value, Mapping):
        table = {str(key): _plain(item, registry) for key, item in value.items()}
        return NO_TABLE if any(item is NO_TABLE for item in table.values()) else table
    kind = next((kind for type_, kind in INNER.items() if isinstance(value, type_)), None)
    inner = table_of(value, kind, registry) if kind and registry is not None else None
    return NO_TABLE if inner is None else inner


def _always(plugin: Any) -> Callable[[], Any]:
    return lambda: plugin


def recorded_tuner(provenance: Mapping[str, Any], registry: Registry) -> dict[str, Any] | str:
    """The table of the tuner that weights record, or the name of the usual one where they record no registered one."""
    for entry in registry.entries["tuner"].values():
        if provenance.get("tuner") == entry.place.replace(":", "."):
            options = provenance.get("options", {})
            known = options if isinstance(options, Mapping) else {}
            chosen = {o.name: known[o.name] for o in entry.options() if known.get(o.name, o.default) != o.default}
            return {"use": entry.name} | chosen
    return "mira"
