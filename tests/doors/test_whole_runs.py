"""Whole runs come out as they did when they were recorded: the tables of features, the weights and the 1-bests.

`tests/golden/runs` has a recording of each config: for each column of a table its sum and its sum weighted by the
number of the row, for each system its dense weights and the hash of its 1-bests. It was made before the corridor from
config to report was rebuilt, and holds for any number of processes, and for a cache that has the values or not.
To record a folder of a run whose results are meant to differ:

    python -m tests.doors.test_whole_runs FOLDER tests/golden/runs/NAME.json
"""

import hashlib
import json
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from rerank_plugins import FeatureTable
from tests.command_line import done

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "runs"
PRECISION = 1e-9  # relative; processors may round the last digits differently


def recording(folder: Path) -> dict[str, dict[str, object]]:
    """What a run has left in its folder, in a form that a file of a few kilobytes holds."""
    tables = {path.name: _sums(FeatureTable.load(path)) for path in sorted(folder.glob("*.npz"))}
    weights = {path.name: tomllib.loads(path.read_text())["dense"] for path in sorted(folder.glob("weights*.toml"))}
    best = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.glob("*.1best"))}
    return {"tables": tables, "weights": weights, "best": best}


def _sums(table: FeatureTable) -> dict[str, list[float]]:
    rows = np.arange(1, len(table.values) + 1) / len(table.values)
    both = np.stack([table.values.sum(axis=0), rows @ table.values], axis=1)
    return {name: sums.tolist() for name, sums in zip(table.names, both, strict=True)}


def check(folder: Path, name: str) -> None:
    """Compare the folder of a run with the recording of that name."""
    found, recorded = recording(folder), json.loads((GOLDEN / f"{name}.json").read_text())
    assert found["best"] == recorded["best"]
    for kind in ("tables", "weights"):
        assert found[kind].keys() == recorded[kind].keys()
        for file, columns in recorded[kind].items():
            own = found[kind][file]
            assert list(own) == list(columns), file
            for column, numbers in columns.items():
                assert own[column] == pytest.approx(numbers, rel=PRECISION, abs=PRECISION), (file, column)


def config_of_the_page(folder: Path) -> Path:
    """The config that docs/config.md shows with a language model, written to a folder, with absolute paths."""
    page = (ROOT / "docs" / "config.md").read_text()
    text = page.split("## A language model, text pipelines")[1].split("```toml\n")[1].split("```")[0]
    config = folder / "page.toml"
    config.write_text(text.replace('"../', f'"{ROOT}/'))
    return config


def check_runs(config: Path, name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, *jobs: int) -> None:
    """Run a config with a cold cache for each number of processes, then with a warm one, and compare each time."""
    for number, processes in enumerate((*jobs, jobs[0])):
        monkeypatch.setenv("RERANK_CACHE", str(folder / f"cache{min(number, len(jobs) - 1)}"))
        done("run", config, "--work", folder / str(number), "--jobs", processes)
        check(folder / str(number), name)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "jobs"), [("asr", [2]), ("language-model", [1])])
def test_runs_of_cheap_features(name, jobs, tmp_path, monkeypatch):
    config = ROOT / "configs" / "asr.toml" if name == "asr" else config_of_the_page(tmp_path)
    check_runs(config, name, tmp_path, monkeypatch, *jobs)


@pytest.mark.release
@pytest.mark.parametrize("name", ["mt", "asr", "language-model"])
def test_runs_of_all_features_with_one_and_two_processes(name, tmp_path, monkeypatch):
    config = config_of_the_page(tmp_path) if name == "language-model" else ROOT / "configs" / f"{name}.toml"
    check_runs(config, name, tmp_path, monkeypatch, 1, 2)


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(json.dumps(recording(Path(sys.argv[1])), indent=0) + "\n")
