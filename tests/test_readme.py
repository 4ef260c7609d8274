"""README, tour and cookbook tell the truth: their commands run, and print the numbers shown.

The commands of the README are processes of their own, those of the other pages forks (forked_commands.py).
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from rerank_plugins import FeatureTable
from tests.conftest import ROOT
from tests.forked_commands import forking

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
TOUR = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8")
COOKBOOK = (ROOT / "docs" / "cookbook.md").read_text(encoding="utf-8")
NUMBER = re.compile(r"[+-]?\d*\.\d+")
PYTHON = re.findall(r"```python\n(.*?)```", TEXT, re.S)
NOT_CORE = ("sklearn", "statsmodels", "matplotlib", "stanza", "torch", "kenlm", "pytest")


def shell_blocks(page: str) -> list[str]:
    """The shell blocks of a page; the first one, where it only sets variables, stands before each of the others."""
    blocks = re.findall(r"```sh\n(.*?)```", page, re.S)
    if not re.match(r"[A-Z]=", blocks[0]):
        return blocks
    return [blocks[0] + block for block in blocks[1:]]


def excerpts(page: str) -> list[str]:
    """The text between each shell block of a page and the next one, less the block that sets variables."""
    return re.split(r"```sh\n.*?```", page, flags=re.S)[-len(shell_blocks(page)) :]


def lighter(block: str) -> str:
    """The block, with a job only planned where another decoder's block runs a job of the same features.

    `rerank init`, which drafts the job, has checked its data by then.
    """
    if not re.search(r"T=\$W/neural/(marian|sockeye|transformers)\b", block):
        return block
    return re.sub(r"rerank run (\S+) --work \S+", r"\g<0> --dry-run", block)


SHELL = [
    pytest.param(name, lighter(block), id=f"{name}-{i}")
    for name, page in (("readme", TEXT), ("cookbook", COOKBOOK))
    for i, block in enumerate(shell_blocks(page))
]


def core_environment() -> Path | None:
    """The environment with the core dependencies alone that `make test` makes: what a user has after `make demo`.

    RERANK_CORE names it; the default is .venv-core. None where there is none: the commands then run in this environment.
    """
    folder = Path(os.environ.get("RERANK_CORE") or ROOT / ".venv-core")
    if not (folder / "bin" / "rerank").is_file():
        assert "RERANK_CORE" not in os.environ, f"RERANK_CORE is {folder}: `rerank` is not installed there"
        return None
    return folder.absolute()


CORE = core_environment()


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    """A folder as a user has it after `make demo`: the configs and the example, with `rerank` on the path."""
    folder = tmp_path_factory.mktemp("tour")
    for name in ("configs", "example_nbest"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


PROGRAMS = CORE / "bin" if CORE else Path(sys.executable).parent


def environment_of(folder: Path, *programs: Path) -> dict[str, str]:
    """That of a user's shell, which finds these programs first."""
    path = os.pathsep.join([*map(str, (*programs, PROGRAMS)), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "OMP_NUM_THREADS": "1", "COLUMNS": "140"}
    environment["RERANK_CACHE"] = str(folder / "work" / "cache")  # that of the page with a batch job, to extract once
    if CORE:
        environment.pop("PYTHONPATH", None)
    return environment


@pytest.fixture(scope="module")
def forks(copy: Path) -> Iterator[Path]:
    """A folder with a program `rerank` that starts in no time."""
    with (
        tempfile.TemporaryDirectory() as folder,  # of a short name, as the address of a socket must be
        forking(PROGRAMS / "python", environment_of(copy), Path(folder)),
    ):
        yield Path(folder)


def run(script: str, folder: Path, *programs: Path) -> tuple[str, str]:
    """What the script prints on stdout and on stderr; it must succeed."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        check=False,
        cwd=folder,
        env=environment_of(folder, *programs),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
    return done.stdout, done.stderr


def tracked(folder: Path) -> dict[Path, bytes]:
    """The files that git would see in a checkout, with their contents: not those of work/ and not compiled Python."""
    files = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {
        path: (folder / path).read_bytes()
        for path in files
        if path.parts[0] != "work" and "__pycache__" not in path.parts
    }


def run_cleanly(script: str, folder: Path, *programs: Path) -> str:
    """All that the script prints; it may write files to work/ alone."""
    before = tracked(folder)
    output = "".join(run(script, folder, *programs))
    after = tracked(folder)
    assert before.keys() == after.keys(), f"files outside work/: {before.keys() ^ after.keys()}"
    assert before == after, "a file of the checkout was changed"
    return output


@pytest.mark.skipif(CORE is None, reason="there is no .venv-core; `make test` makes it")
def test_the_tour_runs_without_extras(tmp_path):
    """The dependencies of the tests are not installed there, and the packages that are imported are this checkout."""
    find = f"import importlib.util\nprint([name for name in {NOT_CORE} if importlib.util.find_spec(name)])"
    assert run(f"python - <<'END'\n{find}\nEND\n", tmp_path)[0] == "[]\n"
    where = "import rerank_adapters, rerank_plugins\nprint(rerank_plugins.__file__, rerank_adapters.__file__)"
    files = run(f"python - <<'END'\n{where}\nEND\n", tmp_path)[0].split()
    assert [Path(file).resolve().is_relative_to(ROOT) for file in files] == [True, True]


@pytest.mark.slow
def test_the_demo_on_twenty_lists(small, tmp_path):
    """The README's job with all its models, which `make test` tries, in place of its commands on all lists."""
    shutil.copytree(ROOT / "configs", tmp_path / "configs")
    shutil.copytree(small, tmp_path / "example_nbest" / "mt")
    printed, _ = run("rerank run configs/mt.toml --work work/mt", tmp_path)
    first_cells = [line.split("│")[1].strip() for line in printed.splitlines() if line.startswith("│")]
    assert [name for name in first_cells if name][-5:] == [
        "1-best",
        "without syntax",
        "reranked",
        "oracle",
        "anti-oracle",
    ]
    features = set(FeatureTable.load(tmp_path / "work" / "mt" / "test.npz").names)
    assert features >= {
        "dependency-lm.total",
        "treelet-lm.total",
        "slr",
        "hhmm-lm.total",
        "svs-similarity.list.meaning",
    }


@pytest.mark.release
@pytest.mark.parametrize(("page", "script"), SHELL)
def test_every_command_runs_and_writes_to_work_alone(page, script, copy, forks):
    run_cleanly(script, copy, *([] if page == "readme" else [forks]))


@pytest.mark.release
@pytest.mark.parametrize(("script", "text"), list(zip(shell_blocks(TOUR), excerpts(TOUR), strict=True)))
def test_the_tour_runs_and_prints_the_numbers_of_its_tables(script, text, copy, forks):
    printed = {float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", run_cleanly(script, copy, forks))}
    rows = [line for line in text.splitlines() if line.startswith("|") and not re.fullmatch(r"[|: -]+", line)]
    for row in rows[1:]:
        for number in map(float, re.findall(r"(?<![\w.])\d+(?:\.\d+)?", row)):  # other processors, other roundings
            assert any(abs(number - value) <= max(0.01 * number, 0.3 * (number > 10)) for value in printed), row


@pytest.mark.release
def test_the_python_example_runs(copy):
    (code,) = PYTHON
    printed, _ = run(f"python - <<'END'\n{code}\nprint(result.metrics[0].systems[1].score)\nEND\n", copy)
    *lines, score = printed.splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["1-best", "reranked"]
    assert float(score) > 30


@pytest.mark.release
def test_the_demo_prints_the_table_shown(copy):
    (table,) = re.findall(r"<!-- begin demo -->\n```\n(.*?)```\n<!-- end -->", TOUR, re.S)
    printed, _ = run("rerank run configs/mt.toml --work work/mt", copy)  # where the README's command has run before
    tail = printed.splitlines()[-len(table.splitlines()) - 1 :]  # the table ends the output
    for line, row in zip(table.splitlines(), tail, strict=False):
        assert NUMBER.sub("#", line).split() == NUMBER.sub("#", row).split()
        for wanted, found in zip(NUMBER.findall(line), NUMBER.findall(row), strict=True):
            assert float(wanted) == pytest.approx(float(found), abs=0.3), line  # other processors, other roundings


def test_every_command_is_in_the_tour():
    from rerank_adapters.cli.commands import CHAIN, GROUPS

    commands = re.findall(r"rerank(?: --plugin \S+)? ([a-z-]+)", "".join(shell_blocks(TOUR)))
    assert {*CHAIN, *GROUPS} == set(commands)


def test_every_plugin_kind_is_named():
    from rerank_plugins.core.plugins import KINDS

    named = re.findall(r"^- \*\*([^*]+)\*\*", TEXT, re.M)
    for kind in KINDS:
        assert f"{kind.replace('_', ' ').capitalize()}s" in named, kind


def test_every_hook_and_config_key_is_documented():
    from rerank_adapters.job.config import Config, EvaluationSettings, Tuning
    from rerank_plugins.core import hookspecs

    plugins = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
    for name in vars(hookspecs):
        assert not name.startswith("register_") or f"`{name}`" in plugins, name
    config = (ROOT / "docs" / "config.md").read_text(encoding="utf-8")
    for model in (Config, Tuning, EvaluationSettings):
        for key in model.model_fields.keys() - {"base"}:
            assert re.search(rf"[`\[]{key}[`\].]", config), key
