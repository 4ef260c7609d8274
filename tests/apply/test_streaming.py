"""Lists of any length are reranked and merged in bounded memory."""

import subprocess
import sys
from pathlib import Path

import pytest

MEASURED = """
import resource, sys
from rerank_adapters.cli.main import main
try:
    main()
except SystemExit as ended:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print("peak", peak, file=sys.stderr)
    raise
"""  # ru_maxrss: KiB
SIZE = 20  # hypotheses a segment


def lists(lines: int):
    """An n-best file of so many lines, in pieces of one segment."""
    for segment in range(lines // SIZE):
        yield "".join(
            f"{segment} ||| hypothesis {row} of segment {segment} says so ||| LM0= -{row}.25 W0= -{segment % 7} ||| -{row}\n"
            for row in range(SIZE)
        ).encode()


def peak_of(folder: Path, lines: int, *arguments: str) -> tuple[int, int]:
    """Peak memory in KiB of a command that reads so many lines from stdin, and the lines that it wrote."""
    with open(folder / "out", "wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-c", MEASURED, *arguments],
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=subprocess.PIPE,
            cwd=folder,
        )
        assert process.stdin is not None
        with process.stdin as pipe:
            for piece in lists(lines):
                pipe.write(piece)
        assert process.stderr is not None
        with process.stderr as errors:
            said = errors.read().decode().split()
        assert process.wait() == 0, said
    return int(said[said.index("peak") + 1]), (folder / "out").read_bytes().count(b"\n")


@pytest.fixture
def place(tmp_path):
    (tmp_path / "w.toml").write_text(
        '[dense]\nLM0 = 1\nW0 = 0.5\nlength = 0.1\n[provenance.job]\nfeature = [{use = "length"}]\n'
    )
    return tmp_path


@pytest.mark.slow
def test_apply_streams(place):
    few, many = (peak_of(place, lines, "apply", "-", "-w", "w.toml", "-j", "1") for lines in (20_000, 100_000))
    assert (few[1], many[1]) == (20_000 // SIZE, 100_000 // SIZE)
    assert many[0] < 1.3 * few[0]
    assert many[0] - few[0] < 30_000, f"{few[0]} KiB for 20,000 lines, {many[0]} KiB for 100,000"


@pytest.mark.slow
def test_merging_sorted_files_streams(place):
    for name, lines in (("few", 20_000), ("many", 100_000)):
        (place / name).write_bytes(b"".join(lists(lines)))
    few, many = (peak_of(place, 0, "lists", "merge", name, name) for name in ("few", "many"))
    assert (few[1], many[1]) == (20_000, 100_000)
    assert many[0] < 1.3 * few[0]
