"""The language models and parsers that commands name: by a file, by their name in the config, or as plugins."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from rerank_adapters.chain.builder import Builder
from rerank_adapters.chain.model_readers import readers
from rerank_adapters.job.config import Config
from rerank_adapters.job.notation import plugin_table
from rerank_plugins import ConfigError, LanguageModel, SentenceModel
from rerank_plugins.kit.files.cached_parser import CachedParser
from rerank_plugins.kit.files.languages import ENGLISH
from rerank_plugins.kit.files.model_file import model_kind
from rerank_plugins.kit.language_models import with_words
from rerank_plugins.ngram.arpa_files import is_kenlm_binary

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class NamedModels:
    """Finds models for a config, whose builder makes each of them once."""

    builder: Builder
    config: Config

    def parser(self, spec: str) -> CachedParser:
        """The parser of a `[parser]` table of the config, or of NAME,option=value,…; its parses are cached."""
        if spec in self.config.parser:
            return cast(CachedParser, self.builder.named_object("parser", spec, "--parser"))
        return CachedParser(self.builder.build("parser", plugin_table(spec), f"--parser {spec}"))

    def default_parser(self, name: str = "english") -> str:
        """The parser where none is named; for `english`, that of the config's language where it is another one."""
        return "biaffine" if name == "english" and self.config.language not in ("", ENGLISH) else name

    def parser_use(self, spec: str) -> str:
        """The name under which the parser of `parser` is registered."""
        return str((self.config.parser.get(spec) or plugin_table(spec)).get("use"))

    def table(self, spec: str | Path) -> dict[str, Any]:
        """The config table of a language model, given by its file, its name in the config, or NAME,option=value,….

        A Path is always that of a file. A name in the config takes precedence over a file of the same name. Raises
        ConfigError for a model file that no language model reads.
        """
        if isinstance(spec, str) and spec in self.config.language_model:
            return dict(self.config.language_model[spec])
        path = Path(spec)
        if isinstance(spec, Path) or path.is_file():
            return {"use": self._reader(path), "model": str(path.resolve())}
        return plugin_table(spec)

    def _reader(self, path: Path) -> str:
        """The name of the language model that reads a file: by its header, or `ngram-lm` for ARPA and KenLM's files."""
        kind = None if is_kenlm_binary(path) else model_kind(path)
        if kind is None:
            return "ngram-lm"
        for entry in readers(self.builder.registry, "language_model", kind):
            if entry.name == "pcfg":
                logger.warning("%s: a grammar, read as pcfg; hhmm-lm,model=%s reads it incrementally", path, path)
            return entry.name
        raise ConfigError(f"{path}: holds a {kind} model, which is no language model")

    def language_model(self, spec: str | Path) -> SentenceModel:
        """The language model of `table`. A model file is read when the model is first used."""
        where = str(spec) if isinstance(spec, Path) else "-M"
        if isinstance(spec, str) and spec in self.config.language_model:
            return cast(SentenceModel, self.builder.named_object("language_model", spec, where))
        return cast(SentenceModel, self.builder.build("language_model", self.table(spec), where))

    def word_model(self, spec: str | Path) -> LanguageModel:
        """The same where probabilities of words are needed. Raises ConfigError for a model of whole sentences."""
        return with_words(self.language_model(spec), f"language model {spec}")
