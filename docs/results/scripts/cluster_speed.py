"""Print what a Dask cluster on this machine gains and costs, beside one machine's own processes (docs/clusters.md).

TEXTS are tokenised, with one sentence per line; together they give the sentences for the parser. Each command is timed
from its start to its end, in a process of its own; CPU seconds are those of the command and of the workers. The cluster
is started before, with one process for each worker. The cost of a task is that of a task which does nothing. `equal`
says whether the file is the same as on one machine, byte by byte.

\b
    python -m docs.results.scripts.cluster_speed novels.txt.xz novels-more.txt.xz --sentences 100000
    python -m docs.results.scripts.cluster_speed novels.txt.xz --sentences 5000 --workers 2
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

import click

from docs.results.scripts.experiment import FILE, Listed, experiment, say
from docs.results.scripts.ngram_speed import RERANK, timed
from rerank_adapters.cli.main import ended_by_signals
from rerank_plugins import RerankError
from rerank_plugins.kit.files.text import open_text
from tests.features.dask_cluster import DaskCluster


@experiment("cluster_speed", __doc__)
@click.argument("texts", type=FILE, nargs=-1, required=True)
@click.option("--sentences", default=100_000, help="Parse this many sentences.")
@click.option("--parser", default="english", help="The option of `rerank trees parse`.")
@click.option("--workers", type=Listed(int), default="1,2", help="Numbers of workers of the cluster.")
@click.option("--jobs", type=Listed(int), default="1,2", help="Numbers of processes without a cluster.")
@click.option("--tasks", default=1000, help="Tasks that do nothing.")
def main(
    texts: tuple[Path, ...], sentences: int, parser: str, workers: tuple[int, ...], jobs: tuple[int, ...], tasks: int
) -> None:
    """Run the commands without and with a cluster, and print the tables."""
    import distributed  # noqa: F401 -- its absence is said before anything is measured

    quiet = {"RERANK_CACHE": "", "OMP_NUM_THREADS": "1"}
    with ended_by_signals(), TemporaryDirectory() as name, mock.patch.dict(os.environ, quiet):
        folder = Path(name)
        say(f"{_taken(texts, folder / 'text', sentences):,} sentences")
        command = ["trees", "parse", folder / "text", "-p", parser]
        print("| parsing by | wall s | CPU s | equal |\n| --- | ---: | ---: | --- |", flush=True)
        for number in jobs:
            cpu, wall, _ = timed([*RERANK, *command, "-j", str(number), "-o", folder / f"parsed-{number}"])
            _row(f"this machine, -j {number}", wall, cpu, _same(folder, str(number), jobs[0]))
        costs = []
        for number in workers:
            at = folder / f"cluster of {number}"
            at.mkdir()
            with DaskCluster(at, number) as cluster:
                costs.append((number, _cost_of_tasks(cluster.address, tasks)))
                before, output = cluster.cpu, folder / "parsed-cluster"
                cpu, wall, _ = timed([*RERANK, *command, "-o", output, "--scheduler", cluster.address])
                _row(f"a cluster of {number}", wall, cpu + cluster.cpu - before, _same(folder, "cluster", jobs[0]))
        print("\n| workers | ms a task | CPU ms of the command |\n| ---: | ---: | ---: |")
        for number, (wall, cpu) in costs:
            print(f"| {number} | {wall:.2f} | {cpu:.2f} |")


def _row(by: str, wall: float, cpu: float, equal: str) -> None:
    print(f"| {by} | {wall:.1f} | {cpu:.1f} | {equal} |", flush=True)


def _same(folder: Path, which: str, first: int) -> str:
    """Whether a file has the bytes of the first one; it is deleted unless it is that."""
    if which == str(first):
        return ""
    same = (folder / f"parsed-{which}").read_bytes() == (folder / f"parsed-{first}").read_bytes()
    (folder / f"parsed-{which}").unlink()
    return "yes" if same else "no"


def _taken(texts: Sequence[Path], path: Path, sentences: int) -> int:
    """Write the first sentences of the texts to a plain file, and return their number."""
    taken = 0
    with path.open("w", encoding="utf-8") as plain:
        for text in texts:
            with open_text(text) as lines:
                for line in islice(lines, sentences - taken):
                    plain.write(line if line.endswith("\n") else f"{line}\n")
                    taken += 1
    return taken


def _cost_of_tasks(address: str, tasks: int) -> tuple[float, float]:
    """Milliseconds and CPU milliseconds for each of so many tasks that do nothing, in a process of its own."""
    script = f"from docs.results.scripts.cluster_speed import print_cost; print_cost({address!r}, {tasks})"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    if ran.returncode:
        raise RerankError(f"tasks that do nothing failed: {ran.stderr}")
    wall, cpu = map(float, ran.stdout.split())
    return wall, cpu


def print_cost(address: str, tasks: int) -> None:
    """Print the milliseconds, and the CPU milliseconds of this process, for each of so many tasks."""
    from rerank_adapters.features.processes import Processes

    for number in (10, tasks):
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in Processes(scheduler=address).results(_nothing, range(number), ordered=True):
            pass
    print(1000 * (time.perf_counter() - wall) / tasks, 1000 * (time.process_time() - cpu) / tasks)


def _nothing(item: int) -> int:
    return item


if __name__ == "__main__":
    main()
