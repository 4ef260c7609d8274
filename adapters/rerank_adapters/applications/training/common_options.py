"""The options that trainers have in common: of a trainer those that it uses, the others with their defaults."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rerank_adapters.job.config import Config


@dataclass(frozen=True)
class CommonOptions:
    """The values of the common options; `steps` are those of `--text`, `scheduler` is the address of a Dask cluster."""

    held_out: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    language: str = ""
    parser: str | None = None
    config: Path | None = None
    seed: int | None = None
    jobs: int | None = None
    scheduler: str = ""

    @property
    def settings(self) -> Config:
        """The config of the parsers, with the seed and the number of processes."""
        from rerank_adapters.job.config import Config, read_config

        config = read_config(self.config) if self.config else Config()
        given = {"seed": self.seed, "jobs": self.jobs}
        return config.model_copy(update={name: value for name, value in given.items() if value is not None})
