"""The example plugin: installed and found by its entry point, loaded as a file, and true to the contract."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rerank_adapters.job.specs import Names, Spec
from rerank_plugins import Hypothesis, NBestList
from rerank_plugins.core.loader import load_plugins
from rerank_plugins.testing import check_feature_extractor

NAME = "type-token-ratio"


@pytest.fixture(scope="module")
def folder(root: Path) -> Path:
    return root / "example_nbest/plugin"


@pytest.mark.slow
def test_installed_plugin_is_found_by_its_entry_point(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert NAME not in load_plugins().entries["feature"]
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*install, "--target", tmp_path, folder], check=True, capture_output=True, text=True)
    monkeypatch.syspath_prepend(tmp_path)
    try:
        entry = load_plugins().get("feature", NAME)
        assert entry.owner == "type_token_ratio (type-token-ratio)"
        assert entry.factory.__module__ == "type_token_ratio"
    finally:
        sys.modules.pop("type_token_ratio", None)


def test_plugin_file_is_loaded_with_its_option_and_description(folder: Path) -> None:
    entry = load_plugins(files=[folder / "type_token_ratio.py"]).get("feature", NAME)
    assert entry.owner == str(folder / "type_token_ratio.py")
    assert entry.summary == "Different words per word, in [0, 1]; 1 for an empty hypothesis."
    assert [(option.name, option.type_name, option.default) for option in entry.options()] == [
        ("lowercase", "bool", True)
    ]


@pytest.mark.parametrize(("lowercase", "expected"), [(True, [0.5, 1.0, 1.0]), (False, [0.75, 1.0, 1.0])])
def test_values(folder: Path, lowercase: bool, expected: list[float]) -> None:
    registry = load_plugins(files=[folder / "type_token_ratio.py"])
    extractor = Spec.read("feature", {"use": NAME, "lowercase": lowercase}, Names(registry)).make()
    nbest = NBestList("0", tuple(Hypothesis(text) for text in ("The the dog dog", "a dog", "")))
    np.testing.assert_array_equal(extractor.extract(nbest), np.array(expected)[:, None])


def test_contract(folder: Path) -> None:
    registry = load_plugins(files=[folder / "type_token_ratio.py"])
    check_feature_extractor(registry.get("feature", NAME).factory())


def test_project_file_has_five_lines(folder: Path) -> None:
    assert len((folder / "pyproject.toml").read_text().splitlines()) == 5
