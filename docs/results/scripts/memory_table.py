"""Print how much memory `extract` and `tune` take for a hypothesis, on generated lists with ten features of the decoder.

Each command runs in a process of its own, without a cache. A hypothesis has 10 to 24 words, and 80 bytes of features
in memory. The bytes a hypothesis are those by which the peak rises from the smallest number of lists to the present
one, so that the interpreter, its libraries and compiled kernels do not count.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from docs.results.scripts.experiment import Listed, experiment, say
from rerank_adapters.report.tables import Table
from rerank_adapters.report.text import markdown_table
from rerank_plugins import RerankError

START = "import sys; from rerank_adapters.cli.main import main; main(sys.argv[1:])"
FEATURES = [f"F{number}" for number in range(10)]


@experiment("memory_table", __doc__)
@click.option("--lists", type=Listed(int), default="50,500,1000,2000", help="Numbers of lists, ascending.")
@click.option("--hypotheses", type=int, default=1000, help="Hypotheses of each list.")
def main(lists: tuple[int, ...], hypotheses: int) -> None:
    """Run the experiment."""
    measured: list[tuple[int, dict[str, int]]] = []
    with TemporaryDirectory() as folder:
        for number in lists:
            _write_lists(Path(folder), number, hypotheses)
            measured.append((number * hypotheses, _peaks(Path(folder))))
            say(f"{number} lists: {measured[-1][1]}")
    commands = tuple(measured[0][1])
    (smallest, first), *_ = measured
    rows = []
    for total, peaks in measured:
        cells = [f"{total:,}"]
        for command in commands:
            rise = (peaks[command] - first[command]) / max(1, total - smallest)
            cells += [f"{peaks[command] / 1e6:.0f}", f"{rise:.0f}" if total > smallest else ""]
        rows.append(tuple(cells))
    header = ("hypotheses", *(cell for command in commands for cell in (f"{command}, MB", "bytes a hypothesis")))
    print(markdown_table(Table("Memory", header, tuple(rows), ())))


def _write_lists(folder: Path, number: int, hypotheses: int) -> None:
    rng = random.Random(1)
    words = [f"w{word}" for word in range(3000)]
    with open(folder / "lists", "w") as lists, open(folder / "ref", "w") as references:
        for segment in range(number):
            reference = rng.choices(words, k=rng.randint(10, 24))
            references.write(" ".join(reference) + "\n")
            for _ in range(hypotheses):
                text = list(reference)
                for _ in range(3):
                    text[rng.randrange(len(text))] = rng.choice(words)
                values = [round(rng.gauss(0, 3), 4) for _ in FEATURES]
                named = " ".join(f"{name}= {value}" for name, value in zip(FEATURES, values, strict=True))
                lists.write(f"{segment} ||| {' '.join(text)} ||| {named} ||| {sum(values):.4f}\n")


def _peaks(folder: Path) -> dict[str, int]:
    """The peak memory of each command in bytes."""
    lists, table = str(folder / "lists"), str(folder / "table.npz")
    bleu = ["-m", "bleu,tokenize=none", "-t", "mira"]
    commands = [
        ["extract", lists, "-f", "length", "-j", "1", "-o", table],
        [
            "tune",
            lists,
            "-r",
            str(folder / "ref"),
            "--reference-form",
            "lines",
            "--table",
            table,
            *bleu,
            "-o",
            str(folder / "weights.toml"),
        ],
    ]
    return {command[0]: _peak(command) for command in commands}


def _peak(command: list[str]) -> int:
    environment = {**os.environ, "RERANK_CACHE": "", "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, "-c", START, *command], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RerankError(f"`rerank {' '.join(command)}` ended with exit code {process.returncode}")
    return 1024 * usage.ru_maxrss


if __name__ == "__main__":
    main()
