"""The pages under docs/ tell the truth: their Python code runs where a user has the example, and their links lead somewhere."""

import re
import shutil

import pytest

from tests.conftest import ROOT
from tests.test_treelet import BANK

PAGES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").rglob("*.md"))
}
PYTHON = {name: re.findall(r"```python\n(.*?)```", text, re.S) for name, text in PAGES.items()}
LONG = {"docs/tuners.md"}  # over two seconds
COMMAND = re.compile(r"-m\s+tests\.experiments\.(\w+)((?:[^`|\n]|\n(?!\n|rerank |python ))*)")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder that the code is run in: with the example's lists, and a treebank of the reader's own."""
    made = tmp_path_factory.mktemp("pages")
    shutil.copytree(ROOT / "example_nbest" / "mt", made / "example_nbest" / "mt")
    (made / "treebank.ptb").write_text(BANK, encoding="utf-8")
    return made


@pytest.mark.parametrize(
    ("page", "code"),
    [
        pytest.param(name, code, id=f"{name}-{i}", marks=[pytest.mark.slow] * (name in LONG))
        for name, found in PYTHON.items()
        for i, code in enumerate(found)
    ],
)
def test_code_runs_by_itself(page, code, folder, monkeypatch):
    monkeypatch.chdir(folder)
    exec(compile(code, page, "exec"), {"__name__": "page"})


def test_links_lead_somewhere():
    for name, text in PAGES.items():
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
            assert (ROOT / name).parent.joinpath(target).exists(), f"{name}: {target}"


def test_experiments_that_are_named_are_there():
    """And every one is named on a page or in the README, with options that it has."""
    import importlib

    from tests.test_experiments import RUNS

    found = set()
    for name, text in {**PAGES, "README.md": (ROOT / "README.md").read_text(encoding="utf-8")}.items():
        for match in COMMAND.finditer(text):
            found.add(match[1])
            options = {
                option
                for each in importlib.import_module(f"tests.experiments.{match[1]}").main.params
                for option in each.opts
            }
            for option in re.findall(r"(?<= )--?[a-z][a-z-]*", match[2]):
                assert option in options, f"{name}: {match[1]} has no {option}"
    assert found == set(RUNS)
