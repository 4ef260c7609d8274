"""Whatever names a plugin becomes a `Spec`: a name with options, a table, an object, or the file of a model.

`load` makes the plugin of it for users of Python. What is loaded twice with equal options is one object: as long as
somebody uses a parser or a model, nobody reads it again.
"""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar, cast

from rerank_adapters.builtin import BUILTIN
from rerank_adapters.job.specs import Names, Spec, plugin_table
from rerank_adapters.text import TextPipeline, is_step
from rerank_plugins import ConfigError, LanguageModel, Parser, PluginError, SentenceFeature, SentenceModel
from rerank_plugins.core.errors import suggestion
from rerank_plugins.core.loader import load_plugins
from rerank_plugins.core.plugins import KINDS, OF_FEATURES, Entry, Registry, interface_of
from rerank_plugins.core.sentences import read_texts
from rerank_plugins.kit.files.cached_parser import CachedParser
from rerank_plugins.kit.files.languages import ENGLISH
from rerank_plugins.kit.files.model_file import is_model_file, model_kind, read_trained_on
from rerank_plugins.kit.language_models import with_words
from rerank_plugins.ngram.arpa_files import is_kenlm_binary, open_arpa

ARPA = "ngram"  # the kind of n-gram models, which the files of other programs hold too
HEAD_BYTES = 1 << 16  # in which an ARPA file has its first line
READING = ("language_model", "parser", "feature")  # kinds of plugins that read model files
USUAL_STEPS = ("penn-tokenize",)  # of the commands, for a model that does not say what its text went through
Made = TypeVar("Made")

logger = logging.getLogger(__name__)


# --- from what names a plugin to its spec


@dataclass(frozen=True)
class Named:
    """A plugin that is named: its kind and table, the keys that are not the plugin's (`label`, `text`), and the folder
    that its paths start from, where it is not that of the config.
    """

    kind: str
    table: dict[str, Any]
    ours: dict[str, Any]
    base: Path | None

    @classmethod
    def read(
        cls, given: str | Path | Mapping[str, Any], names: Names, kind: str | None = None, **options: Any
    ) -> Named:
        """Find out what is named, of a kind or of any; `options` are added to its table. Raises as `spec_of`."""
        name = given.get("use") if isinstance(given, Mapping) else given if isinstance(given, str) else ""
        name, table = str(name).partition(",")[0], {"use": name}
        if isinstance(given, Mapping) or kinds_of(names.registry, name, kind):
            table = table_of_name(given)
        elif isinstance(given, Path) or os.path.exists(os.path.expanduser(given)) or _looks_like_file(given):
            path = Path(given).expanduser()
            kinds = READING if kind is None else ("language_model", kind) if kind == "feature" else (kind,)
            entry = reader(names.registry, path, kinds)  # a language model is a feature
            kind, name, table = entry.kind, entry.name, {"use": entry.name, "model": str(path.resolve())}
        kind = kind or _kind_of_name(names.registry, name)
        is_table = kind == "feature" and name in names.own_models
        own = set() if is_table else {option.name for option in names.registry.get(kind, name).options()}
        table |= {key: value for key, value in options.items() if key in own or key not in ("language", "text")}
        ours = {key: table.pop(key) for key in OF_FEATURES if key != "use" and key in table and key not in own}
        return cls(kind, table, ours, None if isinstance(given, Mapping) else Path.cwd())

    def spec(self, names: Names, where: str) -> Spec:
        """The spec of it. Raises as `Spec.read`."""
        return Spec.read(self.kind, self.table, names, where, self.base)


def spec_of(given: object, names: Names, kind: str, where: str = "") -> Spec:
    """The spec of whatever names a plugin of a kind: an object, a table, NAME,option=value, or the file of a model.

    A table of the config goes before a plugin of the same name, and this before a file. A Path is always that of a
    file, whose header says which plugin reads it. `where` names the place in errors. Raises ConfigError, PluginError
    and ModelError in one line, and TypeError for what is no such plugin.
    """
    if not isinstance(given, str | Path | Mapping):
        return Spec.of(kind, check_object(given, kind), names)
    if isinstance(given, str) and given in names.tables.get(kind, {}):
        return Spec.named(kind, given, names, where)
    try:
        meant = Named.read(given, names, kind)
    except PluginError as error:
        raise PluginError(f"{where or f'[{kind}]'}: {error}") from None
    return Spec.read(meant.kind, meant.table | meant.ours, names, where, meant.base)


