"""What names and paths mean where a plugin is named: in a config, on the command line, in Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from rerank_adapters.job.notation import plugin_table
from rerank_adapters.text import KINDS, TextPipeline, in_language, is_step, split_steps
from rerank_plugins import ConfigError, LanguageModel, Metric, Parser, SentenceModel
from rerank_plugins.core.errors import suggestion
from rerank_plugins.core.files import resolve
from rerank_plugins.core.plugins import Option, Registry

INJECTED: Mapping[type, str] = {  # types of options whose values are plugins, and the kinds of these
    Parser: "parser",
    LanguageModel: "language_model",
    SentenceModel: "language_model",
    Metric: "metric",
}


@dataclass(frozen=True)
class Names:
    """The meaning of names: plugins, the tables and text pipelines of a config, and the folder that paths start from.

    `language` is the code of the language whose models are used where none is named; empty: English.
    """

    registry: Registry
    base: Path = Path()
    tables: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)  # by kind and name
    pipelines: Mapping[str, Sequence[str]] = field(default_factory=dict)
    language: str = ""

    def written(self, kind: str, text: str) -> dict[str, Any]:
        """The table of NAME,option=value as a user writes it, whose paths start from the present folder."""
        return _from_here(kind, plugin_table(text), self.registry)

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


def injected_type(type_: Any) -> type | None:
    """The type of plugin in an option typed `Parser`, `Parser | None`, `tuple[Parser, ...]` and so on, or None."""
    return next((part for part in (type_, *get_args(type_)) if part in INJECTED), None)


def _from_here(kind: str, table: Mapping[str, Any], registry: Registry) -> dict[str, Any]:
    """A table with its paths, and those of the tables in it, made absolute from the present folder."""
    entry = registry.find(kind, str(table.get("use")))
    options = {} if entry is None else {option.name: option for option in entry.options()}

    def absolute(option: Option, value: Any) -> Any:
        if isinstance(value, list):
            return [absolute(option, item) for item in value]
        if isinstance(value, Mapping):
            inner = injected_type(option.type)
            return _from_here(INJECTED[inner], value, registry) if inner else value
        is_path = isinstance(value, str) and Path in (option.type, *get_args(option.type))
        return str(resolve(value, Path.cwd())) if is_path else value

    return {key: absolute(options[key], value) if key in options else value for key, value in table.items()}
