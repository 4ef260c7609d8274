"""The trainings that a config describes in its [[model]] tables, and the identity of each."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rerank_adapters.applications.training.common_options import CommonOptions
from rerank_adapters.applications.training.training import Training
from rerank_adapters.job.config import Config, Model
from rerank_adapters.job.specs import Names, Spec
from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError, __version__
from rerank_plugins.core.errors import suggestion
from rerank_plugins.core.files import check_output
from rerank_plugins.core.identity import identity
from rerank_plugins.core.plugins import Registry
from rerank_plugins.core.trainer import common_uses

TEXT = "text"  # the option of text steps
PARSER = "parser"  # the option of the parser, which may be named by the table of the config
WEIGHT = "weight"  # the option of weights, FILE=NUMBER
OPTION_OF_USE = {"cluster": "scheduler"}  # of a use whose option has another name


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


def training_of(config: Config, model: Model, registry: Registry, where: str = "") -> Training:
    """The training of a model. Relative paths begin at the config, and `$VARIABLE` is expanded.

    `where` names the table in errors, as in `[[model]] news.ngram`.

    Raises ConfigError for an unknown trainer, an unknown, missing or wrong option, a variable that is not set, and an
    input that does not exist.
    """
    where = where or f"[[model]] {model.output.name}"
    trainers = registry.entries["trainer"]
    if model.train not in trainers:
        known = suggestion(model.train, trainers)
        raise ConfigError(f"{where}: train: no model named {model.train!r} to train{known}")
    outputs = _outputs(config)
    inputs = [config.path(path) for path in model.inputs]
    for path in inputs:
        if path not in outputs and not path.exists():  # outputs may still be trained
            raise ConfigError(f"{where}: inputs: {path}: no such file")
    entry = registry.get("trainer", model.train)
    own = {option.name for option in entry.options()}
    shared = {OPTION_OF_USE.get(use, use.replace("-", "_")) for use in common_uses(entry.factory)}  # type: ignore[arg-type]
    written = {key.replace("-", "_"): value for key, value in model.options.items()}
    for key in written:
        if key not in own | shared:
            raise ConfigError(f"{where}: {model.train} has no option {key!r}{suggestion(key, own | shared)}")
    given = {key.replace("-", "_"): value for key, value in _options(config, model).items()}
    table = {"use": model.train} | {key: (given if key == WEIGHT else written)[key] for key in written if key in own}
    trainer = Spec.read("trainer", table, Names(registry, config.base), where).make()
    for option in entry.options():
        if option.metadata.get("writes") and (output := getattr(trainer, option.name)) is not None:
            check_output(output)
    common = _common({key: value for key, value in given.items() if key not in own}, shared, where)
    return Training(trainer, list(map(str, inputs)), config.path(model.output), common, registry)


def identity_of_model(config: Config, model: Model) -> str:
    """The identity of a model to train: of its trainer, options and files, and of the program's version."""
    parser = _parser(config, model.options.get(PARSER))
    text = TextPipeline(model.options.get(TEXT, ()), config.base)
    values = [*_flat(_options(config, model).values()), *(str(config.path(path)) for path in model.inputs)]
    files = [Path(value) for value in values if Path(value).is_file()]
    of_parser = {key: Path(value) if Path(value).is_file() else value for key, value in (parser or {}).items()}
    return identity(model.train, model.options, text.describe(), files, of_parser, __version__)


def check_trained(config: Config, path: Path) -> None:
    """Raise ConfigError, with the command to run, where a model of the config at `path` has not been trained."""
    for model in config.model:
        if not (output := config.path(model.output)).exists():
            raise ConfigError(f"{output}: this model is missing; `rerank prepare {path}` trains it")


def _common(given: Mapping[str, Any], shared: Collection[str], where: str) -> CommonOptions:
    """The common options of a table. Raises ConfigError for a value of the wrong kind."""
    from pydantic import TypeAdapter, ValidationError

    values = dict(given)
    if TEXT in values:
        steps = values.pop(TEXT)
        values["steps"] = () if steps == "none" else tuple(steps.split("+"))
    if "held_out" in values and isinstance(values["held_out"], str):
        values["held_out"] = (values["held_out"],)
    if "scheduler" in shared:
        values.setdefault("scheduler", os.environ.get("RERANK_SCHEDULER", ""))
    try:
        common = TypeAdapter(CommonOptions).validate_python(values)
    except ValidationError as error:
        problem = error.errors()[0]
        name = ".".join(map(str, problem["loc"]))
        raise ConfigError(f"{where}: option {name!r} is {problem['input']!r}: {problem['msg']}") from None
    for name, number, least in (("seed", common.seed, 0), ("jobs", common.jobs, 1)):
        if number is not None and number < least:
            raise ConfigError(f"{where}: option {name!r} is {number}; wanted {least} or more")
    return common


def _options(config: Config, model: Model) -> dict[str, Any]:
    """The options of a model, with the files that they name."""
    return {key: _with_files(config, key, value) for key, value in model.options.items()}


def _with_files(config: Config, key: str, value: Any) -> Any:
    if key == TEXT:
        return "+".join(TextPipeline(value, config.base).rebased(Path())) or "none"
    if isinstance(value, list):
        return [_with_files(config, key, item) for item in value]
    return _expanded(config, key, value) if isinstance(value, str) else value


def _flat(values: Collection[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, list):
            yield from _flat(value)
        elif isinstance(value, str):
            yield value


def _expanded(config: Config, key: str, value: str) -> str:
    """The value; where it names a file, or a parser or weight with one, that file is no longer relative to the config.

    A file is absolute, since a relative one would begin at the config again.
    """
    if key == PARSER and (parser := _parser(config, value)):
        return ",".join([parser.pop("use", ""), *(f"{name}={option}" for name, option in parser.items())])
    if key == WEIGHT:
        name, _, number = value.rpartition("=")
        return f"{config.path(name)}={number}"
    path = config.path(value)
    names_file = bool(value) and ("$" in value or path.is_file() or path in _outputs(config))
    return str(path.absolute()) if names_file else value


def _parser(config: Config, name: object) -> dict[str, str] | None:
    """The table of a parser that the config describes, its values as an option has them; None for other names."""
    if not isinstance(name, str) or not (table := config.parser.get(name)):
        return None
    return {
        key: _expanded(config, key, value) if isinstance(value, str) else json.dumps(value)
        for key, value in table.items()
    }


def _outputs(config: Config) -> set[Path]:
    return {config.path(model.output) for model in config.model}
