"""`rerank train`, and the other commands of language models and parsers: what they have in common."""

import subprocess
import sys

import pytest

from rerank_adapters.applications.training.command import MODULES
from rerank_adapters.builtin import BUILTIN
from rerank_plugins.core.loader import load_plugins
from tests.command_line import done, in_process_of_its_own


def test_help_of_a_command_imports_no_model():
    """Each module holds a command and what it does; to print help, no family is imported."""
    loading = (
        "import sys; from importlib import import_module\n"
        "from rerank_adapters.applications.training.command import MODULES\n"
        "before = set(sys.modules)\n"
        "for name in MODULES.values(): import_module(name)\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    loaded = subprocess.run([sys.executable, "-c", loading], capture_output=True, text=True, check=True).stdout.split()
    assert [name for name in loaded if name == "numba" or name.startswith("rerank_plugins.")] == []


MODELS = [*MODULES, *load_plugins(BUILTIN, installed=False).entries["trainer"]]
COMMANDS = [*(("train", model) for model in MODELS), ("svs", "clusters")]
COMMANDS += [(name,) for name in ("score", "surprisal", "mix", "sample", "parse", "ground")]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_fits_80_columns(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = done(*command, "--help").lines
    assert [line for line in lines if len(line) > 80] == []


def test_help_in_a_process_of_its_own():
    assert in_process_of_its_own("train", "ngram", "--help").out.startswith("Usage: ")
