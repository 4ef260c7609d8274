"""The names of the files that a run writes to its work folder."""

from __future__ import annotations

from pathlib import Path

from rerank_adapters.chain.job import Job

TUNE = "tune"  # the name of the tuning set in lines and files
RERANKED = "reranked"  # the system with all features of the config
FACTS = CONTRIBUTIONS, INTERVALS = "contributions.json", "intervals.json"  # files of the tuning that the reports show


def work_folder(job: Job, config: Path) -> Path:
    """The folder of the files of a job: the one that the config at `config` names, or work/NAME."""
    return job.config.path(job.config.work) if job.config.work else Path("work") / config.stem


def system_file(stem: str, system: str, suffix: str) -> str:
    """The name of a system's file: `weights.toml`, or `weights.NAME.toml` for a `[[system]]`."""
    return f"{stem}{suffix}" if system == RERANKED else f"{stem}.{'-'.join(system.split())}{suffix}"
