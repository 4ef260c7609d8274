"""`rerank tools new-plugin`: the package that it writes is whole, keeps the contract, and passes tests of its own."""

import importlib
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from rerank_plugins.core.loader import load_plugins
from rerank_plugins.testing import check_feature_extractor
from tests.command_line import done, refused, says_what_it_wrote

FILES = [
    ".gitignore",
    "README.md",
    "pyproject.toml",
    "src/word_rarity/__init__.py",
    "src/word_rarity/feature.py",
    "src/word_rarity/model.py",
    "src/word_rarity/trainer.py",
    "tests/test_word_rarity.py",
]


@pytest.fixture
def package(tmp_path):
    ran = done("tools", "new-plugin", "word-rarity", "-o", tmp_path / "new")
    assert says_what_it_wrote(ran, "the plugin word-rarity", tmp_path / "new")
    assert ran.lines == [str(tmp_path / "new" / file) for file in FILES]
    assert (
        sorted(str(file.relative_to(tmp_path / "new")) for file in (tmp_path / "new").rglob("*.*") if file.is_file())
        == FILES
    )
    return tmp_path / "new"


def test_nothing_of_the_template_is_left(package):
    for file in FILES:
        text = (package / file).read_text(encoding="utf-8")
        assert "$" not in text, file
        assert text.endswith("\n")


def test_the_feature_keeps_the_contract(package, monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(package / "src")
    try:
        feature = importlib.import_module("word_rarity.feature")
        importlib.import_module("word_rarity.model").learn(["the cat", "a dog"]).save(tmp_path / "m.model")
        check_feature_extractor(feature.WordRarityFeature(tmp_path / "m.model"))
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "word_rarity"]:
            del sys.modules[name]


@pytest.mark.slow
def test_the_package_is_typed(package, root, tmp_path):
    pytest.importorskip("mypy")
    paths = os.pathsep.join(map(str, (root, root / "adapters", package / "src")))
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", "--follow-imports", "silent", "src", "tests"],
        check=False, cwd=package, env={**os.environ, "MYPYPATH": paths}, capture_output=True, text=True,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout


def test_the_trainer_trains(package, monkeypatch, tmp_path):
    """The package as a plugin that is installed: `rerank train word-rarity`, and the feature with the model."""
    info = package / "src" / "word_rarity-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: word-rarity\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[rerank_plugins]\nword_rarity = word_rarity\n")
    monkeypatch.syspath_prepend(package / "src")
    (tmp_path / "text").write_text("a b\na a\n")
    (tmp_path / "tune.nbest").write_text("0 ||| a b ||| F= 1 ||| 1\n")
    try:
        ran = done("train", "word-rarity", tmp_path / "text", "-o", tmp_path / "m.model", "--min-count", "2")
        assert "1 word\n" in ran.err
        feature = f"word-rarity,model={tmp_path / 'm.model'}"
        done("extract", tmp_path / "tune.nbest", "-f", feature, "-o", tmp_path / "tune.npz")
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "word_rarity"]:
            del sys.modules[name]


@pytest.mark.slow
def test_it_installs_and_its_own_tests_pass(package, tmp_path, root, monkeypatch):
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*install, "--target", tmp_path / "site", package], check=True, capture_output=True, text=True)
    assert (tmp_path / "site" / "word_rarity" / "feature.py").is_file()
    paths = os.pathsep.join(map(str, (root, root / "adapters")))
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTHONPATH": paths}
    own = subprocess.run(tests, check=False, cwd=package, env=environment, capture_output=True, text=True)
    assert own.returncode == 0, own.stdout
    assert "6 passed" in own.stdout
    monkeypatch.syspath_prepend(tmp_path / "site")
    try:
        assert load_plugins().get("feature", "word-rarity").owner == "word_rarity (word-rarity)"
    finally:
        sys.modules.pop("word_rarity", None)


def test_the_tests_run_as_printed_where_no_test_tool_is_installed(package, root):
    """The printed commands install the extra `test`, which has all that the tests import besides rerank-plugins."""
    project = tomllib.loads((package / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    own = {"word_rarity", "rerank_plugins"} | {re.split("[<>=]", name)[0] for name in of_rerank_plugins(root)}
    imported = re.findall(r"^(?:import|from) (\w+)", (package / "tests/test_word_rarity.py").read_text("utf-8"), re.M)
    assert set(imported) - own - sys.stdlib_module_names == set(project["optional-dependencies"]["test"])
    for printed in (
        done("tools", "new-plugin", "--help").out,
        (root / "docs/plugins.md").read_text(encoding="utf-8"),
        (package / "README.md").read_text(encoding="utf-8"),
    ):
        assert re.search(r"pip install -e '\.\[test\]'[^\n]*\n[^\n]*python -m pytest", printed)


def of_rerank_plugins(root: Path) -> list[str]:
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]


def test_names_and_folders_that_will_not_do(tmp_path):
    folder = tmp_path / "new"
    for name, reason in {
        "Word_Rarity": "wanted lower-case words joined by hyphens",
        "length": "there is a feature or a command of `rerank train` called so",
        "word-alignment": "there is a feature or a command of `rerank train` called so",
        "email": "Python has a module 'email' already",
        "lambda": "Python has a module 'lambda' already",
        "numpy": "Python has a module 'numpy' already",
    }.items():
        assert reason in refused("tools", "new-plugin", name, "-o", folder)
        assert not folder.exists()
    folder.mkdir()
    done("tools", "new-plugin", "word-rarity", "-o", folder)
    assert "is there already, and not empty; nothing was written" in refused(
        "tools", "new-plugin", "word-rarity", "-o", folder
    )
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


def test_the_default_folder_is_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done("tools", "new-plugin", "word-rarity")
    assert Path("word-rarity/pyproject.toml").is_file()
