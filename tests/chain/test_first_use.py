"""A helper process compiles kernels in a first extraction; values are those of this process alone."""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from rerank_adapters.chain.extraction import extract_features, pool
from rerank_plugins import FeatureExtractor, Hypothesis, NBestList
from rerank_plugins.kit import kernel_compilation

LISTS = [NBestList(str(i), (Hypothesis("a b"), Hypothesis("a"))) for i in range(2)]


@dataclass(frozen=True)
class Compiling(FeatureExtractor):
    """Says that it compiles a kernel, and writes its name and the process to a file; waits until the other has too."""

    name: str
    log: Path

    def extract(self, nbest):
        for listener in list(kernel_compilation._listeners):
            listener("module.kernel")
        with self.log.open("a") as log:
            print(self.name, os.getpid(), file=log)
        return np.full((len(nbest), 1), float(len(self.name)))


@pytest.mark.slow
def test_a_helper_goes_through_the_features_backwards(tmp_path, monkeypatch):
    monkeypatch.setattr(pool, "_starts_again", lambda: True)
    stop = pool.Workers.stop

    def stop_when_done(workers):
        if workers.started:
            workers._threads.shutdown()
        stop(workers)

    monkeypatch.setattr(pool.Workers, "stop", stop_when_done)
    log = tmp_path / "log"
    features = {name: Compiling(name, log) for name in ("one", "three")}
    table = extract_features(LISTS, features, jobs=2)
    alone = extract_features(LISTS, features, jobs=1)
    assert table.values.tobytes() == alone.values.tobytes()
    rows = [line.split() for line in log.read_text().splitlines()]
    others = [name for name, process in rows if process != str(os.getpid())]
    assert others == ["three", "one"]


def test_scripts_that_would_start_all_over_get_no_helper(monkeypatch):
    main = pool.sys.modules["__main__"]
    monkeypatch.setattr(main, "__spec__", None)
    monkeypatch.setattr(main, "__file__", "/home/me/script.py", raising=False)
    assert not pool._starts_again()
    monkeypatch.setattr(main, "__file__", "/usr/bin/rerank")
    assert pool._starts_again()
