"""Work on a Dask cluster: its interface, and a real scheduler with two worker processes, one of which is killed."""

import os
import pickle
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from rerank_adapters.runtime import cluster
from rerank_adapters.runtime.cluster import using_cluster, workers_for
from rerank_plugins import ConfigError, FormatError, PluginError, RerankError
from tests.command_line import done, start
from tests.runtime.dask_cluster import DaskCluster

ADDRESS = "tcp://stand-in:8786"
PLUGIN = '''
import os, time
from dataclasses import dataclass
from pathlib import Path

from rerank_plugins import Parse, Parser, hookimpl, option
from rerank_plugins.core.dependency_tree import DependencyTree


@dataclass(frozen=True)
class Chain(Parser):
    """Each word depends on the one before it; `log` gets the process of each call, which takes a while."""

    log: str = option("", doc="a file")

    def parse(self, sentences):
        if self.log:
            with Path(self.log).open("a") as log:
                print(os.getpid(), file=log)
            time.sleep(0.4)
        return [Parse(self.tree(tuple(words))) for words in sentences]

    def tree(self, words):
        n = len(words)
        return DependencyTree(words, tuple(range(-1, n - 1)), (("root",) + ("dep",) * (n - 1))[:n], ("X",) * n)


@hookimpl
def register_parsers(register):
    register("chain", Chain)
'''


def negatives(folder, output, *more):
    parser = ("--plugin", folder / "chain.py", "negatives", "errors", folder / "text", "--parser", "chain")
    return (*parser, "-o", folder / output, *more)


class StandInTask:
    """A future of Dask."""

    def __init__(self, future):
        self.future = future

    def result(self):
        return self.future.result()

    def add_done_callback(self, call):
        self.future.add_done_callback(lambda _: call(self))


class StandInClient:
    """A client of Dask whose workers are threads of this process."""

    status = "running"

    def __init__(self):
        self.threads = ThreadPoolExecutor(2)
        self.submitted = 0

    def submit(self, function, *arguments, pure):
        self.submitted += 1
        later = [each.result() if isinstance(each, StandInTask) else each for each in arguments]
        return StandInTask(self.threads.submit(function, *later))

    def scheduler_info(self, n_workers):
        return {"workers": {"a": {"nthreads": 1}, "b": {"nthreads": 1}}}

    def cancel(self, tasks, force):
        pass


@pytest.fixture
def stand_in(monkeypatch):
    client = StandInClient()
    monkeypatch.setitem(cluster._clients, ADDRESS, client)
    yield client
    client.threads.shutdown()


@dataclass
class Double:
    """Twice a number; what else it does depends on the number."""

    def __call__(self, number):
        if number == 13:
            raise FormatError("unlucky", path="numbers", line=13)
        if number == 17:
            return lambda: "no pickle"
        return 2 * number


def test_results_and_errors_come_back(stand_in):
    with using_cluster(ADDRESS), workers_for(Double(), 1, "a number") as workers:
        futures = [workers.submit(number) for number in (1, 13, 17, 3)]
        assert workers.most() == 4
        assert (futures[0].result(), futures[3].result()) == (2, 6)
        with pytest.raises(FormatError, match="numbers:13: unlucky"):
            futures[1].result()
        with pytest.raises((AttributeError, pickle.PicklingError), match="lambda"):
            futures[2].result()
    with using_cluster(ADDRESS), pytest.raises(PluginError, match="a lambda cannot be sent"):
        workers_for(lambda item: item, 1, "a lambda").start()


def test_what_is_wrong_with_a_cluster(stand_in, monkeypatch, tmp_path):
    def result(name, value):
        with monkeypatch.context() as patch, using_cluster(ADDRESS), workers_for(Double(), 1, "a number") as workers:
            workers.start()
            patch.setattr(cluster, name, value)
            return workers.submit(1).result()

    with pytest.raises(PluginError, match=r"has rerank-plugins \S+, wanted"):
        result("__version__", "0.0")
    with monkeypatch.context() as patch:
        (tmp_path / "gone").mkdir()
        patch.chdir(tmp_path / "gone")
        workers = cluster.ClusterWorkers(Double(), ADDRESS, "a number")
        workers.start()
    (tmp_path / "gone").rmdir()
    with workers, pytest.raises(PluginError, match=r"no folder .*gone"):
        workers.submit(1).result()
    workers = cluster.ClusterWorkers(Double(), "tcp://nowhere:1", "a number")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(PluginError, match=r"pip install 'rerank-plugins\[dask\]'"):
        workers.start()

    def refuse(*_, **__):
        raise OSError("timed out")

    monkeypatch.setitem(sys.modules, "distributed", SimpleNamespace(Client=refuse))
    with pytest.raises(ConfigError, match="no Dask scheduler answers"):
        workers.start()


