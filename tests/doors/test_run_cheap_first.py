"""`rerank run` does systems without some features first: a table of scores stands before the costly features."""

import shutil

import pytest

from rerank_adapters.weights import read_weights
from rerank_plugins import FeatureTable
from tests.command_line import done, rerank

CONFIG = """
plugins = ["costly.py"]
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
label = "BLEU"
[tuner]
use = "mira"
passes = 3
[[feature]]
use = "length"
[[feature]]
use = "costly"
[[system]]
name = "no costs"
without = ["costly"]
[[system]]
name = "MBR"
tuner = { use = "mbr" }
[evaluation]
bootstrap = 20
randomisation = 20
"""
PLUGIN = """
from dataclasses import dataclass
import numpy as np
from rerank_plugins import ConfigError, FeatureExtractor, hookimpl

@dataclass(frozen=True)
class Costly(FeatureExtractor):
    cached = False
    def extract(self, nbest):
        if FAILS:
            raise ConfigError("costly: no time")
        return np.array([[float(len(text))] for text in nbest.texts])

@hookimpl
def register_feature_extractors(register):
    register("costly", Costly)
"""


@pytest.fixture
def place(small, tmp_path, monkeypatch):
    for name in ("tune.nbest", "tune.en", "test.nbest", "test.en"):
        shutil.copy(small / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RERANK_CACHE", str(tmp_path / "cache"))
    (tmp_path / "job.toml").write_text(CONFIG)
    (tmp_path / "costly.py").write_text(PLUGIN.replace("FAILS", "False"))
    return tmp_path


def test_the_first_table_stands_though_the_costly_features_fail(place):
    (place / "costly.py").write_text(PLUGIN.replace("FAILS", "True"))
    ran = rerank("run", "job.toml", "--work", "w", "-j", 1)
    assert ran.code == 2
    assert ran.err.splitlines()[-1] == "rerank: costly: no time"
    table = ran.err[ran.err.index("held, before the features that only other systems have:\n") :].splitlines()[1:3]
    assert [line.split("  BLEU ")[0].strip() for line in table] == ["1-best", "no costs"]
    assert {"tune.no-costs.npz", "held.no-costs.npz", "weights.no-costs.toml", "held.no-costs.1best"} <= {
        path.name for path in (place / "w").iterdir()
    }


def test_its_scores_are_those_of_the_report(place):
    ran = done("run", "job.toml", "--work", "w", "-j", 1)
    table = ran.err[ran.err.index("held, before") :].splitlines()[1:3]
    scores = dict(line.strip().split("  BLEU ") for line in table)
    assert {name.strip(): score in ran.out for name, score in scores.items()} == {"1-best": True, "no costs": True}


def test_the_weights_are_those_of_all_features_without_the_costly_one(place):
    done("run", "job.toml", "--work", "w", "-j", 1)
    whole, own = (FeatureTable.load(place / "w" / name) for name in ("tune.npz", "tune.no-costs.npz"))
    assert [name for name in whole.names if name != "costly"] == list(own.names)
    columns = [whole.names.index(name) for name in own.names]
    assert (whole.values[:, columns] == own.values).all()
    done("tune", "tune.nbest", "-r", "tune.en", "-m", "bleu,tokenize=none", "-t", "mira,passes=3", "-f", "length",
         "-o", "own.toml", "-j", 1)  # fmt: skip
    assert read_weights(place / "own.toml").dense == read_weights(place / "w/weights.no-costs.toml").dense


def test_a_system_with_all_features_waits_and_a_run_again_says_no_table(place):
    ran = done("run", "job.toml", "--work", "w", "-j", 1, "--dry-run")
    order = [line.partition(" (")[0] for line in ran.out.splitlines()]
    assert order[:6] == [
        "do   tune: features no costs", "do   tune: weights no costs", "do   held: features no costs",
        "do   held: 1-bests no costs", "do   tune: features", "do   tune: weights MBR",
    ]  # fmt: skip
    own = CONFIG.replace('plugins = ["costly.py"]\n', "").replace(
        '"costly"', '"reciprocal-rank"'
    )  # plugin files are never known
    (place / "job.toml").write_text(own)
    first = done("run", "job.toml", "--work", "v", "-j", 1)
    again = done("run", "job.toml", "--work", "v", "-j", 1)
    assert "held, before" in first.err
    assert "held, before" not in again.err
    assert "held: unchanged, so not made again: features no costs, 1-bests no costs, features" in again.err
