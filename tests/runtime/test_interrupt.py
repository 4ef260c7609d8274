"""Ctrl-C in the middle of a long extraction: exit code 130, nothing half-written, and the same command continues."""

import os
import re
import signal
import time
from pathlib import Path
from unittest import mock

import pytest

from tests.command_line import Ran, one_line, start

pytestmark = pytest.mark.slow

PLUGIN = """
import os, time
import numpy as np
from dataclasses import dataclass
from rerank_plugins import FeatureExtractor, hookimpl, option


@dataclass
class Slow(FeatureExtractor):
    '''Number of characters, after a nap; says in a file which segments it saw.'''
    nap: float = option(0.02, doc="seconds for each list, where the command is to be interrupted")

    def extract(self, nbest):
        time.sleep(self.nap if "INTERRUPTED" in os.environ else 0.005)
        log = os.open(os.path.join(os.path.dirname(__file__), "seen"), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(log, f"{nbest.segment_id} {os.getpid()}\\n".encode())
        os.close(log)
        return np.array([[float(len(text))] for text in nbest.texts]).reshape(-1, 1)

@hookimpl
def register_feature_extractors(register):
    register("slow", Slow)
"""


def seen(place: Path) -> list[str]:
    """Segments that the plugin was asked about since the file was last removed, in order."""
    file = place / "seen"
    return [line.split()[0] for line in file.read_text().splitlines()] if file.exists() else []


def run(place: Path, *arguments: object, stop_after: int | None = None) -> Ran:
    """A command with the plugin in a process of its own; SIGINT to all its processes after so many segments."""
    (place / "seen").unlink(missing_ok=True)
    environment = {} if stop_after is None else {"INTERRUPTED": "1"}
    with (
        mock.patch.dict(os.environ, environment),
        start("--plugin", "slow.py", *arguments, cwd=place, start_new_session=True) as process,
    ):
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None
        if stop_after is not None:
            deadline = time.monotonic() + 60
            while len(seen(place)) < stop_after and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.005)
            os.killpg(process.pid, signal.SIGINT)  # what a terminal does
        out, err = process.communicate(timeout=120)
    return Ran(process.returncode, out.decode(), err.decode())


@pytest.fixture
def place(tmp_path_factory, tmp_path, root, monkeypatch):
    """Lists of 100 segments × 10 hypotheses, and the slow plugin."""
    monkeypatch.setenv("RERANK_CACHE", str(tmp_path_factory.mktemp("cache")))
    lines = (root / "example_nbest" / "mt" / "tune.nbest").read_text().splitlines(keepends=True)
    (tmp_path / "lists").write_text("".join(line for row, line in enumerate(lines) if row % 50 < 10))
    (tmp_path / "refs").write_text((root / "example_nbest" / "mt" / "tune.en").read_text())
    (tmp_path / "slow.py").write_text(PLUGIN)
    return tmp_path


def check_continues(place: Path, nap: float, jobs: int, stop_after: int) -> None:
    extract = ("extract", "lists", "-f", f"slow,nap={nap}", "-j", jobs, "-o")
    (place / "old.npz").write_bytes(b"a table from before")
    stopped = run(place, *extract, "old.npz", stop_after=stop_after)
    said = one_line(stopped, 130)
    assert said == "interrupted; no file is half written, and the same command continues an extraction"
    assert (place / "old.npz").read_bytes() == b"a table from before"
    assert not list(place.rglob("*.tmp"))
    first = seen(place)
    assert len(first) < 100
    again = run(place, *extract, "old.npz")
    assert again.code == 0, again.err
    second = seen(place)
    assert set(first) | set(second) == {str(segment) for segment in range(100)}
    assert len(second) == len(set(second)) < 100
    kept = 100 - len(second)
    assert kept >= 7, "the first chunk, of 64 hypotheses or more, was finished"
    assert run(place, *extract, "new.npz").code == 0
    assert not seen(place)
    assert (place / "old.npz").read_bytes() == (place / "new.npz").read_bytes()


def test_an_interrupted_extraction_continues(place):
    check_continues(place, 0.01, 1, 30)


def test_nothing_is_promised_without_a_cache(place, monkeypatch):
    monkeypatch.setenv("RERANK_CACHE", "")
    stopped = run(place, "extract", "lists", "-f", "slow", "-j", 1, "-o", "new.npz", stop_after=10)
    assert one_line(stopped, 130) == "interrupted; no file is half written"


@pytest.mark.slow
def test_an_interrupted_extraction_in_worker_processes_continues(place):
    check_continues(place, 0.04, 2, 30)


def test_what_was_extracted_for_tuning_is_kept_too(place):
    tune = ("tune", "lists", "-f", "slow,nap=0.01", "-j", 1, "-r", "refs", "-t", "mira,passes=2", "-o", "w.toml")
    assert run(place, *tune, stop_after=30).code == 130
    assert not (place / "w.toml").exists()
    again = run(place, *tune)
    assert again.code == 0, again.err
    assert len(seen(place)) < 100
    assert {path.name for path in place.iterdir()} == {"lists", "refs", "seen", "slow.py", "w.toml", *cached(place)}


def test_an_interrupted_rerank_leaves_no_output(place):
    weights = place / "w.toml"
    tune = ("tune", "lists", "-f", "slow,nap=0", "-r", "refs", "-t", "mira,passes=2", "-o", "w.toml")
    assert run(place, *tune).code == 0
    weights.write_text(re.sub(r"nap = [0-9.]+", "nap = 0.01", weights.read_text()))
    before = {path.name for path in place.iterdir()}
    stopped = run(
        place, "apply", "lists", "-w", "w.toml", "-j", 1, "-o", "best", "--nbest-out", "all.gz", stop_after=30
    )
    assert one_line(stopped, 130).startswith("interrupted")
    assert {path.name for path in place.iterdir()} - {"seen"} <= before


def cached(place: Path) -> set[str]:
    """Python's own folder of compiled modules, where it makes one."""
    return {path.name for path in place.glob("__pycache__")}