def test_what_becomes_of_tasks_without_a_result(monkeypatch):
    class KilledWorker(Exception):
        allowed_failures = 3

    class FutureCancelledError(Exception):
        pass

    monkeypatch.setitem(sys.modules, "distributed", SimpleNamespace(KilledWorker=KilledWorker))
    explained = cluster.ClusterWorkers(Double(), ADDRESS, "a number")._explained
    assert "4 workers ended during one task of a number" in str(explained(KilledWorker()))
    assert "has ended" in str(explained(FutureCancelledError()))
    assert "cannot run a number (ModuleNotFoundError: No module" in str(explained(ModuleNotFoundError("No module")))
    assert all(isinstance(explained(error), RerankError) for error in (OSError(), ValueError()))


@pytest.fixture
def chain(tmp_path):
    (tmp_path / "chain.py").write_text(PLUGIN)
    return tmp_path


def corpus(folder, sentences):
    """A text, and lists of five hypotheses."""
    (folder / "text").write_text("".join(f"sentence {n} of a text\n" for n in range(sentences)))
    hypotheses = (f"{n} ||| so {n} it {'is ' * k}||| ||| -{k}\n" for n in range(sentences // 25) for k in range(5))
    (folder / "lists.nbest").write_text("".join(hypotheses))


def parse(folder, output, *more, log=""):
    parser = f"chain,log={log}" if log else "chain"
    command = ("--plugin", folder / "chain.py", "trees", "parse", folder / "text", "-p", parser)
    return (*command, "-o", folder / output, *more)


def extract(folder, output, *more):
    return ("extract", folder / "lists.nbest", "-f", "length", "-o", folder / output, *more)


@pytest.mark.release
def test_a_cluster_writes_the_same_bytes(chain, stand_in, monkeypatch):
    """Of parses; extraction is by Dask's own executor, which the next test tries."""
    corpus(chain, 1050)
    monkeypatch.setenv("RERANK_CACHE", str(chain / "cache"))
    done(*parse(chain, "local", "-j", 1))
    monkeypatch.setenv("RERANK_CACHE", str(chain / "cache of the cluster"))
    for known, name in enumerate(("first", "again")):
        ran = done(*parse(chain, name, "--scheduler", ADDRESS))
        assert f"({0 if known else 1050} parsed now)" in ran.err
        assert (chain / name).read_bytes() == (chain / "local").read_bytes()
        assert stand_in.submitted == 3  # two batches, and the parser once
    monkeypatch.setenv("RERANK_CACHE", "")
    monkeypatch.setenv("RERANK_SCHEDULER", ADDRESS)
    done(*negatives(chain, "cluster.tsv"))
    assert stand_in.submitted > 4
    monkeypatch.delenv("RERANK_SCHEDULER")
    done(*negatives(chain, "local.tsv", "-j", 1))
    assert (chain / "cluster.tsv").read_bytes() == (chain / "local.tsv").read_bytes()


@pytest.mark.release
def test_a_worker_is_killed_half_way(chain, monkeypatch):
    pytest.importorskip("distributed", reason="Dask is not installed (rerank-plugins[dask])")
    monkeypatch.setenv("RERANK_CACHE", "")
    corpus(chain, 7500)
    calls = chain / "calls"
    with DaskCluster(chain, 2) as real:
        running = start(*parse(chain, "cluster", "--scheduler", real.address, log=calls))
        end = time.monotonic() + 60
        while time.monotonic() < end and (not calls.exists() or len(calls.read_text().splitlines()) < 4):
            time.sleep(0.02)
        killed = int(calls.read_text().split()[-1])
        os.kill(killed, signal.SIGKILL)
        extracting = start(*extract(chain, "cluster.npz", "--scheduler", real.address))
        done(*parse(chain, "local"))
        done(*extract(chain, "local.npz", "-j", 1))
        for process in (running, extracting):
            said = process.communicate(timeout=60)
            assert process.returncode == 0, said
        for name in ("local", "local.npz"):
            assert (chain / name).read_bytes() == (chain / name.replace("local", "cluster")).read_bytes()
        processes = calls.read_text().split()
        assert len(set(processes)) == 2
        assert len(processes) > 8  # the batch of the killed worker was parsed again
        assert processes[-1] != str(killed)
