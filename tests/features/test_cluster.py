"""Work on a Dask cluster: its interface, and a real scheduler with two worker processes, one of which is killed."""

import os
import pickle
import signal
import sys
import time
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from rerank_adapters.features import processes
from rerank_adapters.features.processes import Processes
from rerank_plugins import ConfigError, FormatError, PluginError, RerankError
from tests.command_line import done, start
from tests.features.dask_cluster import DaskCluster

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


class StandInExecutor(Executor):
    """The executor of a client of Dask whose workers are threads of this process."""

    def __init__(self, client):
        self.client = client

    def submit(self, function, *arguments):
        self.client.submitted += 1
        given = [each.result() if isinstance(each, Future) else each for each in arguments]
        return self.client.threads.submit(function, *given)


class StandInClient:
    """A client of Dask whose workers are threads of this process."""

    def __init__(self):
        self.threads = ThreadPoolExecutor(2)
        self.submitted = 0

    def submit(self, function, *arguments, pure):
        return StandInExecutor(self).submit(function, *arguments)

    def get_executor(self, pure):
        return StandInExecutor(self)

    def scheduler_info(self, n_workers):
        return {"workers": {"a": {"nthreads": 1}, "b": {"nthreads": 1}}}


@pytest.fixture
def stand_in(monkeypatch):
    client = StandInClient()
    monkeypatch.setattr(processes, "_client", {ADDRESS: client}.__getitem__)
    yield client
    client.threads.shutdown()


@dataclass
class Double:
    """Twice a number; what else it does depends on the number."""

    def __call__(self, number):
        if number == 13:
            raise FormatError("unlucky", path="numbers", line=13)
        if number == 14:
            raise FutureCancelledError
        if number == 15:
            raise KilledWorker("Attempted to run a task on 4 different workers")
        return 2 * number


class FutureCancelledError(CancelledError):
    """As of Dask, where a scheduler has ended."""


class KilledWorker(Exception):
    """As of Dask."""


KilledWorker.__module__ = "distributed.scheduler"


def results(*numbers, work=None):
    """The results of a cluster, in the order of the numbers."""
    return list(Processes(scheduler=ADDRESS).results(work or Double(), numbers, ordered=True))


def test_results_and_errors_come_back(stand_in):
    assert results(*range(12)) == list(range(0, 24, 2))
    assert stand_in.submitted == 13  # all tasks, and the work once
    with pytest.raises(FormatError, match="numbers:13: unlucky"):
        results(1, 13)
    with pytest.raises(RerankError, match="the cluster has ended, or its scheduler was started again"):
        results(1, 14)
    with pytest.raises(RerankError, match=r"cannot do a task \(KilledWorker: Attempted to run a task on 4 different"):
        results(1, 15)
    with pytest.raises(PluginError, match="cannot be sent to a worker process"):
        results(1, work=lambda item: item)


def test_what_is_wrong_with_a_worker(stand_in, monkeypatch, tmp_path):
    packed = processes._packed(Double())
    (tmp_path / "gone").mkdir()
    with monkeypatch.context() as patch:
        patch.chdir(tmp_path / "gone")
        elsewhere = processes._packed(Double())
    (tmp_path / "gone").rmdir()
    with pytest.raises(PluginError, match=r"no folder .*gone"):
        processes._on_cluster(elsewhere, pickle.dumps(1))
    processes._unpacked.cache_clear()
    monkeypatch.setattr(processes, "__version__", "0.0")
    with pytest.raises(PluginError, match=r"has rerank-plugins \S+, expected"):
        processes._on_cluster(packed, pickle.dumps(1))


def test_what_is_wrong_with_a_scheduler(monkeypatch):
    def refuse(*_, **__):
        raise OSError("timed out")

    nowhere = Processes(scheduler="tcp://nowhere:1")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(PluginError, match=r"pip install 'rerank-plugins\[dask\]'"):
        list(nowhere.results(Double(), [1]))
    monkeypatch.setitem(sys.modules, "distributed", SimpleNamespace(Client=refuse))
    with pytest.raises(ConfigError, match="no Dask scheduler answers"):
        list(nowhere.results(Double(), [1]))


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
