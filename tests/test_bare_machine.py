"""`make` where something is missing: one line says what to install, instead of all that pip says."""

import os
import re
import shutil
import subprocess
import sys
import tomllib

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")

ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("MAKE") and name != "EXTRAS"}
PYTHON = f"""#!/bin/sh
exec {sys.executable} -c "import sys; from unittest import mock; {{change}}; exec(sys.argv[2])" "$@"
"""
PIP = """#!/bin/sh
case "$1" in -c) exec {python} "$@";; esac
i=0; while [ $i -lt 200 ]; do echo "  copying file $i"; i=$((i + 1)); done
echo "{error}" >&2
exit 1
"""


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def make_demo(folder, **variables):
    """What `make demo` says there on stderr, less the line in which make itself says that it failed."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, folder / name)
    command = ["make", "demo", *(f"{name}={value}" for name, value in variables.items())]
    ran = subprocess.run(command, check=False, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 2
    assert ran.stdout == ""
    *said, last = ran.stderr.splitlines()
    assert last.startswith("make: ***")
    assert len(said) == 1, ran.stderr
    return said[0]


def test_without_python(tmp_path):
    assert make_demo(tmp_path, PYTHON="python3.nowhere").startswith(
        "make: Python 3.11 or newer is needed, and there is no python3.nowhere; install it"
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            "sys.version_info = (3, 9, 2); sys.version = '3.9.2 (main)'",
            "make: Python 3.11 or newer is needed; found 3.9.2 (name another with make PYTHON=...)",
        ),
        (
            "sys.modules['ensurepip'] = None",
            "make: Python's modules venv and ensurepip are needed; install them (Debian, Ubuntu: apt install python3-venv)",
        ),
    ],
)
def test_with_a_python_that_lacks_something(tmp_path, change, said):
    python = script(tmp_path / "python", PYTHON.format(change=change))
    assert make_demo(tmp_path, PYTHON=python) == said
    assert not (tmp_path / ".venv").exists()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            "ERROR: No matching distribution found for hatchling",
            "packages cannot be downloaded; a network is needed",
        ),
        ("OSError: [Errno 28] No space left on device", "there is no space left on the disk"),
        ("ERROR: something else", "pip failed: ERROR: something else"),
    ],
)
def test_where_pip_fails(tmp_path, error, said):
    script(tmp_path / ".venv" / "bin" / "python", PIP.format(error=error, python=sys.executable))
    line = make_demo(tmp_path)
    assert line.startswith(f"make: {said}")
    assert line.endswith("(all that pip said: .venv/install.log)")
    assert (tmp_path / ".venv" / "install.log").read_text().count("\n") == 201
    assert not (tmp_path / ".venv" / "demo.installed").exists()


def test_without_a_compiler_the_tests_of_kenlm_are_skipped(tmp_path):
    script(tmp_path / ".venv" / "bin" / "python", "#!/bin/sh\n")  # pip succeeds
    for name in ("Makefile", "pyproject.toml", "constraints.txt", "tests/install_kenlm.sh"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    command = ["make", ".venv/test.installed", "CXX=c++.nowhere"]
    ran = subprocess.run(command, check=True, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, timeout=60)
    why = "a C++ compiler is needed, to build KenLM (.venv/kenlm.log)"
    assert ran.stderr == f"make: the tests that need KenLM will be skipped: {why}\n"
    assert (tmp_path / ".venv" / "test.installed").exists()


def test_the_makefile_installs_all_extras_but_kenlm():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert not any(name.startswith("kenlm") for name in project["dependencies"])
    others, kenlm = project["optional-dependencies"]["all"]
    extras = re.search(r"^EXTRAS \?= (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert extras[1] == others[len("rerank-plugins[") : -1] + ",docs,test"
    assert kenlm == "rerank-plugins[kenlm]; python_version < '3.13'"


def test_every_installed_python_runs_the_demo_and_the_fast_tests(tmp_path):
    """With an index of make's calls in place of make: 3.11 prints the tour's table, the demo of 3.12 another."""
    for name in ("tests/pythons.sh", "tests/found_pythons.sh", "pyproject.toml", "docs/tour.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    for version in ("3.11", "3.12"):
        script(tmp_path / "bin" / f"python{version}", "#!/bin/sh\n")
        (tmp_path / "work" / "pythons" / version).mkdir(parents=True)
    for version in ("3.13", "3.14"):
        script(tmp_path / "bin" / f"python{version}", "#!/bin/sh\nexit 127\n")
    script(tmp_path / "bin" / "make", """#!/bin/sh
echo "$@" >> calls
case "$*" in demo*3.11/work*) cat docs/tour.md;; demo*) sed s/reranked/changed/ docs/tour.md;; esac
""")  # fmt: skip
    environment = {**ENVIRONMENT, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "PYENV_ROOT": str(tmp_path)}
    command = ["tests/pythons.sh"]
    ran = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.returncode == 1
    assert re.sub(r"\d+ s ", "", "\n".join(ran.stdout.splitlines()[-3:])) == (
        "Python 3.11: demo (exit code 0), fast tests (exit code 0)\n"
        "Python 3.12: demo (exit code 1), fast tests (exit code 0)\n"
        "Python 3.13: not installed"
    )
    folder = "work/pythons/3.11"
    assert (tmp_path / "calls").read_text().splitlines()[:3] == [
        f"{folder}/demo.installed PYTHON=python3.11 VENV={folder}",
        f"demo VENV={folder} RUN=--force --work {folder}/work",
        f"fast VENV={folder}",
    ]