def reader(registry: Registry, path: Path, kinds: tuple[str, ...]) -> Entry:
    """The plugin that reads a file, of one of these kinds.

    Raises ConfigError for a file that is missing, that no such plugin reads, or that several read: the caller is to
    name one of them. Raises ModelError for a header that cannot be read.
    """
    if not path.is_file():
        raise ConfigError(f"{path}: {'is a folder' if path.is_dir() else 'no such file'}; wanted a trained model")
    held = ARPA if is_kenlm_binary(path) else model_kind(path) or (ARPA if _is_arpa(path) else None)
    if held is None:
        raise ConfigError(f"{path}: wanted a trained model or an ARPA file; {_advice(path)}")
    several = {(e.kind, e.name): e for kind in kinds for e in registry.known(kind).values() if _reads(e, held)}
    found = list(several.values())  # a language model is among the features too
    if not found:
        wanted = f"a {kinds[0].replace('_', ' ')}" if len(kinds) == 1 else "a plugin"
        raise ConfigError(f"{path}: holds a model of the kind {held!r}, which is not read by {wanted}")
    if len(found) > 1:
        ways = " or ".join(f"load({entry.name!r}, kind={entry.kind!r}, model=…)" for entry in found)
        raise ConfigError(f"{path}: holds a model of the kind {held!r}, which several plugins read: {ways}")
    return found[0]


def _reads(entry: Entry, held: str) -> bool:
    """Whether a plugin reads files which hold a model of the kind `held`."""
    return getattr(entry.factory, "file_kind", "") == held


def _advice(path: Path) -> str:
    if path.suffix == ".toml":
        return "Pipeline.load reads weights, and Pipeline.from_config a config"
    return "FeatureTable.load reads feature tables" if path.suffix == ".npz" else "a file of another kind is an option"


def _is_arpa(path: Path) -> bool:
    with open_arpa(path) as stream:
        return any(line.strip() == b"\\data\\" for line in stream.read(HEAD_BYTES).splitlines()[:1000])


def _looks_like_file(text: str) -> bool:
    return "," not in text and ("/" in text or "." in text)


def kinds_of(registry: Registry, name: str, kind: str | None) -> list[str]:
    """The kinds of the plugins of that name; that of a trainer only if there is no other."""
    if kind is not None:
        return [kind] if name in registry.known(kind) else []
    kinds = [kind for kind, entries in registry.entries.items() if name in entries]
    return [kind for kind in kinds if kind != "trainer"] or kinds


def _kind_of_name(registry: Registry, name: str) -> str:
    """The kind of the plugin of that name. Raises ConfigError where there are several, PluginError for none."""
    kinds = kinds_of(registry, name, None)
    if len(kinds) > 1:
        what = " and ".join(f"a {kind.replace('_', ' ')}" for kind in kinds)
        how = " or ".join(f"kind={kind!r}" for kind in kinds)
        raise ConfigError(f"{name!r} is the name of {what}: say which by {how}")
    if not kinds:
        known = {known for entries in registry.entries.values() for known in entries}
        raise PluginError(f"no plugin named {name!r}{suggestion(name, known)}{registry.left_out()}")
    return kinds[0]


def table_of_name(spec: str | Path | Mapping[str, Any]) -> dict[str, Any]:
    """The table of a name with its options, under `use`. Raises ConfigError for a table without it."""
    table = dict(spec) if isinstance(spec, Mapping) else plugin_table(str(spec))
    if not isinstance(table.get("use"), str):
        raise ConfigError(f"a table of a plugin wants its name under 'use', found {table!r:.60}")
    return table


