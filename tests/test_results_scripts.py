"""The scripts of the results can be imported, and those that a page names are there."""

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import docs.results.scripts
from tests.conftest import ROOT

SCRIPTS = sorted(module.name for module in pkgutil.iter_modules(docs.results.scripts.__path__))
COMMAND = re.compile(r"-m\s+docs\.results\.scripts\.(\w+)((?:[^`|\n]|\n(?!\n| *rerank | *python ))*)")
NEEDED = {
    "comet_throughput": "transformers",
    "neural_throughput": "transformers",
    "ngram_speed": "kenlm",
    "cluster_speed": "distributed",
    "reading_times": "statsmodels",
    "serve_load": "uvicorn",
    "similarity_learners": "scipy",
    "similarity_table": "sklearn",
}  # packages of extras


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_can_be_imported(name):
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    module = importlib.import_module(f"docs.results.scripts.{name}")
    for value in vars(module).values():
        assert not isinstance(value, Path) or value.exists(), f"{name} reads {value}, which is not there"


def test_the_scripts_that_pages_name_are_there_with_these_options():
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    for page in pages:
        for match in COMMAND.finditer(page.read_text(encoding="utf-8")):
            if match[1] == "NAME" or match[1] in NEEDED:
                continue
            assert match[1] in SCRIPTS, f"{page}: {match[1]}"
            command = importlib.import_module(f"docs.results.scripts.{match[1]}").main
            options = {option for parameter in command.params for option in parameter.opts}
            for option in re.findall(r"(?<= )--?[a-z][a-z-]*", match[2]):
                assert option in options, f"{page}: {match[1]} has no {option}"
