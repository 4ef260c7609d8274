"""Work shared out over processes: order, bounds, errors, and workers that are gone."""

import os
import pickle
import signal
import subprocess
import sys
import time
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

import pytest

from rerank_adapters.runtime.workers import Workers, collected, finished
from rerank_plugins import FormatError, PluginError, RerankError


class Stubborn(Exception):
    """Does not pickle."""

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


class Double:
    """Twice a number; what else it does depends on the number."""

    def __call__(self, number):
        if number == 13:
            raise FormatError("unlucky", path="numbers", line=13)
        if number == 14:
            raise Stubborn("one", "two")
        if number == 15:
            raise SystemExit(3)
        if number == 16:
            os.kill(os.getpid(), signal.SIGKILL)
        if number == 17:
            return lambda: "no pickle"
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


def pids(workers):
    """The process ids of the workers that were started."""
    return [worker.process.pid for worker in workers._workers]


def alive(pid: int) -> bool:
    """Whether the process has not ended; a zombie has, though nobody has asked how."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except FileNotFoundError:  # it has just ended, or there is no /proc
        return not Path("/proc/self").exists()


@pytest.fixture(scope="module", autouse=True)
def no_forks():
    """Workers are not forks in the tests of this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rerank_adapters.runtime.workers.may_fork", lambda: False)
        yield


@pytest.fixture(scope="module")
def doubling(no_forks):
    with Workers(Double(), 2, "a number") as workers:
        yield workers


def test_results_and_errors_come_back(doubling):
    futures = [doubling.submit(number) for number in range(17) if number != 16]
    assert [future.result() for future in futures[:13]] == list(range(0, 26, 2))
    with pytest.raises(FormatError, match="numbers:13: unlucky") as unlucky:
        futures[13].result()
    assert unlucky.value.line == 13
    assert "test_workers.py" in unlucky.value.__notes__[0]  # where it was raised, for `--debug`
    with pytest.raises(RuntimeError, match="Stubborn: one and two"):
        futures[14].result()
    with pytest.raises(SystemExit):
        futures[15].result()
    with pytest.raises((AttributeError, pickle.PicklingError), match="lambda"):
        doubling.submit(17).result()
    assert doubling.submit(20).result() == 40
    assert len(set(pids(doubling))) == 2


def test_order_and_how_many_are_held():
    futures = [Future() for _ in range(6)]
    pulled = []

    def source():
        for number, future in enumerate(futures):
            pulled.append(number)
            yield number, future if number % 2 else finished(-number)

    ordered = collected(source(), lambda: 2)
    assert next(ordered) == (0, 0)
    assert pulled == [0]
    futures[1].set_result("a")
    assert next(ordered) == (1, "a")
    assert next(ordered) == (2, -2)
    for future in futures[3:]:
        future.set_result("b")
    assert list(ordered) == [(3, "b"), (4, -4), (5, "b")]


def test_whichever_is_ready_first_and_how_many_are_held():
    futures = [Future() for _ in range(6)]
    pulled = []

    def source():
        for number, future in enumerate(futures):
            pulled.append(number)
            yield number, future

    futures[2].set_result("a")
    unordered = collected(source(), lambda: 2, ordered=False)
    assert next(unordered) == (2, "a")
    futures[3].set_result("b")
    assert next(unordered) == (3, "b")
    assert pulled == [0, 1, 2, 3]
    for future in (futures[5], futures[0], futures[4], futures[1]):
        future.set_result("c")
    assert sorted(unordered) == [(0, "c"), (1, "c"), (4, "c"), (5, "c")]


@pytest.mark.slow
def test_no_process_without_work():
    with Workers(Double(), 2, "a number") as workers:
        assert not workers.started
    assert pids(workers) == []


@pytest.mark.slow
def test_one_that_is_gone_and_one_that_cannot_start():
    with Workers(Double(), 1, "a number") as workers:
        with pytest.raises(RerankError, match=r"a worker process ended early \(signal 9\): out of memory"):
            workers.submit(16).result()
        with pytest.raises(RerankError, match="ended early"):
            workers.submit(1).result()
    with Workers(Unloadable(), 1, "a model") as workers, pytest.raises(RerankError, match="the model is gone"):
        workers.submit(1).result()
    with (
        Workers(lambda item: item, 1, "a lambda") as workers,
        pytest.raises(PluginError, match="a lambda cannot be sent"),
    ):
        workers.submit(1)


@pytest.mark.slow
def test_the_block_ends_them_at_once_where_it_fails():
    with pytest.raises(KeyError), Workers(time.sleep, 2, "a nap") as workers:  # noqa: PT012
        napping = [workers.submit(60) for _ in range(5)]
        started = time.monotonic()
        raise KeyError
    assert time.monotonic() - started < 10
    assert not any(map(alive, pids(workers)))
    assert all(future.cancelled() or isinstance(future.exception(), RerankError) for future in napping)


SCRIPT = """
import sys
from rerank_adapters.runtime import workers
workers.may_fork = lambda forks=workers.may_fork: sys.argv[1] == "fork" and forks()
if __name__ == "__main__":
    forgotten = workers.Workers(abs, 2, "a number")
    print(forgotten.submit(-1).result(), *(worker.process.pid for worker in forgotten._workers), flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", ["spawn", "fork"])
def test_a_script_that_forgets_them_ends(tmp_path, how):
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, tmp_path / "script.py", how], capture_output=True, text=True, timeout=60, check=True
    )
    result, *pids = map(int, done.stdout.split())
    assert (result, done.stderr) == (1, "")
    assert not any(map(alive, pids))


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="the kernel's signal is switched off below only on Linux")
def test_a_thread_ends_them_where_the_kernel_does_not(tmp_path):
    """As on other systems; the parent has a fork, too."""
    script = """
