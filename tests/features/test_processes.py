"""Work in processes: results, their order and bounds, errors, and processes that are gone."""

import os
import pickle
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from rerank_adapters.features import processes
from rerank_adapters.features.processes import TASKS_OF_WORKER, Processes
from rerank_plugins import FormatError, PluginError, RerankError


class Double:
    """Twice a number; what else it does depends on the number."""

    def __call__(self, number):
        if number == 13:
            raise FormatError("unlucky", path="numbers", line=13)
        if number == 15:
            raise ValueError("one and two")
        if number == 16:
            os.kill(os.getpid(), signal.SIGKILL)
        if number == 17:
            return lambda: "no pickle"
        if number == 18:
            return os.getpid()
        return 2 * number


@dataclass
class Unloadable:
    """Pickles, but does not load."""

    def __setstate__(self, state):
        raise RerankError("the model is gone")

    def __getstate__(self):
        return 1

    def __call__(self, item):
        return item


def alive(pid: int) -> bool:
    """Whether the process has not ended; a zombie has, though nobody has asked how."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except FileNotFoundError:  # it has just ended, or there is no /proc
        return not Path("/proc/self").exists()


@pytest.fixture(params=["fork", "spawn"])
def kind_of_process(request, monkeypatch):
    """Whether processes share what this one has loaded. A fork is safe here: no other thread holds a lock."""
    if request.param == "fork" and sys.platform != "linux":
        pytest.skip("processes are forks on Linux only")
    monkeypatch.setattr(processes, "may_fork", lambda: request.param == "fork")


@pytest.mark.slow
def test_results_and_errors_come_back(kind_of_process):
    two = Processes(2)
    assert sorted(two.results(Double(), range(13))) == list(range(0, 26, 2))
    assert list(two.results(Double(), range(13), ordered=True)) == list(range(0, 26, 2))
    here, *others = two.results(Double(), [18, 18, 18, 18, 18])
    assert here == os.getpid() not in others
    with pytest.raises(FormatError, match="numbers:13: unlucky") as unlucky:
        list(two.results(Double(), [1, 13]))
    assert unlucky.value.line == 13
    with pytest.raises(ValueError, match="one and two"):
        list(two.results(Double(), [1, 15, 2]))
    with pytest.raises((AttributeError, pickle.PicklingError), match="lambda"):
        list(two.results(Double(), [1, 17]))


def test_one_task_or_one_process_needs_no_other():
    pids = [os.getpid()]
    assert list(Processes(1).results(Double(), [18, 18, 18])) == 3 * pids
    assert list(Processes(4).results(Double(), [18])) == pids
    assert list(Processes(4).results(Double(), [])) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "forks", [pytest.param(True, marks=pytest.mark.skipif(sys.platform != "linux", reason="no forks")), False]
)
def test_work_on_shared_memory_is_never_sent(monkeypatch, forks):
    """Forks and threads do work that cannot be pickled; where forks are not safe, this process does it by threads."""
    monkeypatch.setattr(processes, "may_fork", lambda: forks)
    much = list(range(1000))
    two = Processes(2, "tcp://nobody.there:1")
    done: list[int] = []
    assert two.shared_results(lambda number: much[number] * 2, range(13), done.append) == list(range(0, 26, 2))
    assert sorted(done) == list(range(13))
    pids = set(two.shared_results(Double(), [18, 18, 18]))
    assert (os.getpid() in pids) is not forks
    with pytest.raises(FormatError, match="numbers:13: unlucky"):
        two.shared_results(Double(), [1, 13, 2])
    assert two.shared_results(Double(), [18]) == [os.getpid()]


@pytest.mark.slow
def test_only_some_tasks_are_held_and_in_order():
    taken = []

    def tasks():
        for number in range(40):
            taken.append(number)
            yield number

    for place, result in enumerate(Processes(2).results(nap_of_first, tasks(), ordered=True)):
        assert result == place
        assert len(taken) <= place + 2 + TASKS_OF_WORKER * 2
    assert len(taken) == 40


def nap_of_first(number):
    """The number; every fifth takes longer than later ones."""
    time.sleep(0.05 if number % 5 == 1 else 0)
    return number


@pytest.mark.slow
def test_one_that_is_gone_and_one_that_cannot_start(monkeypatch):
    with pytest.raises(RerankError, match="a worker process ended early: out of memory"):
        list(Processes(2).results(Double(), [1, 16, 2]))
    monkeypatch.setattr(processes, "may_fork", lambda: False)
    with pytest.raises(RerankError, match="the model is gone"):
        list(Processes(2).results(Unloadable(), [1, 2]))
    with pytest.raises(PluginError, match="cannot be sent to a worker process"):
        list(Processes(2).results(lambda item: item, [1, 2]))


@pytest.mark.slow
def test_the_processes_end_at_once_where_the_results_are_left(tmp_path, kind_of_process):
    started = time.monotonic()
    results = Processes(2).results(Nap(tmp_path), [0, 0, 60, 60, 60])
    assert next(results) == 0
    with pytest.raises(KeyError):
        take_one_and_fail(results)
    assert time.monotonic() - started < 30
    pids = {int(path.name) for path in tmp_path.iterdir()} - {os.getpid()}
    assert pids
    assert not any(map(alive, pids))


def take_one_and_fail(results):
    """As a program that has an error while processes work."""
    try:
        next(results)
        raise KeyError
    finally:
        results.close()


@dataclass
class Nap:
    """Sleeps, and leaves the number of its process in a folder."""

    folder: Path

    def __call__(self, seconds):
        (self.folder / str(os.getpid())).touch()
        time.sleep(seconds)
        return seconds


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="the kernel's signal is switched off below only on Linux")
def test_a_thread_ends_them_where_the_kernel_does_not(tmp_path):
    """As on other systems."""
    script = """
