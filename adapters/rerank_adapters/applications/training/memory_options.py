"""The options that bound the memory of training, the workspace that they describe, and a report of its use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from rerank_adapters.commands.closing import size_text
from rerank_plugins import ConfigError

if TYPE_CHECKING:
    from rerank_plugins.kit.workspace import Workspace

Command = TypeVar("Command", bound=Callable[..., Any])
UNITS = {"K": 10, "M": 20, "G": 30, "T": 40}


def memory_size(text: str) -> int:
    """The number of bytes that `8G`, `500M` or a plain number stands for. Raises ConfigError."""
    number, unit = text.strip().upper().removesuffix("B"), ""
    if number[-1:] in UNITS:
        number, unit = number[:-1], number[-1]
    try:
        size = int(float(number) * 2 ** UNITS.get(unit, 0))
    except (ValueError, OverflowError):
        raise ConfigError(f"memory {text!r}: wanted a size such as 8G or 500M") from None
    if size < 0:
        raise ConfigError(f"memory {text!r}: wanted a size such as 8G or 500M")
    return size


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
    from rerank_plugins.kit.workspace import Workspace

    return Workspace(memory, temporary or output.parent)


def memory_line(workspace: Workspace) -> str:
    """How much memory this process has used at most, and how much was sorted on disk."""
    import resource
    import sys

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    on_disk = f", {size_text(workspace.spilled)} sorted on disk" if workspace.spilled else ""
    return f"peak memory {size_text(peak)}{on_disk}"
