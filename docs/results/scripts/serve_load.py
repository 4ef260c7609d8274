"""Print how `rerank serve` does under load: p50 and p99 by list length, lists a second, memory, damaged bodies, hangs.

CONFIG names the features; all of them and those of the decoder have the same weight, which changes no cost. LISTS are
n-best lists in Moses's format. The server runs in processes of its own; the clients are connections of this process,
each of which asks again as soon as it is answered. Every request has a list of its own: hypotheses are drawn at random
from one of the lists, and every other one loses a word, so that few sentences are parsed twice. CPU times are those of
the server's processes; they say what a list costs where wall times depend on what else the machine does.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import numpy as np

from docs.results.scripts.experiment import FILE, Listed, experiment, say
from rerank_adapters.builtin import BUILTIN
from rerank_adapters.cli.main import ended_by_signals
from rerank_adapters.features.feature import names_of
from rerank_adapters.features.tables import RECORDED
from rerank_adapters.formats.catalogue import FORMATS
from rerank_adapters.formats.reading import read_nbest
from rerank_adapters.job.config import read_config
from rerank_adapters.job.job import Job
from rerank_adapters.report.tables import Table
from rerank_adapters.report.text import markdown_table
from rerank_adapters.texts.sources import Sources
from rerank_adapters.weights import Weights, write_weights
from rerank_plugins import NBestList, RerankError
from rerank_plugins.core.loader import load_plugins

START = "import sys; from rerank_adapters.cli.main import main; main(sys.argv[1:])"
TICK = os.sysconf("SC_CLK_TCK")
PATIENCE = 10.0  # seconds within which the processes of a server must end after it
SOAKED = 100  # hypotheses of each list of a soak


@experiment("serve_load", __doc__)
@click.argument("config", type=FILE)
@click.argument("lists", type=FILE)
@click.option("--source", type=FILE, help="The source sentences.")
@click.option("--lengths", type=Listed(int), default="10,100", help="Numbers of hypotheses.")
@click.option("--requests", type=int, default=200, help="Requests for each length.")
@click.option("--more", type=int, default=1000, help="Requests with short lists, after which memory is read again.")
@click.option("--damaged", type=int, default=1000, help="Damaged bodies.")
@click.option("--hanging", type=int, default=20, help="Clients that send half a request.")
@click.option("--soak", type=int, default=0, help="Hypotheses of a soak in lists of a hundred, before and after which"
              " the memory of each process is read.")  # fmt: skip
@click.option("--clients", type=int, default=4, help="Connections that ask at the same time.")
@click.option("--jobs", type=int, default=2, help="Processes of the server.")
def main(
    config: Path,
    lists: Path,
    source: Path | None,
    lengths: tuple[int, ...],
    requests: int,
    more: int,
    damaged: int,
    hanging: int,
    soak: int,
    clients: int,
    jobs: int,
) -> None:
    """Run the experiment."""
    nbests = read_nbest([lists], FORMATS["moses"](), None if source is None else Sources(source).of)
    with (
        ended_by_signals(),
        TemporaryDirectory() as folder,
        _server(_weights(config, nbests, Path(folder)), jobs) as (url, pid),
    ):
        asyncio.run(_measure(url, pid, nbests, lengths, requests, more, damaged, hanging, soak, clients))
        children = _descendants(pid)
    end = time.monotonic() + PATIENCE
    while (left := [child for child in children if Path(f"/proc/{child}").exists()]) and time.monotonic() < end:
        time.sleep(0.1)
    print(f"\nprocesses left after the stop: {len(left)}")


def _weights(config: Path, nbests: list[NBestList], folder: Path) -> Path:
    """The file of equal weights for the features of the config and of the lists."""
    job = Job.of(read_config(config), load_plugins(BUILTIN))
    names = (*nbests[0].feature_names, *names_of(job.features()))
    record = {RECORDED: job.record(folder, "feature")}
    write_weights(Weights(dict.fromkeys(names, 1.0), provenance=record), folder / "weights.toml")
    return folder / "weights.toml"


@contextmanager
def _server(weights: Path, jobs: int) -> Iterator[tuple[str, int]]:
    arguments = ["serve", "-w", str(weights), "--port", "0", "--jobs", str(jobs), "--timeout", "120"]
    process = subprocess.Popen([sys.executable, "-c", START, *arguments], stderr=subprocess.PIPE)
    assert process.stderr is not None
    try:
        line = process.stderr.readline().decode()
        if "serving at" not in line:
            raise RerankError(line.strip() or "the server did not start")
        yield line.split()[3], process.pid
        process.send_signal(signal.SIGTERM)
        process.wait(60)
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


async def _measure(
    url: str,
    pid: int,
    nbests: list[NBestList],
    lengths: tuple[int, ...],
    requests: int,
    more: int,
    damaged: int,
    hanging: int,
    soak: int,
    clients: int,
) -> None:
    import httpx

    rng = random.Random(1)
    header = ("hypotheses", "requests", "p50, ms", "p99, ms", "lists a second", "CPU ms a list", "MB after")
    cells = []
    async with httpx.AsyncClient(base_url=url, timeout=120) as client:
        await _ask(client, [_body(rng, nbests, 5) for _ in range(20)], clients)
        rows = [(length, requests) for length in lengths] + ([(lengths[0], more)] if more else [])
        for length, number in rows:
            bodies = [_body(rng, nbests, length) for _ in range(number)]
            before, started = _cpu(pid), time.perf_counter()
            times, statuses = await _ask(client, bodies, clients)
            seconds, cpu = time.perf_counter() - started, _cpu(pid) - before
            if set(statuses) != {200}:
                raise RerankError(f"the server answered {dict(statuses)}, expected 200 alone")
            p50, p99 = 1000 * np.percentile(times, [50, 99])
            cells.append((str(length), str(number), f"{p50:.1f}", f"{p99:.1f}", f"{number / seconds:.1f}",
                      f"{1000 * cpu / number:.1f}", f"{_memory(pid):.0f}"))  # fmt: skip
            say(f"{length}: {seconds:.1f} s")
        print(markdown_table(Table(f"Load of {clients} clients", header, tuple(cells), ())))
        with ExitStack() as connections:
            host, port = url.removeprefix("http://").rsplit(":", 1)
            for _ in range(hanging):
                sock = connections.enter_context(socket.create_connection((host, int(port))))
                sock.sendall(b"POST /rerank HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n{")
            bodies = [_damage(rng, _body(rng, nbests, lengths[0])) for _ in range(damaged)]
            _, statuses = await _ask(client, bodies, clients)
            answered = ", ".join(f"{number} × {status}" for status, number in sorted(statuses.items()))
            print(f"\ndamaged bodies, while {hanging} clients hang: {answered}")
            _, statuses = await _ask(client, [_body(rng, nbests, lengths[0]) for _ in range(20)], clients)
            print(f"whole requests after them: {statuses[200]} of 20 × 200; memory {_memory(pid):.0f} MB")
        if soak:
            print(f"\n{await _soaked(client, pid, rng, nbests, soak, clients)}")


async def _soaked(
    client: Any, pid: int, rng: random.Random, nbests: list[NBestList], hypotheses: int, clients: int
) -> str:
    """The memory of every process at ten times of a soak, as a table."""
    rows = []
    for tenth in range(11):
        own = [f"{_memory_of(one):.0f}" for one in (str(pid), *_descendants(pid))]
        rows.append((f"{tenth * hypotheses // 10:,}", " + ".join(own), f"{_memory(pid):.0f}"))
        say(f"soak: {rows[-1]}")
        if tenth < 10:
            bodies = (_body(rng, nbests, SOAKED) for _ in range(hypotheses // 10 // SOAKED))
            _, statuses = await _ask(client, bodies, clients)
            if set(statuses) != {200}:
                raise RerankError(f"the server answered {dict(statuses)}, expected 200 alone")
    header = ("hypotheses", "MB of each process", "MB together")
    return markdown_table(Table("Soak", header, tuple(rows), ()))


async def _ask(client: Any, bodies: Iterable[bytes], clients: int) -> tuple[list[float], Counter[int]]:
    """The seconds of each request, and how often each status came; `clients` connections ask at the same time."""
    waiting, times, statuses = iter(bodies), list[float](), Counter[int]()

    async def ask() -> None:
        for body in waiting:
            started = time.perf_counter()
            answer = await client.post("/rerank", content=body, headers={"Content-Type": "application/json"})
            times.append(time.perf_counter() - started)
            statuses[answer.status_code] += 1

    await asyncio.gather(*(ask() for _ in range(clients)))
    return times, statuses


def _body(rng: random.Random, nbests: list[NBestList], length: int) -> bytes:
    nbest = rng.choice(nbests)
    hypotheses = []
    for h in rng.choices(nbest.hypotheses, k=length):
        words = h.text.split()
        if len(words) > 2 and rng.random() < 0.5:
            del words[rng.randrange(len(words))]
        features = {**dict(zip(nbest.feature_names, h.features, strict=True)), **h.sparse}
        hypotheses.append({"text": " ".join(words), "score": h.score, "features": features})
    return json.dumps({"source": nbest.source, "hypotheses": hypotheses}).encode()


def _damage(rng: random.Random, body: bytes) -> bytes:
    """The body cut short, with a byte changed, or with a piece of it twice."""
    at, kind = rng.randrange(len(body)), rng.randrange(3)
    if kind == 0:
        return body[:at]
    if kind == 1:
        return body[:at] + bytes([rng.randrange(256)]) + body[at + 1 :]
    return body[:at] + body[at // 2 :]


def _children(pid: int) -> list[str]:
    return [child for file in Path(f"/proc/{pid}/task").glob("*/children") for child in file.read_text().split()]


def _descendants(pid: int) -> list[str]:
    """The processes of a server: the one that forks, and those that it has forked."""
    return [one for child in _children(pid) for one in (child, *_children(int(child)))]


def _cpu(pid: int) -> float:
    """CPU seconds of the server and its processes."""
    processes = (str(pid), *_descendants(pid))
    fields = (Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split() for one in processes)
    return sum(int(values[11]) + int(values[12]) for values in fields) / TICK


def _memory(pid: int) -> float:
    """MB of memory of the server and its processes; what they share is divided among them (PSS)."""
    return sum(map(_memory_of, (str(pid), *_descendants(pid))))


def _memory_of(pid: str) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1000


if __name__ == "__main__":
    main()
