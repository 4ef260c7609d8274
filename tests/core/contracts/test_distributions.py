"""Files record which packages their plugins are from, so that an error names the one to install."""

import shutil
import tomllib

import pytest

from rerank_adapters import Reranker
from rerank_adapters.job.job import Job
from rerank_plugins import ConfigError, PluginError
from rerank_plugins.core.loader import load_plugins
from tests.command_line import done, refused, rerank
from tests.core.test_plugins import PLUGIN, install  # noqa: F401 -- a fixture

LISTS = "0 ||| a cat ||| F= 1 ||| 1\n0 ||| a dog ||| F= 2 ||| 1\n1 ||| the ||| F= 1 ||| 1\n1 ||| a ||| F= 0 ||| 1\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    job = tmp_path / "job"
    job.mkdir()
    (job / "tune.nbest").write_text(LISTS)
    (job / "tune.en").write_text("a cat\nthe\n")
    monkeypatch.chdir(job)
    return job


def test_weights_name_the_package_to_install(install, folder, tmp_path):  # noqa: F811
    install("sounds", PLUGIN)
    done("extract", "tune.nbest", "-f", "length", "-f", "vowels", "-o", "tune.npz")
    done("tune", "tune.nbest", "-r", "tune.en", "--table", "tune.npz", "-m", "wer", "-o", "weights.toml")
    recorded = tomllib.loads((folder / "weights.toml").read_text())["provenance"]["job"]["distributions"]
    assert recorded == [{"kind": "feature", "name": "vowels", "distribution": "sounds", "version": "1.0"}]
    done("apply", "tune.nbest", "-w", "weights.toml")
    shutil.rmtree(tmp_path / "sounds")
    wanted = "no feature named 'vowels'; it is in sounds 1.0, which is not installed: pip install sounds"
    assert refused("apply", "tune.nbest", "-w", "weights.toml").endswith(wanted)
    with pytest.raises(PluginError, match="pip install sounds"):
        Reranker.load("weights.toml")
    said = refused("tune", "tune.nbest", "-r", "tune.en", "--table", "tune.npz", "-m", "wer", "-o", "other.toml")
    assert said.endswith(wanted)


def test_built_in_plugins_are_not_recorded(folder):
    done("extract", "tune.nbest", "-f", "length", "-o", "tune.npz")
    done("tune", "tune.nbest", "-r", "tune.en", "--table", "tune.npz", "-m", "wer", "-o", "weights.toml")
    assert "distributions" not in tomllib.loads((folder / "weights.toml").read_text())["provenance"]["job"]


@pytest.mark.parametrize("record", ["sounds", [3], [{"kind": "feature"}]])
def test_a_record_that_was_edited(record, folder):
    with pytest.raises(ConfigError, match=r"provenance\.job\.distributions: wanted tables of kind, name"):
        Job.of_record({"job": {"distributions": record}}, folder / "weights.toml", load_plugins(installed=False))


def test_a_name_that_two_packages_claim_is_shown(install, folder):  # noqa: F811
    install("one", PLUGIN)
    install("two", PLUGIN)
    ran = rerank("plugins", "vowels")
    assert ran.code == 0
    (shown,) = [line for line in ran.lines if "both register this name" in line]
    assert shown.strip() in (
        "one (one) and two (two) both register this name, so neither can be used: uninstall one of them",
        "two (two) and one (one) both register this name, so neither can be used: uninstall one of them",
    )
    assert "both register" not in rerank("plugins", "length").out
