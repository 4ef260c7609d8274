"""Print how much of the program takes part when `rerank run` counts words, and what `rerank --help` costs.

The run has the feature `length` alone, the tuner mira, the metric BLEU, and the first lists of example_nbest/mt as its
tuning and test set; it is done by a process of its own without workers. Counted are the modules of ours that it loads,
the files of which a function or a method is called (class bodies and modules that are only imported do not count), and
the frames of ours from `main` to the extraction of the feature. The help is called several times, and the least user
and wall seconds are printed.

\b
    python -m docs.results.scripts.corridor_counts
    python -m docs.results.scripts.corridor_counts --show frames
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from inspect import CO_OPTIMIZED
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FrameType
from typing import Any

import click

from docs.results.scripts.experiment import PACKAGE, experiment
from rerank_adapters.report.tables import Table
from rerank_adapters.report.text import markdown_table
from rerank_plugins import RerankError

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "example_nbest" / "mt"
OURS = ("rerank_plugins", "rerank_adapters")
CONFIG = """jobs = 1
[tune]
nbest = ["tune.nbest"]
references = ["tune.en"]
[[test]]
name = "test"
nbest = ["tune.nbest"]
references = ["tune.en"]
[[feature]]
use = "length"
[tuner]
use = "mira"
"""


class Acting:
    """A profile hook that notes the files whose functions are called, and the frames of the deepest extraction."""

    def __init__(self, feature: str) -> None:
        self.feature = feature  # the end of the path of the file in which the feature is extracted
        self.files: set[str] = set()
        self.frames: list[str] = []
        self._ours: dict[CodeType, str] = {}  # the path from its package on; empty for the code of others

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Note a call."""
        path = self._path(frame.f_code) if event == "call" else ""
        if path:
            self.files.add(path)
            if path.endswith(self.feature) and not self.frames:
                self.frames = self._walk(frame)

    def _path(self, code: CodeType) -> str:
        if code not in self._ours:
            parts = Path(code.co_filename).parts
            names = [part in OURS for part in parts]
            is_function = code.co_flags & CO_OPTIMIZED  # a class body and a module have locals that are not optimized
            self._ours[code] = "/".join(parts[names.index(True) :]) if True in names and is_function else ""
        return self._ours[code]

    def _walk(self, frame: FrameType | None) -> list[str]:
        frames = []
        while frame is not None:
            if path := self._path(frame.f_code):
                frames.append(f"{path}: {frame.f_code.co_name}")
            frame = frame.f_back
        return frames[::-1]


def acting(config: str) -> dict[str, list[str]]:
    """What takes part in a run of a config in this process: modules, files and frames."""
    from rerank_adapters.cli.main import main as rerank

    hook = Acting("lists/length.py")
    threading.setprofile(hook)
    sys.setprofile(hook)
    try:
        rerank(["run", config])
    except SystemExit as end:
        if end.code:
            raise RerankError(f"the run ended with exit code {end.code}") from None
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    modules = [name for name in sys.modules if name.partition(".")[0] in OURS]
    return {"modules": sorted(modules), "files": sorted(hook.files), "frames": hook.frames}


def measured(lists: int, folder: Path) -> dict[str, list[str]]:
    """What `acting` finds in a process of its own, which runs the job in a folder."""
    by_id = groupby((EXAMPLE / "tune.nbest").read_text().splitlines(True), lambda line: line.split(" ||| ")[0])
    chosen = [line for (_, lines), _ in zip(by_id, range(lists), strict=False) for line in lines]
    (folder / "tune.nbest").write_text("".join(chosen))
    (folder / "tune.en").write_text("".join((EXAMPLE / "tune.en").read_text().splitlines(True)[:lists]))
    (folder / "rerank.toml").write_text(CONFIG)
    output = folder / "counts.json"
    command = [sys.executable, "-m", f"{PACKAGE}.corridor_counts", "--here", str(folder / "rerank.toml"), str(output)]
    environment = os.environ | {"RERANK_CACHE": str(folder / "cache"), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, check=False, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RerankError((done.stderr.strip().splitlines() or ["the run ended without a message"])[-1])
    counts: dict[str, list[str]] = json.loads(output.read_text())
    return counts


def least_seconds(action: Callable[[], Any], repeats: int) -> tuple[float, float]:
    """The least user and wall seconds of a process that an action starts and awaits."""
    users, walls = [], []
    for _ in range(repeats):
        user, wall = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime, time.perf_counter()
        action()
        walls.append(time.perf_counter() - wall)
        users.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - user)
    return min(users), min(walls)


def ask_for_help() -> None:
    """Run `rerank --help` in another process."""
    command = [sys.executable, "-c", "from rerank_adapters.cli.main import main; main()", "--help"]
    subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)


@experiment("corridor_counts", __doc__)
@click.option("--lists", default=20, help="Number of lists.")
@click.option("--repeats", default=5, help="Calls of the help.")
@click.option("--show", type=click.Choice(["modules", "files", "frames"]), help="Name what is counted, too.")
@click.option(
    "--here",
    nargs=2,
    type=click.Path(path_type=Path),
    hidden=True,
    help="CONFIG OUTPUT: count here.",
)
def main(lists: int, repeats: int, show: str | None, here: tuple[Path, Path] | None) -> None:
    """Print the table."""
    if here is not None:
        config, output = here
        output.write_text(json.dumps(acting(str(config))))
        return
    with TemporaryDirectory() as folder:
        counts = measured(lists, Path(folder))
    user, wall = least_seconds(ask_for_help, repeats)
    rows = (
        ("modules loaded by a run", str(len(counts["modules"]))),
        ("files whose functions act in it", str(len(counts["files"]))),
        ("frames from main to the extraction", str(len(counts["frames"]))),
        ("rerank --help, user seconds", f"{user:.2f}"),
        ("rerank --help, wall seconds", f"{wall:.2f}"),
    )
    click.echo(markdown_table(Table("A run that counts words", ("what", "number"), rows)))
    if show:
        click.echo("\n".join(counts[show]))


if __name__ == "__main__":
    main()
