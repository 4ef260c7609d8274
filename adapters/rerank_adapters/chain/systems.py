"""The systems of a job: the `[[system]]` tables, which leave out some of its features or tune in another way."""

from __future__ import annotations

from collections.abc import Collection

from rerank_adapters.chain.job import Job
from rerank_plugins import ConfigError
from rerank_plugins.core.registry import suggestion

ROWS = ("1-best", "reranked", "oracle", "anti-oracle")  # names of other rows of a report


def systems_of(job: Job) -> dict[str, Job]:
    """By name, the job of each `[[system]]`: the job without some of its features, or with another tuning.

    Raises ConfigError for a label that no feature has, a name that another row of the report has, a tuner's wrong
    options, and a system that differs in nothing.
    """
    jobs: dict[str, Job] = {}
    for number, system in enumerate(job.config.system, 1):
        where = f"[[system]] {number}"
        if system.name in (*ROWS, *jobs):
            raise ConfigError(f"{where}: another row of the report is called {system.name!r}; give it its own name")
        if alike := [name for name in jobs if name_in_files(name) == name_in_files(system.name)]:
            both = f"{system.name!r} and {alike[0]!r}"
            raise ConfigError(f"{where}: the files of {both} would have the same names; give it its own name")
        for label in system.without:
            if label not in job.labels:
                unknown = f"without: no feature labelled {label!r}{suggestion(label, job.labels)}"
                raise ConfigError(f"{where}: {unknown}")
        if not (system.without or system.tuner is not None or system.tuning is not None):
            raise ConfigError(f"{where}: it is the reranked system; wanted `without`, `tuner` or `tuning`")
        if system.tuner is not None:
            job.tuner_and_margin(system.tuner, f"{where}: tuner")
        jobs[system.name] = without(job.changed(tuner=system.tuner, tuning=system.tuning), system.without)
    return jobs


def name_in_files(system: str) -> str:
    """The name of a system as the names of its files have it, with hyphens in place of spaces."""
    return "-".join(system.split())


def without(job: Job, labels: Collection[str]) -> Job:
    """The job without the features of these labels and the constraints on their weights, and without systems."""
    left_out = {name for label in labels for name in job.columns[label]}
    tuning = job.config.tuning
    kept = {
        "fixed": [name for name in tuning.fixed if name not in left_out],
        "lower": {name: bound for name, bound in tuning.lower.items() if name not in left_out},
        "upper": {name: bound for name, bound in tuning.upper.items() if name not in left_out},
        "start": {name: weight for name, weight in tuning.start.items() if name not in left_out}
        if isinstance(tuning.start, dict)
        else tuning.start,
    }
    remaining = [label for label in job.labels if label not in labels]
    return job.only(remaining).changed(tuning=kept, system=[])
