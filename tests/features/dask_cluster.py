"""A Dask cluster on this machine, started as users start one: `dask scheduler`, and processes of `dask worker`."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

from rerank_plugins import RerankError

PATIENCE = 60.0  # seconds within which the scheduler must answer
TICK = os.sysconf("SC_CLK_TCK")


class DaskCluster:
    """A scheduler and workers, one process each; `address` is that of the scheduler. Files go to `folder`."""

    def __init__(self, folder: Path, workers: int) -> None:
        file = folder / "scheduler.json"
        file.unlink(missing_ok=True)
        common = ("--scheduler-file", file, "--no-dashboard")
        worker = ("worker", *common, "--nthreads", 1, "--no-nanny", "--local-directory", folder)
        commands = [("scheduler", *common, "--host", "127.0.0.1", "--port", 0), *[worker] * workers]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
        self.processes: list[subprocess.Popen[bytes]] = []
        with (folder / "cluster.log").open("wb") as log:
            for command in commands:
                program = [sys.executable, "-m", "dask", *map(str, command)]
                self.processes.append(
                    subprocess.Popen(program, env=environment, cwd=folder, stdout=log, stderr=subprocess.STDOUT)
                )
        end = time.monotonic() + PATIENCE
        while not (self._registered(folder) >= workers and file.exists()):
            if time.monotonic() > end:
                self.stop()
                raise RerankError(f"the cluster did not start: see {folder / 'cluster.log'}")
            time.sleep(0.05)
        self.address = json.loads(file.read_text())["address"]

    @staticmethod
    def _registered(folder: Path) -> int:
        return (folder / "cluster.log").read_text(errors="replace").count("Register worker")

    @property
    def cpu(self) -> float:
        """The CPU seconds that the workers have used so far."""
        return sum(_cpu(process.pid) for process in self.processes[1:])

    def stop(self) -> None:
        """End all processes."""
        for process in self.processes:
            process.kill()
            process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK
