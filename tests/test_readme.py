"""The README tells the truth: its commands run, its example output is what comes out, its files are there."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
COOKBOOK = (ROOT / "docs" / "cookbook.md").read_text(encoding="utf-8")
SHELL = re.findall(r"```sh\n(.*?)```", TEXT + COOKBOOK, re.S)
NUMBER = re.compile(r"[+-]?\d*\.\d+")
PYTHON = re.findall(r"```python\n(.*?)```", TEXT, re.S)


NOT_CORE = ("scipy", "sklearn", "statsmodels", "matplotlib", "stanza", "torch", "pytest")


def core_environment() -> Path | None:
    """The environment with the core dependencies alone that `make test` makes: what a user has after `make demo`.

    RERANK_CORE says where it is; else it is .venv-core. None where there is none: the tour then runs in this one.
    """
    folder = Path(os.environ.get("RERANK_CORE") or ROOT / ".venv-core")
    if not (folder / "bin" / "rerank").is_file():
        assert "RERANK_CORE" not in os.environ, f"RERANK_CORE is {folder}: `rerank` is not installed there"
        return None
    return folder.absolute()


CORE = core_environment()


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    """What a user has after `make demo`: the configs and the example, `rerank` on the path."""
    folder = tmp_path_factory.mktemp("tour")
    for name in ("configs", "example_nbest"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def run(script: str, folder: Path) -> str:
    programs = CORE / "bin" if CORE else Path(sys.executable).parent
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "OMP_NUM_THREADS": "1", "COLUMNS": "140"}
    if CORE:
        environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        ["bash", "-euc", script], check=False, cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.skipif(CORE is None, reason="there is no .venv-core; `make test` makes it")
def test_the_tour_runs_without_extras(tmp_path):
    """What is installed for the tests is not there, and what runs is this checkout."""
    found = f"import importlib.util\nprint([name for name in {NOT_CORE} if importlib.util.find_spec(name)])"
    assert run(f"python - <<'END'\n{found}\nEND\n", tmp_path) == "[]\n"
    where = "import rerank_adapters, rerank_plugins\nprint(rerank_plugins.__file__, rerank_adapters.__file__)"
    files = run(f"python - <<'END'\n{where}\nEND\n", tmp_path).split()
    assert [Path(file).resolve().is_relative_to(ROOT) for file in files] == [True, True]


@pytest.mark.slow
@pytest.mark.parametrize("script", SHELL)
def test_every_command_runs(script, copy):
    run(script, copy)


@pytest.mark.slow
def test_the_python_example_runs(copy):
    (code,) = PYTHON
    printed = run(f"python - <<'END'\n{code}\nprint(result.metrics[0].systems[1].score)\nEND\n", copy)
    *shown, score = printed.splitlines()
    assert [line.split()[0] for line in shown[1:]] == ["1-best", "reranked"]
    assert float(score) > 30


def test_the_python_example_tunes_what_it_evaluates():
    (code,) = PYTHON
    tuned = re.search(r'metric="([^"]*)"', code)[1]
    assert f'metrics = ["{tuned}"' in code


def test_every_star_shown_stands_at_an_interval_without_zero():
    """In the README's tables: the line below a difference with stars has its interval."""
    lines = TEXT.splitlines()
    starred = [i for i, line in enumerate(lines) if re.search(r"[+-]\d+\.\d+\*", line)]
    assert starred
    for i in starred:
        for difference, interval in zip(lines[i].split("│")[1:-1], lines[i + 1].split("│")[1:-1], strict=True):
            if "*" in difference:
                low, high = map(float, NUMBER.findall(interval))
                assert low > 0 or high < 0, lines[i]


@pytest.mark.slow
def test_the_demo_prints_the_table_shown(copy):
    (shown,) = re.findall(r"<!-- begin demo -->\n```\n(.*?)```\n<!-- end -->", TEXT, re.S)
    printed = run("rerank run configs/mt.toml --work work/demo", copy)
    tail = printed.splitlines()[-len(shown.splitlines()) - 1 :]  # the table ends the output
    for line, row in zip(shown.splitlines(), tail, strict=False):
        assert NUMBER.sub("#", line).split() == NUMBER.sub("#", row).split()
        for told, found in zip(NUMBER.findall(line), NUMBER.findall(row), strict=True):
            assert float(told) == pytest.approx(float(found), abs=0.3), line  # other processors, other roundings


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", TEXT):
        assert (ROOT / target).exists(), target


def test_every_command_and_plugin_kind_is_named():
    from rerank_adapters.commands import ORDER
    from rerank_plugins.plugins import KINDS

    for name in ORDER:
        assert f"rerank {name.replace('_', '-')}" in TEXT or name == "text", name
    named = re.findall(r"^- \*\*([^*]+)\*\*", TEXT, re.M)
    for kind in KINDS:
        assert f"{kind.replace('_', ' ').capitalize()}s" in named, kind


def test_the_plugin_documentation_shows_the_example_plugin():
    shown = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
    code = (ROOT / "example_nbest" / "plugin" / "type_token_ratio.py").read_text(encoding="utf-8")
    assert f"```python\n{code}```" in shown


def test_every_hook_and_config_key_is_documented():
    from rerank_adapters.config import Config, Evaluation, Tuning
    from rerank_plugins import hookspecs

    plugins = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
    for name in vars(hookspecs):
        assert not name.startswith("register_") or f"`{name}`" in plugins, name
    config = (ROOT / "docs" / "config.md").read_text(encoding="utf-8")
    for model in (Config, Tuning, Evaluation):
        for key in model.model_fields.keys() - {"base"}:
            assert re.search(rf"[`\[]{key}[`\].]", config), key
