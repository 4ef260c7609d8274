"""The parameters of a pipeline, and the job that they describe.

Parameters are kept as they were given, so that scikit-learn can clone a pipeline; they are checked at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from inspect import signature
from numbers import Integral
from pathlib import Path
from typing import Any, Self

from rerank_adapters.job.config import Config
from rerank_adapters.job.job import Job
from rerank_adapters.job.models import all_plugins, config_table, config_tables
from rerank_adapters.run.learn import TuningOutcome
from rerank_adapters.runtime.progress import showing
from rerank_adapters.text import split_steps
from rerank_adapters.weights import Weights
from rerank_plugins import ConfigError
from rerank_plugins.core.errors import suggestion
from rerank_plugins.core.files import without_cache


class PipelineParameters:
    """What `Pipeline` is made of; the class describes the parameters."""

    def __init__(
        self,
        features: object = (),
        *,
        tuner: object = "mira",
        metric: object = "bleu",
        text: str | Sequence[str] | None = None,
        language: str = "",
        jobs: int = 2,
        seed: int = 1,
        cache: bool = True,
        config: Config | None = None,
    ) -> None:
        self.features, self.tuner, self.metric, self.text = features, tuner, metric, text
        self.language, self.jobs, self.seed, self.cache, self.config = language, jobs, seed, cache, config
        self._weights: Weights | None = None
        self._learnt: TuningOutcome | None = None
        self._build()

    def _build(self) -> None:
        job = Job.of(self.config or Config(base=Path.cwd()), all_plugins()).changed(language=self.language)
        features = config_tables(self.features, "feature", job.names)
        steps = split_steps(self.text)
        self._job = job.changed(
            feature=[{"text": list(steps), **table} if steps else table for table in features],
            tuner=config_table(self.tuner, "tuner", job.names),
            metric=[config_table(self.metric, "metric", job.names)],
            jobs=_whole("jobs", self.jobs, 1),
            seed=_whole("seed", self.seed, 0),
        )
        with self._settings(False):
            self._job.check()
        self._fitted_job = self._job

    def __getstate__(self) -> dict[str, Any]:
        config = self._fitted_job.config
        features = [part.table(config.base, objects=True) for part in self._fitted_job.parts("feature")]
        of_table = {"feature": features, "nbest": config.nbest, "language": config.language}  # that `fit` was given
        own = {"_weights": self._weights, "_learnt": self._learnt, "_fitted": of_table}
        return self.get_params() | own

    def __setstate__(self, state: dict[str, Any]) -> None:
        changes = state.pop("_fitted")
        self.__dict__.update(state)
        self._build()
        self._fitted_job = self._job.changed(**changes)

    def __repr__(self) -> str:
        """The constructor call, with the parameters that are not the defaults; of a config, only that there is one."""
        given = {k: v for k, v in self.get_params().items() if type(v) is not type(DEFAULTS[k]) or v != DEFAULTS[k]}
        shown = [f"{k}={'…' if k == 'config' else repr(_by_name(v))}" for k, v in given.items()]
        return f"Pipeline({', '.join(part.removeprefix('features=') for part in shown)})"

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002  scikit-learn's signature
        """The parameters of the constructor by name, as scikit-learn asks for them.

        >>> PipelineParameters("length", seed=2).get_params()["seed"]
        2
        """
        return {name: getattr(self, name) for name in DEFAULTS}

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters of the constructor; the pipeline is then not fitted.

        Raises what the constructor raises, and ConfigError for unknown names; nothing is changed then.

        >>> PipelineParameters("length").set_params(tuner="pro").tuner
        'pro'
        """
        for name in parameters:
            if name not in DEFAULTS:
                raise ConfigError(f"a pipeline has no parameter {name!r}{suggestion(name, DEFAULTS)}")
        changed = type(self)(**(self.get_params() | parameters))  # checks all of them before any is changed
        self.__dict__.update(changed.__dict__)
        return self

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn's searches ask for: references are wanted, and are neither classes nor numbers."""
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=True))

    @contextmanager
    def _settings(self, progress: bool) -> Iterator[None]:
        with ExitStack() as settings:
            settings.enter_context(showing(progress))
            if not self.cache:
                settings.enter_context(without_cache())
            yield


_own = list(signature(PipelineParameters).parameters.values())
DEFAULTS: Mapping[str, Any] = {parameter.name: parameter.default for parameter in _own}


def _whole(name: str, value: object, least: int) -> int:
    """A whole number of Python or of numpy. Raises ConfigError for other values, and for one below `least`."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ConfigError(f"{name} is {value!r}, wanted a whole number of {least} or more")
    return int(value)


def _by_name(value: Any) -> Any:
    """A parameter with names in the place of tables that have nothing else."""
    if isinstance(value, Mapping):
        return value["use"] if value.keys() == {"use"} else {key: _by_name(item) for key, item in value.items()}
    return [_by_name(item) for item in value] if isinstance(value, list) else value


def job_of(features: object, **parameters: Any) -> Job:
    """The job of a pipeline with these features. Raises what `Pipeline` raises."""
    return PipelineParameters(features, **parameters)._job