def check_object(plugin: object, kind: str | None) -> object:
    """The plugin itself. Raises TypeError for a value that is not a plugin, is one of another kind, or is a class."""
    wanted = f"a {kind.replace('_', ' ')}" if kind else "a plugin"
    if isinstance(plugin, type):
        raise TypeError(f"wanted {wanted}, found the class {plugin.__name__}: write {plugin.__name__}()")
    if not isinstance(plugin, interface_of(kind) if kind else tuple(map(interface_of, KINDS))):
        raise TypeError(f"wanted {wanted}, found {plugin!r:.60}")
    return plugin


# --- what commands name


def language_model_of(given: str | Path, names: Names) -> Spec:
    """The language model of `-M`: its file, its name in the config, or NAME,option=value."""
    spec = spec_of(given, names, "language_model", "-M")
    if spec.entry.name == "pcfg" and Path(given).is_file():
        logger.warning("%s: a grammar, read as pcfg; hhmm-lm,model=%s reads it incrementally", given, given)
    return spec


def load_language_model(given: str | Path, names: Names) -> SentenceModel:
    """The language model of `-M`. A model file is read when the model is first used."""
    return cast(SentenceModel, language_model_of(given, names).make())


def load_word_model(given: str | Path, names: Names) -> LanguageModel:
    """The same where probabilities of words are needed. Raises ConfigError for a model of whole sentences."""
    return with_words(load_language_model(given, names), f"language model {given}")


def load_parser(given: str, names: Names) -> CachedParser:
    """The parser of `-p`; its parses are cached."""
    return cast(CachedParser, spec_of(given, names, "parser", f"--parser {given}").make())


def default_parser(names: Names, name: str = "english") -> str:
    """The parser where none is named; for `english`, that of the config's language where it is another one."""
    return "biaffine" if name == "english" and names.language not in ("", ENGLISH) else name


# --- what users of Python load


def all_plugins() -> Registry:
    """A registry of all plugins; one that cannot be loaded is left out with a warning."""
    registry = load_plugins(BUILTIN)
    for failure in registry.failures:
        warnings.warn(str(failure), stacklevel=3)
    return registry


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
    names = Names(all_plugins(), Path.cwd(), language=language or ENGLISH)
    usual = ({"language": language} if language else {}) | ({} if text is None else {"text": text})
    meant = Named.read(name_or_file, names, kind, **usual, **options)
    steps = meant.ours.get("text", text)
    plugin = meant.spec(names, f"load({meant.table['use']!r})").make(*([] if steps is None else [steps]))
    if isinstance(plugin, Parser | SentenceFeature):
        read_texts(plugin, _Steps(plugin, steps))
    return plugin


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


def config_tables(specs: object, kind: str, names: Names) -> list[dict[str, Any]]:
    """The config tables of one or many plugins, each as `load` takes it, or by label. Raises as `spec_of`."""
    if isinstance(specs, Mapping) and "use" not in specs:
        return [{**config_table(spec, kind, names), "label": str(label)} for label, spec in specs.items()]
    return [config_table(spec, kind, names) for spec in several(specs)]


def config_table(spec: object, kind: str, names: Names) -> dict[str, Any]:
    """The config table of a plugin as `load` takes it, with its spec under `use`. Raises as `spec_of`."""
    if not isinstance(spec, str | Path | Mapping):
        return {"use": check_object(spec, kind)}
    named = Named.read(spec, names, kind)
    own = {"label": str(named.table["use"])} if kind in ("feature", "metric") else {}
    return {"use": named.spec(names, f"[{kind}]"), **own, **named.ours}


def file_of(spec: str | Path | Mapping[str, Any]) -> Path | None:
    """The file of that name, if there is one."""
    path = "" if isinstance(spec, Mapping) else os.path.expanduser(spec)
    return Path(path) if os.path.isfile(path) else None


def made(class_: type[Made], named: Mapping[str, Any], options: Mapping[str, Any], name: str) -> Made:
    """The object of a dataclass that is no plugin, with options. Raises ConfigError for an unknown one."""
    known = [field.name for field in fields(cast("Any", class_)) if field.init and field.name not in named]
    for key in options:
        if key not in known:
            raise ConfigError(f"{name} has no option {key!r}{suggestion(key, known)}")
    return class_(**named, **options)
