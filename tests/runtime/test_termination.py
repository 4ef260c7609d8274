"""Signals that end a program: SIGTERM ends all of it as Ctrl-C does, and no worker outlives its parent, however that died."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from rerank_adapters.cli.main import Terminated, ended_by_signals
from tests.command_line import Ran, one_line, start

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the processes are looked up in /proc")
SOON = 10.0  # seconds: a quarter of one is usual; other tests may have the machine at full load

PLUGIN = """
import multiprocessing, os, time
from dataclasses import dataclass
import numpy as np
from rerank_adapters.applications.parsing import parses
from rerank_plugins import FeatureExtractor, Parse, Parser, hookimpl
from rerank_plugins.core.dependency_tree import DependencyTree

parses.SENTENCES_OF_BATCH = 5

def work():
    if multiprocessing.parent_process() is not None:
        open(os.path.join(os.path.dirname(__file__), f"busy.{os.getpid()}"), "w").close()
        sum(range(10**12))  # hours in native code, and the interpreter's lock is held

@dataclass
class Busy(FeatureExtractor):
    'The length; in a worker, after hours.'
    def extract(self, nbest):
        work()
        return np.array([[float(len(text))] for text in nbest.texts]).reshape(-1, 1)

@dataclass
class BusyParser(Parser):
    'Chains; in a worker, after hours.'
    def parse(self, sentences):
        work()
        return [Parse(DependencyTree(s, tuple(range(-1, len(s) - 1)), ("root", *["dep"] * (len(s) - 1)))) for s in sentences]

@hookimpl
def register_feature_extractors(register):
    register("busy", Busy)

@hookimpl
def register_parsers(register):
    register("busy", BusyParser)
"""
CONFIG = """
plugins = ["busy.py"]
[nbest]
use = "moses"
[tune]
nbest = ["lists"]
references = ["refs"]
[[metric]]
use = "bleu"
[[feature]]
use = "busy"
"""
COMMANDS = {
    "extract": "extract lists -f busy -o table.npz",
    "tune": "tune lists -f busy -r refs -o w.toml",
    "cross-validate": "cross-validate lists -f busy -r refs",
    "run": "run job.toml --work work",
    "apply": "apply lists -w weights.toml -o best --nbest-out all.gz",
    "parse": "trees parse text -p busy -o trees",
    "train dependency-lm": "train dependency-lm text -p busy -o model",
}
EVERY_TIME = {("run", "SIGTERM"), ("apply", "SIGTERM"), ("parse", "SIGKILL")}  # the others before a release
STOPPED = "no file is half written, and the same command continues an extraction"


@pytest.fixture
def place(tmp_path_factory, tmp_path, root, monkeypatch):
    """Lists of 100 segments × 10 hypotheses, sentences to parse, and the plugin."""
    monkeypatch.setenv("RERANK_CACHE", str(tmp_path_factory.mktemp("cache")))
    lines = (root / "example_nbest" / "mt" / "tune.nbest").read_text().splitlines(keepends=True)
    fields = [line.split(" ||| ") for row, line in enumerate(lines) if row % 50 < 10]
    numbered = (f"{segment} ||| {text} ||| D= {i % 3} ||| 1\n" for i, (segment, text, *_) in enumerate(fields))
    (tmp_path / "lists").write_text("".join(numbered))
    (tmp_path / "refs").write_text((root / "example_nbest" / "mt" / "tune.en").read_text())
    (tmp_path / "text").write_text("".join(f"the dog number {i} sleeps\n" for i in range(50)))
    (tmp_path / "weights.toml").write_text(
        '[dense]\nD = 1.0\nbusy = 1.0\n[provenance.job]\nfeature = [{use = "busy"}]\n'
    )
    (tmp_path / "job.toml").write_text(CONFIG)
    (tmp_path / "busy.py").write_text(PLUGIN)
    return tmp_path


def members(session: int) -> list[str]:
    """The processes of a session that have not ended: what they are called."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = stat.read_text().rpartition(")")
        except OSError:
            continue
        state, _, _, its_session = rest.split()[:4]
        if int(its_session) == session and state not in "ZX":
            found.append(name)
    return found


