"""`rerank run` keeps the lists of one data set in memory at a time, and until its last stage is done."""

import shutil

from tests.command_line import start

CONFIG = """
plugins = ["alive.py"]
[nbest]
use = "moses"
[tune]
nbest = ["tune.nbest"]
references = ["tune.en"]
[[test]]
name = "held"
nbest = ["test.nbest"]
references = ["test.en"]
[[metric]]
use = "bleu"
tokenize = "none"
[tuner]
use = "mira"
passes = 2
[[feature]]
use = "alive"
[evaluation]
bootstrap = 9
randomisation = 9
"""
PLUGIN = """
import gc
from dataclasses import dataclass
import numpy as np
from rerank_plugins import FeatureExtractor, NBestList, hookimpl

@dataclass(frozen=True)
class Alive(FeatureExtractor):
    "Writes the id of each list, and how many lists are alive in this process."

    scope = "list"

    def extract(self, nbest):
        with open("alive", "a") as stream:
            print(sum(isinstance(one, NBestList) for one in gc.get_objects()), file=stream)
        return np.arange(float(len(nbest)))[:, None]

@hookimpl
def register_feature_extractors(register):
    register("alive", Alive)
"""


def test_the_lists_of_one_set_are_in_memory_at_a_time(small, tmp_path, monkeypatch):
    for name in ("tune.nbest", "tune.en", "test.nbest", "test.en"):
        shutil.copy(small / name, tmp_path / name)
    (tmp_path / "job.toml").write_text(CONFIG)
    (tmp_path / "alive.py").write_text(PLUGIN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RERANK_CACHE", "")
    process = start("run", "job.toml", "--work", "work", "-j", 1)
    process.communicate()
    assert process.returncode == 0
    alive = list(map(int, (tmp_path / "alive").read_text().split()))
    of_tune, of_test = alive[:20], alive[20:]
    assert set(of_tune) == {20}  # the test sets have been read, to be compared with it
    assert set(of_test) == {20}