import os, sys, time
from rerank_adapters.features import processes
processes.may_fork = lambda: False
class Nap:
    def __call__(self, seconds):
        if seconds:
            print(os.getpid(), flush=True)
        time.sleep(seconds)
if __name__ != "__main__":
    sys.platform = "another"
else:
    list(processes.Processes(2).results(Nap(), [0, 60]))
"""
    (tmp_path / "script.py").write_text(script)
    command = [sys.executable, tmp_path / "script.py"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        pid = int(process.stdout.readline())
        process.kill()
        process.wait()
        deadline = time.monotonic() + 20
        while alive(pid) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not alive(pid)


FORKS = """
import os, sys, threading, time
from rerank_adapters.features.processes import Processes
loaded = {"model": 7, "loads": os.getpid()}
if sys.argv[1] == "thread":
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
class Work:
    def __call__(self, item):
        if item == "sleep":
            print(f"{os.getpid()} ", end="", file=sys.stderr, flush=True)  # in one piece
            time.sleep(60)
        return loaded["loads"], os.getppid(), os.getpid()
if __name__ == "__main__":
    print("buffered", end=" ")
    results = list(Processes(2).results(Work(), range(20), ordered=True))
    loads, parent, own = results[-1]
    print((loads == os.getpid()) == (sys.argv[1] == "alone"), parent == os.getpid() != own, flush=True)
    for number, _ in enumerate(Processes(2).results(Work(), [0, "sleep", "sleep", 0], ordered=True)):
        pass
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="processes are forks on Linux only")
@pytest.mark.parametrize("how", ["alone", "thread"])
def test_forks_have_what_is_loaded_unless_another_thread_runs(tmp_path, how):
    """A fork has the parent's objects, no copy of what it has not written yet, and ends with it, even by SIGKILL."""
    (tmp_path / "script.py").write_text(FORKS)
    command = [sys.executable, tmp_path / "script.py", how]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        said = process.stdout.readline().split()
        pids = set()
        text = ""
        deadline = time.monotonic() + 30
        while len(pids) < 2 and time.monotonic() < deadline:
            text += process.stderr.read(1)
            pids = {int(pid) for pid in text.split(" ")[:-1]}
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert said == ["buffered", "True", "True"]
        deadline = time.monotonic() + 10
        while any(map(alive, pids)) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(pids) == 2
        assert not any(map(alive, pids))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="processes are forks on Linux only")
def test_forks_start_while_a_bar_is_shown(tmp_path):
    script = """
import sys
from rerank_adapters.features.processes import Processes, may_fork
from rerank_adapters.runtime import progress
progress.CountingBar.delay = 0.0
sys.stderr.isatty = lambda: True
if __name__ == "__main__":
    for _ in range(5):
        with progress.CountingBar("items", 100) as bar:
            bar.add(1)
            assert bar._display is not None
            assert may_fork()
            def count(number):
                return abs(number)
            for number in Processes(2).results(count, 30 * [-1]):
                bar.add(number)
            assert bar._display.live.is_started
    print(bar.done)
"""
    (tmp_path / "script.py").write_text(script)
    ran = subprocess.run(
        [sys.executable, tmp_path / "script.py"], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ran.returncode, ran.stdout) == (0, "31\n"), ran.stderr
