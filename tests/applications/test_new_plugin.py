"""`rerank tools new-plugin`: the package that it writes is whole, keeps the contract, and installs."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from rerank_plugins.core.loader import load_plugins
from rerank_plugins.testing import check_feature_extractor
from tests.command_line import done, refused, says_what_it_wrote

FILES = ["README.md", "pyproject.toml", "word_rarity.py"]


@pytest.fixture
def package(tmp_path):
    ran = done("tools", "new-plugin", "word-rarity", "-o", tmp_path / "new")
    assert says_what_it_wrote(ran, "the plugin word-rarity", tmp_path / "new")
    assert ran.lines == [str(tmp_path / "new" / file) for file in FILES]
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == FILES
    return tmp_path / "new"


def test_it_is_the_examples_plugin_under_another_name(package, root):
    example = root / "example_nbest" / "plugin"
    for file in FILES:
        text = (package / file).read_text(encoding="utf-8")
        for mine, of_example in (
            ("word-rarity", "type-token-ratio"),
            ("word_rarity", "type_token_ratio"),
            ("WordRarity", "TypeTokenRatio"),
        ):
            text = text.replace(mine, of_example)
        assert text == (example / file.replace("word_rarity", "type_token_ratio")).read_text(encoding="utf-8")
    assert tomllib.loads((package / "pyproject.toml").read_text())["project"]["name"] == "word-rarity"


def test_the_feature_keeps_the_contract(package):
    entry = load_plugins(files=[package / "word_rarity.py"]).get("feature", "word-rarity")
    assert entry.factory.__name__ == "WordRarity"
    check_feature_extractor(entry.factory())


@pytest.mark.slow
def test_it_installs(package, tmp_path, monkeypatch):
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*install, "--target", tmp_path / "site", package], check=True, capture_output=True, text=True)
    monkeypatch.syspath_prepend(tmp_path / "site")
    try:
        assert load_plugins().get("feature", "word-rarity").owner == "word_rarity (word-rarity)"
    finally:
        sys.modules.pop("word_rarity", None)


def test_names_and_folders_that_will_not_do(tmp_path):
    folder = tmp_path / "new"
    for name, reason in {
        "Word_Rarity": "wanted lower-case words joined by hyphens",
        "length": "there is a feature called so",
        "email": "Python has a module 'email' already",
        "lambda": "Python has a module 'lambda' already",
        "numpy": "Python has a module 'numpy' already",
    }.items():
        assert reason in refused("tools", "new-plugin", name, "-o", folder)
        assert not folder.exists()
    folder.mkdir()
    done("tools", "new-plugin", "word-rarity", "-o", folder)
    again = refused("tools", "new-plugin", "word-rarity", "-o", folder)
    assert "is there already, and not empty; nothing was written" in again
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


def test_the_default_folder_is_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done("tools", "new-plugin", "word-rarity")
    assert Path("word-rarity/pyproject.toml").is_file()
