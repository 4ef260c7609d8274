"""The wheel holds the two packages and nothing else at its top: a package called `adapters` would break other people's."""

import subprocess
import sys
import zipfile

import pytest

from rerank_adapters.commands.demo import CONFIG, NAMES
from tests.conftest import ROOT


@pytest.mark.slow
def test_what_the_wheel_holds(tmp_path):
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"rerank_plugins", "rerank_adapters"}
    for package in ("rerank_plugins", "adapters/rerank_adapters"):
        for path in (ROOT / package).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                inside = path.relative_to(ROOT / "adapters" if package.startswith("adapters") else ROOT)
                assert inside.as_posix() in names, inside
    assert any(name.endswith("licenses/NOTICE") for name in names)
    assert {f"rerank_adapters/example/{name}" for name in (CONFIG, *NAMES)} <= set(names)
    assert wheel.stat().st_size <= 45_000_000