import os, sys, time
from rerank_adapters.runtime import workers
workers.may_fork = lambda: False
class Nap:
    def __call__(self, seconds):
        import ctypes
        from rerank_adapters.runtime.worker_process import PR_SET_PDEATHSIG
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0)
        print("ready", flush=True)
        time.sleep(seconds)
if __name__ == "__main__":
    shared = workers.Workers(Nap(), 1, "a nap")
    shared.submit(60)
    print(shared._workers[0].process.pid, flush=True)
    fork = os.fork()
    if fork:
        print(fork, flush=True)
    time.sleep(60)
"""
    (tmp_path / "script.py").write_text(script)
    command = [sys.executable, tmp_path / "script.py"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        said = [process.stdout.readline().strip() for _ in range(3)]
        said.remove("ready")  # which the worker, that has no stdout, says to stderr
        pid, fork = map(int, said)
        process.kill()
        process.wait()
        deadline = time.monotonic() + 20
        while alive(pid) and time.monotonic() < deadline:
            time.sleep(0.05)
        left = alive(pid)
        os.kill(fork, signal.SIGKILL)
    assert not left


FORKS = """
import os, sys, threading, time
from rerank_adapters.runtime.workers import Workers
loaded = {"model": 7, "loads": os.getpid()}
if sys.argv[1] == "thread":
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
class Work:
    def __call__(self, item):
        if item == "die":
            os.kill(os.getpid(), 9)
        if item == "sleep":
            time.sleep(60)
        return loaded["loads"], os.getppid(), os.getpid(), (lambda: 1)() * item
if __name__ == "__main__":
    print("buffered", end=" ")
    with Workers(Work(), 2, "a number") as workers:
        futures = [workers.submit(number) for number in range(20)]
        print([future.result()[3] for future in futures] == list(range(20)), end=" ")
        loads, parent, own, _ = futures[0].result()
        print((loads == os.getpid()) == (sys.argv[1] == "alone"), parent == os.getpid() != own, end=" ")
        if sys.argv[1] == "alone":
            try:
                workers.submit("die").result()
            except Exception as error:
                print("signal 9" in str(error), end=" ")
    late = Workers(Work(), 2, "a number")
    [late.submit("sleep") for _ in range(2)]
    print(*(worker.process.pid for worker in late._workers), flush=True)
    os.kill(os.getpid(), 9)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="workers are forks on Linux only")
@pytest.mark.parametrize("how", ["alone", "thread"])
def test_forks_have_what_is_loaded_unless_another_thread_runs(tmp_path, how):
    """A fork has the parent's objects, no copy of what it has not written yet, and ends with it, even by SIGKILL."""
    (tmp_path / "script.py").write_text(FORKS)
    ran = subprocess.run(
        [sys.executable, tmp_path / "script.py", how], capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.returncode == -signal.SIGKILL
    assert ran.stderr == ""
    *said, one, two = ran.stdout.split()
    assert said == ["buffered", "True", "True", "True", *(["True"] if how == "alone" else [])]
    deadline = time.monotonic() + 10
    while any(map(alive, (int(one), int(two)))) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(map(alive, (int(one), int(two))))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="workers are forks on Linux only")
def test_forks_start_while_a_bar_is_shown(tmp_path):
    script = """
import sys
from rerank_adapters.runtime import progress, workers
progress.CountingBar.delay = 0.0
sys.stderr.isatty = lambda: True
if __name__ == "__main__":
    for _ in range(5):
        with progress.CountingBar("items", 100) as bar:
            bar.add(1)
            assert bar._display is not None
            def count(number):
                return abs(number)
            with workers.Workers(count, 2, "a number") as shared:
                assert shared.forks
                for number in range(30):
                    bar.add(shared.submit(-1).result())
            assert bar._display.live.is_started
    print(bar.done)
"""
    (tmp_path / "script.py").write_text(script)
    ran = subprocess.run(
        [sys.executable, tmp_path / "script.py"], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ran.returncode, ran.stdout) == (0, "31\n"), ran.stderr


SHARED = """
import os, threading
from rerank_adapters.runtime.workers import shared_out

data = list(range(1000))  # not sent anywhere

def results(items):
    return list(shared_out(lambda item: (data[item], os.getpid()), items, 2, "the work"))

pairs = results(range(7))
forks = {pid for _, pid in pairs}
assert [value for value, _ in pairs] == list(range(7)), pairs
assert len(forks) == 2 and os.getpid() not in forks, forks
assert results([]) == []
thread = threading.Thread(target=lambda: pairs.extend(results([5, 6])))  # where forks are not safe
thread.start()
thread.join()
assert pairs[7:] == [(5, os.getpid()), (6, os.getpid())], pairs
"""


@pytest.mark.skipif(sys.platform != "linux", reason="forks are used on Linux alone")
def test_work_on_data_in_memory_is_shared_out_to_forks_or_threads():
    # In a program of its own, which may fork whatever ran before.
    subprocess.run([sys.executable, "-c", SHARED], check=True, timeout=60)
