"""The options that trainers have in common: of a trainer those that it uses, the others with their defaults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field


@dataclass(frozen=True)
class CommonOptions:
    """The values of the common options; `steps` are those of `--text`, `scheduler` is the address of a Dask cluster.

    `parser` is a name in the config or NAME,option=value. What is None has a default that depends on the trainer.
    """

    held_out: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    language: str = ""
    parser: str | None = None
    seed: Annotated[int, Field(ge=0)] | None = None
    jobs: Annotated[int, Field(ge=1)] | None = None
    scheduler: str = ""
