"""The script that changes formulas changes what it says, and names the changes that no test notices."""

import shutil
import subprocess
import sys

from tests.conftest import ROOT

SHAPES = '''
"""No formula: 1 + 1."""
LIMIT = 2 * 2


def area(width, height):
    return width * height


def longest(lengths):
    return max(lengths)


def unused(number):
    return number - 3


def same(number):
    return max(number, number)  # equal: the two are one
'''
TESTS = """
from rerank_plugins.shapes.shapes import area, longest


def test_area():
    assert area(5, 1) == 5  # so is 5 / 1


def test_longest():
    assert longest([2, 3]) == 3


def test_that_fails_without_a_change():
    assert area(5, 2) == 3
"""


def test_a_change_that_a_test_notices_and_two_that_none_does(tmp_path):
    shapes = tmp_path / "rerank_plugins" / "shapes"
    tests = tmp_path / "tests" / "shapes"
    for folder in (shapes, tests):
        folder.mkdir(parents=True)
        for package in (folder, folder.parent):
            (package / "__init__.py").touch()
    (shapes / "shapes.py").write_text(SHAPES)
    (tests / "test_shapes.py").write_text(TESTS)
    (tmp_path / "pyproject.toml").write_text('[tool.pytest.ini_options]\nmarkers = ["slow: a marker"]\n')
    shutil.copytree(ROOT / "tests" / "mutating", tmp_path / "tests" / "mutating")
    command = [sys.executable, "-m", "tests.mutations", "rerank_plugins/shapes", "--every", "1", "--all"]
    ran = subprocess.run([*command, "--root", tmp_path], cwd=ROOT, capture_output=True, text=True, check=False)
    file = "rerank_plugins/shapes/shapes.py"
    assert [line.split() for line in ran.stdout.splitlines()] == [
        ["survived", f"{file}:7:18", *["*", "→", "/", "return", "width", "*", "height"]],
        ["killed", f"{file}:11:12", *["max", "→", "min", "tests/shapes/test_shapes.py::test_longest"]],
        ["unreached", f"{file}:15:19", *["-", "→", "+", "return", "number", "-", "3"]],
        ["tests", "tried", "killed", "survived", "unreached", "equivalent"],
        ["shapes", *"31111"],
        ["all", *"31111"],
    ]
    assert ran.returncode == 1
    left_out = (
        "for it fails or takes too long without a change: tests/shapes/test_shapes.py::test_that_fails_without_a_change"
    )
    assert [line.partition(", ")[2] for line in ran.stderr.splitlines() if line.startswith("left out")] == [left_out]
    assert (shapes / "shapes.py").read_text() == SHAPES
