"""The script that changes formulas changes what it says, and names the changes that no test notices."""

import ast
import shutil
import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tests.mutating import equivalent
from tests.mutating.formulas import mutations
from tests.mutations import modules

SHAPES = '''
"""No formula: 1 + 1."""
LIMIT = 2 * 2


def area(width, height):
    return width * height


def longest(lengths):
    return max(lengths)


def unused(number):
    return number - 3
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
CHANGES = [
    ("a + b", ["a - b"]),
    ("a * (b - c)  # * d", ["a / (b - c)  # * d", "a * (b + c)  # * d"]),
    ("a // b ** c", ["a / b ** c", "a // b * c"]),
    ("a[b + 1]", ["a[b - 1]", "a[b + 0]"]),
    ("a[1:]", ["a[2:]"]),
    ("a <= b < c", ["a < b < c", "a <= b <= c"]),
    ("-a", ["+a"]),
    ("a.std(axis=1, ddof=1)", ["a.std(axis=1, ddof=0)"]),
    ("np.log(min(a, 1))", ["np.log1p(min(a, 1))", "np.log(max(a, 1))", "np.log(min(a, 2))"]),
    ("np.argmax(a, axis=1)", ["np.argmin(a, axis=1)"]),
    ('a.searchsorted(b, side="right")', ['a.searchsorted(b, side="left")']),
    ("any(a) or a.all()", ["all(a) or a.all()", "any(a) or a.any()"]),
    ('a + "é" + b', []),
    ('folder / "name"', []),
    ("[0.25] * a", []),
    ('f"{a - b}"', []),
    ("a[0], a[-1]", []),
    ("np.empty((2, a + 1))", []),
]


@pytest.mark.parametrize(("formula", "changed"), CHANGES)
def test_changes_to_a_formula(tmp_path, formula, changed):
    module = tmp_path / "module.py"
    module.write_text(f'def function(a: 1 + 1 = 2 - 1):\n    b = "ü"\n    return {formula}\n', encoding="utf-8")
    source = module.read_bytes()
    found = [each.applied(source).decode() for each in mutations(module, tmp_path)]
    assert sorted(found) == sorted(source.decode().replace(formula, each) for each in changed)


def test_errors_are_no_formulas(tmp_path):
    module = tmp_path / "module.py"
    module.write_text(
        "def function(a):\n    if a < 0:\n        raise ValueError(a + 1)\n    assert a < 3\n    return a\n"
    )
    assert mutations(module, tmp_path) == []


def test_what_makes_no_difference_is_a_change_that_is_tried():
    for path, changes in equivalent.EQUIVALENT.items():
        found = {(each.text, each.old, each.new) for each in mutations(ROOT / path, ROOT)}
        assert changes.keys() <= found, path
        assert all(changes.values()), path


def test_changed_modules_are_python():
    for path in modules(("rerank_plugins/kit/charts", "adapters/rerank_adapters/evaluation"), ROOT):
        for each in mutations(path, ROOT)[::20]:
            ast.parse(each.applied(path.read_bytes()))


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
        ["shapes", *"31110"],
        ["all", *"31110"],
    ]
    assert ran.returncode == 1
    left_out = (
        "for it fails or takes too long without a change: tests/shapes/test_shapes.py::test_that_fails_without_a_change"
    )
    assert [line.partition(", ")[2] for line in ran.stderr.splitlines() if line.startswith("left out")] == [left_out]
    assert (shapes / "shapes.py").read_text() == SHAPES
