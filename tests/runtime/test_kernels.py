"""Compiled kernels are kept where the user alone can write; numba stays as it is."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rerank_plugins.core.files import KERNELS
from rerank_plugins.kit import machine_code
from rerank_plugins.kit.machine_code import DAYS_UNUSED, folder_of, is_private
from tests.command_line import RERANK, done


def test_importing_the_library_changes_nothing_in_the_process(tmp_path):
    script = """
import os, sys
from pathlib import Path
before = list(sys.meta_path), dict(os.environ)
import rerank_plugins
assert "numba" not in sys.modules
assert (sys.meta_path, dict(os.environ)) == before
import rerank_plugins.kit.charts.k_best, rerank_adapters.cli.main
from numba import config
assert not config.CACHE_DIR
assert (sys.meta_path, dict(os.environ)) == before
assert not any(path.is_file() for path in Path().rglob("*"))
"""
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    subprocess.run([sys.executable, "-c", script], check=True, cwd=tmp_path, env=environment)


@pytest.mark.slow
def test_compilations_are_told_and_loads_are_not(tmp_path):
    (tmp_path / "caller.py").write_text(
        "from rerank_plugins.kit.kernels import kernel\n@kernel\ndef twice(x):\n    return 2 * x\n"
    )
    script = """
from rerank_plugins.kit.kernels import compiled
assert not compiled()
from caller import twice
twice(1)
twice(2)
twice(0.5)
print(compiled())
"""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    for told in ["['twice', 'twice']\n", "[]\n"]:
        command = [sys.executable, "-c", script]
        ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        assert ran.stdout == told


@pytest.mark.slow
def test_commands_let_numba_write_plain_errors():
    script = """
import contextlib, sys
from rerank_adapters.cli.main import main
sys.argv = ["rerank", "plugins"]
with contextlib.suppress(SystemExit):
    main()
from numba import njit
try:
    njit(lambda x: x.none)(1)
except Exception as error:
    assert "\\x1b" not in str(error) and "none" in str(error)
"""
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)


def test_the_cache_command_shows_and_clears_kernels(tmp_path, monkeypatch):
    monkeypatch.setenv("RERANK_CACHE", str(tmp_path))
    kernels = tmp_path / KERNELS
    (kernels / "0123456789abcdef").mkdir(parents=True)
    (kernels / "0123456789abcdef" / "kernel-1.py3.1.nbc").write_bytes(bytes(300_000))
    assert done("tools", "cache").lines[-2] == f"{kernels}: 0.3 MB of compiled kernels"
    done("tools", "cache", "--clear")
    assert not kernels.exists()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache of this test alone, as without `NUMBA_CACHE_DIR`."""
    monkeypatch.setattr(machine_code.config, "CACHE_DIR", "")
    monkeypatch.setenv("RERANK_CACHE", str(tmp_path / "cache"))
    folder_of.cache_clear()
    yield tmp_path / "cache"
    folder_of.cache_clear()


def test_kernels_are_kept_in_the_cache_for_the_user_alone(cache, monkeypatch):
    folder = folder_of("rerank_plugins")
    assert folder.parent == cache / KERNELS
    assert folder.stat().st_mode & 0o777 == 0o700
    monkeypatch.setenv("RERANK_CACHE", "")  # keeps no values
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache / "of the user"))
    folder_of.cache_clear()
    assert folder_of("rerank_plugins").parent == cache / "of the user" / "rerank-plugins" / KERNELS


def test_what_no_process_has_used_for_a_month_is_removed(cache):
    names = {}
    for name, days in (("old", DAYS_UNUSED + 1), ("young", DAYS_UNUSED - 1)):
        names[name] = cache / KERNELS / name
        (names[name] / "source").mkdir(parents=True)
        time = names[name].stat().st_mtime - days * 86_400
        os.utime(names[name], (time, time))
    own = folder_of("rerank_plugins")
    assert {*(cache / KERNELS).iterdir()} == {own, names["young"]}


def test_a_folder_to_which_others_may_write_is_not_used(tmp_path, cache, monkeypatch, caplog):
    folder = folder_of("rerank_plugins")
    assert is_private(folder)
    for mode, private in ((0o755, True), (0o775, False), (0o777, False), (0o1777, False), (0o700, True)):
        folder.chmod(mode)
        assert is_private(folder) == private
    for mode, private in ((0o777, False), (0o1777, True), (0o775, True), (0o755, True)):  # where others may replace it
        folder.parent.chmod(mode)
        assert is_private(folder) == private
    if os.geteuid() == 0:  # who alone can give a folder away
        os.chown(folder, 12345, -1)
        assert not is_private(folder)
        os.chown(folder, 0, -1)
    folder.chmod(0o777)
    folder_of.cache_clear()
    assert folder_of("rerank_plugins") is None
    assert f"{folder}: others may write there, and so run code as you; kernels are compiled for this" in caplog.text
    named = tmp_path / "named"
    named.mkdir()
    monkeypatch.setattr(machine_code.config, "CACHE_DIR", str(named))
    folder_of.cache_clear()
    assert folder_of("rerank_plugins").parent == named


def evaluate(folder: Path, **environment: str) -> subprocess.CompletedProcess:
    """A command that needs a kernel."""
    (folder / "ref").write_text("a b c\n")
    (folder / "out").write_text("a c\n")
    kept = {name: value for name, value in os.environ.items() if name not in ("XDG_CACHE_HOME", "NUMBA_CACHE_DIR")}
    command = [*RERANK, "evaluate", "-m", "bleu", "-r", folder / "ref", folder / "out"]
    return subprocess.run(command, env={**kept, **environment}, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_second_command_compiles_nothing(tmp_path):
    first = evaluate(tmp_path, RERANK_CACHE=str(tmp_path / "cache"))
    assert first.returncode == 0, first.stderr
    assert [line.split()[0] for line in first.stderr.splitlines()] == ["wrote"]  # nothing of kernels
    kernels = {path: path.stat().st_mtime_ns for path in (tmp_path / "cache" / KERNELS).rglob("*.nb?")}
    assert kernels
    assert evaluate(tmp_path, RERANK_CACHE=str(tmp_path / "cache")).stdout == first.stdout
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "cache" / KERNELS).rglob("*.nb?")} == kernels


@pytest.mark.slow
def test_without_any_folder_kernels_live_as_long_as_the_process(tmp_path):
    (tmp_path / "home").touch()  # no folder, which root could write to as well
    ran = evaluate(tmp_path, RERANK_CACHE="", HOME=str(tmp_path / "home"))
    assert ran.returncode == 0, ran.stderr
    said, _ = ran.stderr.splitlines()  # the other says what was written
    assert "kernels are compiled for this run only" in said
    assert "RERANK_CACHE" in said
