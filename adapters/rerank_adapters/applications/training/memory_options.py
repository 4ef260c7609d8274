"""The options that bound the memory of training, and the workspace that they describe."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from rerank_adapters.applications.training.ngram import memory_size

if TYPE_CHECKING:
    from rerank_plugins.models.backoff.workspace import Workspace

Command = TypeVar("Command", bound=Callable[..., Any])


def memory_options(command: Command) -> Command:
    """Add `--memory` and `--temporary`, the parameters `memory` and `temporary` of `workspace_for`."""
    memory = click.option(
        "--memory", type=memory_size, default="8G", show_default=True,
        help="Use at most this much memory for counting, and sort on disk beyond it.",
    )  # fmt: skip
    temporary = click.option(
        "--temporary", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="FOLDER",
        help="Put the temporary files of sorting on disk here. Default: the folder of MODEL.",
    )  # fmt: skip
    return memory(temporary(command))


def workspace_for(memory: int, temporary: Path | None, output: Path) -> Workspace:
    """The workspace of a training whose model goes to `output`."""
    from rerank_plugins.models.backoff.workspace import Workspace

    return Workspace(memory, temporary or output.parent)
