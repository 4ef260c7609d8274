"""The job that parameters of Python describe: what `Pipeline`, `evaluate` and classifiers of sentences are made of."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from pathlib import Path

from rerank_adapters.job.config import Config
from rerank_adapters.job.job import Job
from rerank_adapters.job.models import all_plugins, config_table, config_tables
from rerank_adapters.text import split_steps
from rerank_plugins import ConfigError


def job_of(
    features: object = (),
    *,
    tuner: object = "mira",
    metrics: object = "bleu",
    text: str | Sequence[str] | None = None,
    language: str = "",
    jobs: int = 2,
    seed: int = 1,
    config: Config | None = None,
) -> Job:
    """The job of plugins that are given as `load` takes them, with the other settings of a config.

    `text` are the steps before features that name none. Raises PluginError, ConfigError and TypeError as `load` does.
    """
    steps = list(split_steps(text))
    job = Job.of(config or Config(base=Path.cwd()), all_plugins()).changed(language=language)
    tables = config_tables(features, "feature", job.names)
    return job.changed(
        feature=[{"text": steps, **table} if steps else table for table in tables],
        tuner=config_table(tuner, "tuner", job.names),
        metric=config_tables(metrics, "metric", job.names),
        jobs=_whole("jobs", jobs, 1),
        seed=_whole("seed", seed, 0),
    )


def _whole(name: str, value: object, least: int) -> int:
    """A whole number of Python or of numpy. Raises ConfigError for other values, and for one below `least`."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ConfigError(f"{name} is {value!r}, wanted a whole number of {least} or more")
    return int(value)