def stopped(place: Path, command: str, number: int, group: bool = False) -> Ran:
    """A command that gets a signal when its workers are busy: how it ended, when none of its processes is left."""
    with start("--plugin", "busy.py", *command.split(), cwd=place, start_new_session=True) as process:
        try:
            wait_for(lambda: len(list(place.glob("busy.[0-9]*"))) == 2, process)
            assert len(members(process.pid)) >= 3
            sent = time.monotonic()
            (os.killpg if group else os.kill)(process.pid, number)
            while members(process.pid) and time.monotonic() < sent + SOON:
                time.sleep(0.01)
            left = members(process.pid)
        finally:
            if members(process.pid):
                os.killpg(process.pid, signal.SIGKILL)
        assert not left, f"alive {SOON:.0f} s later: {left}"
        out, err = process.communicate(timeout=20)
    return Ran(process.returncode, out.decode(), err.decode())


def wait_for(condition: Callable[[], object], process: subprocess.Popen[bytes]) -> None:
    """Wait until something holds, while the process lives."""
    deadline = time.monotonic() + 60
    while not condition() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert process.poll() is None, process.communicate()
    assert condition()


def check(place: Path, command: str, name: str) -> None:
    before = {path.name for path in place.iterdir()}
    number, group = signal.Signals[name.split()[0]], name.endswith("to all")
    ran = stopped(place, COMMANDS[command], number, group)
    kept = {path.name for path in place.iterdir() if not path.name.startswith(("busy.", "__pycache__"))} - before
    if number == signal.SIGKILL:
        assert ran.code == -number
        return
    said = one_line(ran, 128 + number, after=True)
    assert said == f"{'interrupted' if number == signal.SIGINT else 'terminated'}; {STOPPED}"
    assert not list(place.rglob("*.tmp"))
    assert kept == ({"work"} if command == "run" else set())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL"])
def test_workers_in_the_middle_of_native_code_end_with_the_program(place, name):
    check(place, "extract", name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SIGHUP", "SIGINT", "SIGTERM to all", "SIGINT to all"])
def test_one_process_gets_the_signal_or_all(place, name):
    check(place, "extract", name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "name"),
    [
        pytest.param(command, name, marks=[pytest.mark.release] * ((command, name) not in EVERY_TIME))
        for command in COMMANDS
        if command != "extract"
        for name in ("SIGTERM", "SIGKILL")
    ],
)
def test_so_it_is_with_every_command_that_has_workers(place, command, name):
    check(place, command, name)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "pause"), [("SIGTERM", 0), ("SIGTERM", 0.02), ("SIGHUP", 0.04)])
def test_a_file_that_was_being_written_is_taken_away(place, name, pause):
    with start("--plugin", "busy.py", "trees", "parse", "-", "-p", "busy", "-o", "trees", cwd=place) as process:
        wait_for(lambda: list(place.glob(".trees.*.tmp")), process)
        process.send_signal(signal.Signals[name])
        time.sleep(pause)
        process.send_signal(signal.Signals[name])  # as `timeout` does
        out, err = process.communicate(timeout=20)
    ran = Ran(process.returncode, out.decode(), err.decode())
    assert one_line(ran, 128 + signal.Signals[name]) == f"terminated; {STOPPED}"
    assert not list(place.glob("*trees*"))


@pytest.mark.slow
def test_a_signal_that_nohup_has_turned_off_stays_off(place):
    with start(
        "--plugin", "busy.py", "trees", "parse", "-", "-p", "busy", "-o", "trees", cwd=place,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    ) as process:  # fmt: skip
        wait_for(lambda: list(place.glob(".trees.*.tmp")), process)
        process.send_signal(signal.SIGHUP)
        _, err = process.communicate(b"a b\n", timeout=20)
    assert process.returncode == 0, err
    assert (place / "trees").exists()


def test_signals_are_ignored_while_the_program_ends():
    try:
        with pytest.raises(Terminated, match="SIGTERM"), ended_by_signals():
            os.kill(os.getpid(), signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) is signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


def test_a_calling_program_keeps_its_signals():
    with ended_by_signals():
        assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    seen = []
    signal.signal(signal.SIGTERM, lambda number, frame: seen.append(number))
    try:
        with ended_by_signals():
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.01)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    assert seen == [signal.SIGTERM]
