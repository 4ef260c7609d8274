"""Machine code is that of the source as it is: also where a function or a constant of another file changes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rerank_plugins.kit.machine_code import LIBRARY, digest

FILES = {
    "__init__.py": "",
    "constants.py": "SIGN = 1\n",
    "named.py": "from house.constants import SIGN as SIGN\n",
    "called.py": "from rerank_plugins.kit.kernels import part\n@part\ndef called(x):\n    return x + 1\n",
    "kept.py": "from rerank_plugins.kit.kernels import kernel\n@kernel\ndef kept(x):\n    return x * 3\n",
    "caller.py": """
from house.called import called
from house.kept import kept
from house.named import SIGN
from rerank_plugins.kit.kernels import kernel

@kernel
def caller(x):
    return SIGN * (called(x) + kept(x))
""",
}
SCRIPT = """
from house.caller import caller
from rerank_plugins.kit.kernels import compiled
print(caller(10), len(compiled()))
"""


@pytest.fixture
def house(tmp_path):
    (tmp_path / "house").mkdir()
    for name, text in FILES.items():
        (tmp_path / "house" / name).write_text(text)
    return tmp_path / "house"


def ran(house: Path) -> list[int]:
    """The value of the kernel in a new process, and the number of kernels that were compiled for it."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(house.parent / "machine code"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", SCRIPT]
    done = subprocess.run(command, cwd=house.parent, env=environment, capture_output=True, text=True, check=True)
    return [int(word) for word in done.stdout.split()]


@pytest.mark.slow
def test_a_change_in_another_file_changes_the_result_and_its_return_finds_the_earlier_code(house):
    assert ran(house) == [41, 2]
    assert ran(house) == [41, 0]
    (house / "called.py").write_text(FILES["called.py"].replace("x + 1", "x + 2"))
    assert ran(house)[0] == 42
    (house / "kept.py").write_text(FILES["kept.py"].replace("3", "4"))
    assert ran(house)[0] == 52
    (house / "constants.py").write_text("SIGN = -1\n")
    assert ran(house) == [-52, 2]
    for name, text in FILES.items():
        (house / name).write_text(text)
    assert ran(house) == [41, 0]


def copied(tmp_path: Path) -> Path:
    """A copy of the library's modules."""
    modules = shutil.ignore_patterns("__pycache__", "resources", "*.npz", "*.model")
    return Path(shutil.copytree(LIBRARY, tmp_path / "rerank_plugins", ignore=modules))


@pytest.mark.parametrize(
    ("module", "counts"),
    [
        ("kit/backoff/scoring.py", True),
        ("kit/kernels.py", True),
        ("hhmm/transitions.py", True),
        ("kit/vocabulary/word_ids.py", True),
        ("lists/length.py", False),
        ("hhmm/plugin.py", False),
    ],
)
def test_what_counts_are_modules_of_kernels_and_what_they_import(tmp_path, module, counts):
    library = copied(tmp_path)
    before = digest([library])
    assert digest([library]) == before
    with open(library / module, "a") as stream:
        stream.write("\n")
    assert (digest([library]) != before) == counts


def test_versions_count(tmp_path):
    library = copied(tmp_path)
    assert digest([library], ("0.60.0", "2.1.0")) != digest([library], ("0.60.1", "2.1.0"))
