"""Print what the first use of the syntactic families costs: CPU seconds, compilations and the dearest kernels.

Each feature is extracted from the first lists of LISTS, which are in the format of Moses, by a process of its own with
an empty folder for machine code, and once more by another process that finds the machine code there. The last row is
one process with all features. A kernel's seconds include those of its parts and of the kernels that it calls, and are
those of a clock on the wall.

\b
    python -m docs.results.scripts.first_use
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from docs.results.scripts.experiment import FILE, PACKAGE, experiment, say
from rerank_adapters.builtin import BUILTIN
from rerank_adapters.cli.main import relax_gc
from rerank_adapters.formats.catalogue import FORMATS
from rerank_adapters.formats.reading import read_nbest
from rerank_adapters.job.specs import Names, Spec, plugin_table
from rerank_adapters.report.tables import Table
from rerank_adapters.report.text import markdown_table
from rerank_plugins import RerankError
from rerank_plugins.core.loader import load_plugins
from rerank_plugins.kit import kernels

EXAMPLE = Path(__file__).resolve().parents[3] / "example_nbest" / "mt" / "tune.nbest"
FEATURES = ("dependency-lm", "treelet-lm", "hhmm-lm", "svs-similarity", "consensus")


def compilations() -> list[tuple[str, float]]:
    """(name, seconds) of each compilation of a kernel in this process, with those of kernels that it calls."""
    return [
        (f"{each.__module__}.{each.__qualname__}", each.get_metadata(signature)["timers"]["compiler_lock"])
        for each in kernels.decorated()
        for signature in each.stats.cache_misses
    ]


def extraction(lists: Path, count: int, features: Sequence[str]) -> dict[str, Any]:
    """The CPU seconds of this process until it has the features of some lists, and its compilations."""
    names = Names(load_plugins(BUILTIN), Path())
    nbests = read_nbest([lists], FORMATS["moses"]())[:count]
    for spec in features:
        Spec.read("feature", plugin_table(spec), names, spec).make().extract_all(nbests)
    return {"seconds": time.process_time(), "compilations": compilations()}


def measured(lists: Path, count: int, features: Sequence[str], folder: str) -> dict[str, Any]:
    """The `extraction` by another process, which keeps its machine code in a folder."""
    command = [sys.executable, "-m", f"{PACKAGE}.first_use", str(lists), "--count", str(count), "--here"]
    command += [argument for spec in features for argument in ("-f", spec)]
    changed = {"NUMBA_CACHE_DIR": folder, "NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING": "1", "RERANK_CACHE": ""}
    environment = os.environ | changed
    done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RerankError((done.stderr.strip().splitlines() or ["a measurement ended without a message"])[-1])
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@experiment("first_use", __doc__)
@click.argument("lists", type=FILE, default=EXAMPLE)
@click.option("--count", default=2, help="Number of lists.")
@click.option("--features", "-f", multiple=True, default=FEATURES, help="Features with their options.")
@click.option("--dearest", default=10, help="Number of kernels in the second table.")
@click.option("--here", is_flag=True, help="Extract the features in this process, and print its measurements as JSON.")
def main(lists: Path, count: int, features: Sequence[str], dearest: int, here: bool) -> None:
    """Print the tables."""
    if here:
        relax_gc()
        click.echo(json.dumps(extraction(lists, count, features)))
        return
    rows, together = [], [("all together", tuple(features))] if len(features) > 1 else []
    for name, specs in [(spec, (spec,)) for spec in features] + together:
        say(name)
        with TemporaryDirectory() as folder:
            first, second = (measured(lists, count, specs, folder) for _ in range(2))
        number = str(len(first["compilations"]))
        rows.append((name, number, f"{first['seconds']:.1f}", f"{second['seconds']:.1f}"))
    columns = ("feature", "compilations", "CPU s of the first use", "CPU s of the second")
    click.echo(markdown_table(Table("First use of the syntactic features", columns, tuple(rows))))
    longest = sorted(first["compilations"], key=lambda each: -each[1])[:dearest]
    costs = tuple((name.removeprefix("rerank_plugins."), f"{seconds:.2f}") for name, seconds in longest)
    click.echo(markdown_table(Table("The compilations that take longest", ("kernel", "seconds"), costs)))


if __name__ == "__main__":
    main()
