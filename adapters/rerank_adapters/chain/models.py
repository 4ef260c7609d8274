"""Finds the models that a config describes: the arguments of their training commands, and their dependencies."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rerank_adapters.chain.steps import Inputs, file_hash
from rerank_adapters.config import Config, Model
from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError, __version__
from rerank_plugins.core.registry import suggestion

TEXT = "text"  # the option of text steps
PARSER = "parser"  # the option of the parser, which may be named by the table of the config
WEIGHT = "weight"  # the option of weights, FILE=NUMBER


def chosen_models(config: Config, path: Path, names: Sequence[str] = ()) -> list[Model]:
    """The models of a config, or those whose outputs have one of these file names, in the order of the config.

    Raises ConfigError for a config at `path` that describes no models, an unknown name, and an output that two have.
    """
    if not config.model:
        raise ConfigError(f"{path}: no [[model]] table, which describes a model to train")
    outputs = [model.output.name for model in config.model]
    for output in outputs:
        if outputs.count(output) > 1:
            raise ConfigError(f"{path}: two [[model]] tables have the output {output!r}; give each a file of its own")
    for name in names:
        if name not in outputs:
            raise ConfigError(f"--only: no [[model]] with the output {name!r}{suggestion(name, outputs)}")
    return [model for model in config.model if not names or model.output.name in names]


def arguments_of(config: Config, model: Model) -> list[str]:
    """The arguments of `rerank train NAME`: options, `-o` with the output, and the inputs.

    Paths are those of the config: relative to it, with `$VARIABLE` expanded. Raises ConfigError for a variable that is
    not set and an input that does not exist.
    """
    inputs = [config.path(path) for path in model.inputs]
    outputs = _outputs(config)
    for path in inputs:
        if path not in outputs and not path.exists():  # outputs may still be trained
            raise ConfigError(f"[[model]] {model.output.name}: inputs: {path}: no such file")
    options = [argument for key, value in model.options.items() for argument in _option(config, key, value)]
    return [*options, "-o", str(config.path(model.output)), "--", *map(str, inputs)]


def inputs_of_model(config: Config, model: Model) -> Inputs:
    """What a trained model depends on: its command, options, the content of all files, and the program's version."""
    arguments = arguments_of(config, model)
    files = [argument for argument in arguments if argument != str(config.path(model.output))]
    parser = _parser(config, model.options.get(PARSER))
    text = TextPipeline(model.options.get(TEXT, ()), config.base)
    return {
        "train": model.train,
        "options": {key: _plain(value) for key, value in model.options.items()},
        "text": text.describe(),
        "files": [digest for digest in (file_hash(Path(argument)) for argument in files) if digest],
        "version": __version__,
        **({} if parser is None else {PARSER: {key: file_hash(Path(value)) or value for key, value in parser.items()}}),
    }


def check_trained(config: Config, path: Path) -> None:
    """Raise ConfigError, with the command to run, where a model of the config at `path` has not been trained."""
    for model in config.model:
        if not (output := config.path(model.output)).exists():
            raise ConfigError(f"{output}: this model is missing; `rerank prepare {path}` trains it")


def _option(config: Config, key: str, value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _option(config, key, item)
    elif value is True:
        yield f"--{key}"
    elif value is not False:
        yield from (f"--{key}", _expanded(config, key, value) if isinstance(value, str) else str(value))


def _expanded(config: Config, key: str, value: str) -> str:
    """The value; where it names a file, or a text step, parser or weight with one, that file is relative to here."""
    if key == TEXT:
        return "+".join(TextPipeline(value, config.base).rebased(Path())) or "none"
    if key == PARSER and (parser := _parser(config, value)):
        return ",".join([parser.pop("use", ""), *(f"{name}={option}" for name, option in parser.items())])
    if key == WEIGHT:
        name, _, number = value.rpartition("=")
        return f"{config.path(name)}={number}"
    path = config.path(value)
    names_file = bool(value) and ("$" in value or path.is_file() or path in _outputs(config))
    return str(path) if names_file else value


def _parser(config: Config, name: object) -> dict[str, str] | None:
    """The table of a parser that the config describes, its values as an option has them; None for other names."""
    table = config.parser.get(name) if isinstance(name, str) else None
    return table and {
        key: _expanded(config, key, value) if isinstance(value, str) else json.dumps(value)
        for key, value in table.items()
    }


def _outputs(config: Config) -> set[Path]:
    return {config.path(model.output) for model in config.model}


def _plain(value: Any) -> Any:
    return (
        [_plain(item) for item in value] if isinstance(value, list) else value if value in (True, False) else str(value)
    )
