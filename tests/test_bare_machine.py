"""`make demo` where something is missing: one line says what to install, instead of all that pip says."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")

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
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    ran = subprocess.run(command, check=False, cwd=folder, env=environment, capture_output=True, text=True, timeout=60)
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
    ("error", "compiler", "said"),
    [
        (
            "ERROR: No matching distribution found for hatchling",
            "sh",
            "packages cannot be downloaded; a network is needed",
        ),
        ("OSError: [Errno 28] No space left on device", "sh", "there is no space left on the disk"),
        ("error: command 'c++' failed", "c++.nowhere", "a C++ compiler is needed, to build kenlm; install one"),
        (
            "fatal error: Python.h: No such file or directory",
            "sh",
            "the C headers of Python are needed, to build kenlm",
        ),
        (
            "ERROR: Failed to build installable wheels (kenlm)",
            "sh",
            "kenlm cannot be built for this Python; it can for",
        ),
        ("ERROR: something else", "sh", "pip failed: ERROR: something else"),
    ],
)
def test_where_pip_fails(tmp_path, error, compiler, said):
    script(tmp_path / ".venv" / "bin" / "python", PIP.format(error=error, python=sys.executable))
    line = make_demo(tmp_path, CXX=compiler)
    assert line.startswith(f"make: {said}")
    assert line.endswith("(all that pip said: .venv/install.log)")
    assert (tmp_path / ".venv" / "install.log").read_text().count("\n") == 201
    assert not (tmp_path / ".venv" / "demo.installed").exists()
