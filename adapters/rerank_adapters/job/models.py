"""Models by their files: the plugins that read them, and the models that commands name."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, cast

from rerank_adapters.job.names import Names
from rerank_adapters.job.notation import plugin_table
from rerank_adapters.job.specs import Spec
from rerank_plugins import ConfigError, LanguageModel, SentenceModel
from rerank_plugins.core.plugins import Entry, Registry
from rerank_plugins.kit.files.cached_parser import CachedParser
from rerank_plugins.kit.files.languages import ENGLISH
from rerank_plugins.kit.files.model_file import model_kind
from rerank_plugins.kit.language_models import with_words
from rerank_plugins.ngram.arpa_files import is_kenlm_binary, open_arpa

ARPA = "ngram"  # the kind of n-gram models, which the files of other programs hold too
HEAD_BYTES = 1 << 16  # in which an ARPA file has its first line

logger = logging.getLogger(__name__)


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
    several = {(entry.kind, entry.name): entry for kind in kinds for entry in _readers(registry, kind, held)}
    found = list(several.values())  # a language model is among the features too
    if not found:
        wanted = f"a {kinds[0].replace('_', ' ')}" if len(kinds) == 1 else "a plugin"
        raise ConfigError(f"{path}: holds a model of the kind {held!r}, which is not read by {wanted}")
    if len(found) > 1:
        ways = " or ".join(f"load({entry.name!r}, kind={entry.kind!r}, model=…)" for entry in found)
        raise ConfigError(f"{path}: holds a model of the kind {held!r}, which several plugins read: {ways}")
    return found[0]


def _readers(registry: Registry, kind: str, held: str) -> list[Entry]:
    """The plugins of a kind that read files which hold a model of the kind `held`."""
    return [entry for entry in registry.known(kind).values() if getattr(entry.factory, "file_kind", "") == held]


def _advice(path: Path) -> str:
    if path.suffix == ".toml":
        return "Pipeline.load reads weights, and Pipeline.from_config a config"
    return "FeatureTable.load reads feature tables" if path.suffix == ".npz" else "a file of another kind is an option"


def _is_arpa(path: Path) -> bool:
    with open_arpa(path) as stream:
        return any(line.strip() == b"\\data\\" for line in stream.read(HEAD_BYTES).splitlines()[:1000])


def parser_spec(given: str, names: Names) -> Spec:
    """The parser of a `[parser]` table of the config, or of NAME,option=value,…."""
    if given in names.tables.get("parser", {}):
        return Spec.named("parser", given, names, "--parser")
    return Spec.read("parser", given, names, f"--parser {given}")


def load_parser(given: str, names: Names) -> CachedParser:
    """The parser of `parser_spec`; its parses are cached."""
    return cast(CachedParser, parser_spec(given, names).make())


def parser_use(given: str, names: Names) -> str:
    """The name under which the parser of `load_parser` is registered."""
    return str((names.tables.get("parser", {}).get(given) or plugin_table(given)).get("use"))


def default_parser(names: Names, name: str = "english") -> str:
    """The parser where none is named; for `english`, that of the config's language where it is another one."""
    return "biaffine" if name == "english" and names.language not in ("", ENGLISH) else name


def language_model_table(given: str | Path, names: Names) -> dict[str, Any]:
    """The config table of a language model, given by its file, its name in the config, or NAME,option=value,….

    A Path is always that of a file. A name in the config takes precedence over a file of the same name. Raises
    ConfigError for a model file that no language model reads.
    """
    tables = names.tables.get("language_model", {})
    if isinstance(given, str) and given in tables:
        return dict(tables[given])
    path = Path(given)
    if isinstance(given, Path) or path.is_file():
        return {"use": _reader_of_language_model(path, names.registry), "model": str(path.resolve())}
    return names.written("language_model", given)


def _reader_of_language_model(path: Path, registry: Registry) -> str:
    """The name of the language model that reads a file: by its header, or `ngram-lm` for ARPA and KenLM's files."""
    kind = None if is_kenlm_binary(path) else model_kind(path)
    if kind is None:
        return "ngram-lm"
    for entry in _readers(registry, "language_model", kind):
        if entry.name == "pcfg":
            logger.warning("%s: a grammar, read as pcfg; hhmm-lm,model=%s reads it incrementally", path, path)
        return entry.name
    raise ConfigError(f"{path}: holds a {kind} model, which is no language model")


def load_language_model(given: str | Path, names: Names) -> SentenceModel:
    """The language model of `language_model_table`. A model file is read when the model is first used."""
    named = isinstance(given, str) and given in names.tables.get("language_model", {})
    where = f"[language_model.{given}]" if named else str(given) if isinstance(given, Path) else "-M"
    spec = Spec.read("language_model", language_model_table(given, names), names, where)
    return cast(SentenceModel, spec.make())


def load_word_model(given: str | Path, names: Names) -> LanguageModel:
    """The same where probabilities of words are needed. Raises ConfigError for a model of whole sentences."""
    return with_words(load_language_model(given, names), f"language model {given}")
