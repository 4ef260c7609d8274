"""The trainings that a config describes in its [[model]] tables."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rerank_adapters.applications.training.common_options import CommonOptions
from rerank_adapters.applications.training.training import Training
from rerank_adapters.job.config import Config, Model, read_config
from rerank_adapters.job.job import Job
from rerank_adapters.job.specs import Spec
from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError
from rerank_plugins.core.errors import suggestion
from rerank_plugins.core.files import check_output
from rerank_plugins.core.plugins import Registry
from rerank_plugins.core.trainer import common_uses

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
    if model.train not in (trainers := registry.entries["trainer"]):
        known = suggestion(model.train, trainers)
        raise ConfigError(f"{where}: train: no model named {model.train!r} to train{known}")
    outputs = {config.path(model.output) for model in config.model}
    inputs = [config.path(path) for path in model.inputs]
    for path in inputs:
        if path not in outputs and not path.exists():  # outputs may still be trained
            raise ConfigError(f"{where}: inputs: {path}: no such file")
    entry = registry.get("trainer", model.train)
    own = {option.name for option in entry.options()}
    shared = {OPTION_OF_USE.get(use, use.replace("-", "_")) for use in common_uses(entry.factory)} - own  # type: ignore[arg-type]
    given = {key.replace("-", "_"): value for key, value in model.options.items()}
    for key in given:
        if key not in own | shared:
            raise ConfigError(f"{where}: {model.train} has no option {key!r}{suggestion(key, own | shared)}")
    names = replace(Job.of(config, registry).names, language="")
    table = {"use": model.train} | {key: value for key, value in given.items() if key in own}
    if WEIGHT in table:
        weights = (weight.rpartition("=") for weight in _listed(table[WEIGHT]))
        table[WEIGHT] = [f"{config.path(file)}={number}" for file, _, number in weights]
    trainer = Spec.read("trainer", table, names, where).make()
    for option in entry.options():
        if option.metadata.get("writes") and (written := getattr(trainer, option.name)) is not None:
            check_output(written)
    others = {key: value for key, value in given.items() if key not in own}
    if "text" in others:
        others["steps"] = TextPipeline(others.pop("text"), config.base).rebased(Path())
    if "held_out" in others:
        others["held_out"] = [str(config.path(file)) for file in _listed(others["held_out"])]
    if file := others.pop("config", None):
        of_parsers = read_config(config.path(file))
        names = Job.of(of_parsers, registry).names
        others = {"seed": of_parsers.seed, "jobs": of_parsers.jobs} | others
    if "scheduler" in shared:
        others.setdefault("scheduler", os.environ.get("RERANK_SCHEDULER", ""))
    return Training(trainer, list(map(str, inputs)), config.path(model.output), _common(others, where), names)


def _listed(value: Any) -> list[str]:
    """The values of an option that may be given once or in a list."""
    return [value] if isinstance(value, str) else list(value)


def check_trained(config: Config, path: Path) -> None:
    """Raise ConfigError, with the command to run, where a model of the config at `path` has not been trained."""
    for model in config.model:
        if not (output := config.path(model.output)).exists():
            raise ConfigError(f"{output}: this model is missing; `rerank prepare {path}` trains it")


def _common(given: Mapping[str, Any], where: str) -> CommonOptions:
    """The common options of a table. Raises ConfigError for a value of the wrong kind."""
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(CommonOptions).validate_python(given)
    except ValidationError as error:
        problem = error.errors()[0]
        name = ".".join(map(str, problem["loc"]))
        least = problem.get("ctx", {}).get("ge")
        wanted = f": {problem['msg']}" if least is None else f"; wanted {least} or more"
        raise ConfigError(f"{where}: option {name!r} is {problem['input']!r}{wanted}") from None
