"""Compiled kernels are kept where they can be, and the user is told of their compilation; numba stays as it is."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rerank_adapters.runtime import kernel_cache
from rerank_plugins.core.files import KERNELS
from tests.command_line import RERANK, done


def test_importing_the_library_changes_nothing_in_the_process(tmp_path):
    script = """
import os, sys
from pathlib import Path
before = list(sys.meta_path), dict(os.environ)
import rerank_plugins
assert "numba" not in sys.modules
assert (sys.meta_path, dict(os.environ)) == before
import rerank_plugins.kit.charts.k_best, rerank_adapters.cli
from numba import config
assert not config.CACHE_DIR
assert (sys.meta_path, dict(os.environ)) == before
assert not any(path.is_file() for path in Path().rglob("*"))
"""
    environment = {name: value for name, value in os.environ.items() if name != kernel_cache.VARIABLE}
    subprocess.run([sys.executable, "-c", script], check=True, cwd=tmp_path, env=environment)


def test_old_machine_code_goes_and_the_last_stays(tmp_path):
    for number in range(kernel_cache.KEPT + 2):
        folder = tmp_path / f"kernels-{number:016x}"
        folder.mkdir()
        (folder / "kernel-1.py3.1.nbi").touch()
        os.utime(folder, (number, number))
    kernel_cache._forget_old(tmp_path)
    assert sorted(path.name[-2:] for path in tmp_path.iterdir()) == [
        f"{n:02x}" for n in range(2, kernel_cache.KEPT + 2)
    ]


@pytest.mark.slow
def test_compilations_are_told_and_loads_are_not(tmp_path):
    (tmp_path / "caller.py").write_text(
        "from rerank_plugins.kit.kernels import kernel\n@kernel\ndef twice(x):\n    return 2 * x\n"
    )
    script = """
from rerank_adapters.runtime.kernel_cache import compiled
assert not compiled()
from caller import twice
twice(1)
twice(2)
twice(0.5)
print(compiled())
"""
    environment = os.environ | {kernel_cache.VARIABLE: str(tmp_path)}
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
    kernels.mkdir()
    (kernels / "kernel-1.py3.1.nbc").write_bytes(bytes(300_000))
    assert done("tools", "cache").lines[-2] == f"{kernels}: 0.3 MB of compiled kernels"
    done("tools", "cache", "--clear")
    assert not kernels.exists()


@pytest.fixture(scope="module")
def sealed(tmp_path_factory, root):
    """An installation in which nobody, root included, can write compiled code: `__pycache__` are files."""
    folder = tmp_path_factory.mktemp("sealed")
    for source in (root / "rerank_plugins", root / "adapters" / "rerank_adapters"):
        shutil.copytree(source, folder / source.name, ignore=shutil.ignore_patterns("__pycache__", "resources"))
        for package in [folder / source.name, *(folder / source.name).rglob("*/")]:
            (package / "__pycache__").touch()
    os.symlink(root / "rerank_plugins" / "resources", folder / "rerank_plugins" / "resources")
    (folder / "home").touch()  # no home
    (folder / "ref").write_text("a b c\n")
    (folder / "out").write_text("a c\n")
    return folder


def evaluate(sealed: Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess:
    """A command that needs a kernel."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("RERANK_CACHE", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR")
    }
    (cwd / "tmp").mkdir(exist_ok=True)
    surroundings = {**kept, "PYTHONPATH": str(sealed), "HOME": str(sealed / "home"), "TMPDIR": str(cwd / "tmp")}
    command = [*RERANK, "evaluate", "-m", "bleu", "-r", sealed / "ref", sealed / "out"]
    return subprocess.run(
        command, cwd=cwd, env={**surroundings, **environment}, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_where_the_code_cannot_be_written_kernels_go_to_the_cache(sealed, tmp_path):
    cache = tmp_path / "cache"
    first = evaluate(sealed, tmp_path, RERANK_CACHE=str(cache))
    assert first.returncode == 0, first.stderr
    assert [line.split()[0] for line in first.stderr.splitlines()] == ["wrote"]  # nothing of kernels
    kernels = {path: path.stat().st_mtime_ns for path in (cache / "kernels").rglob("*.nb?")}
    assert kernels
    assert evaluate(sealed, tmp_path, RERANK_CACHE=str(cache)).stdout == first.stdout
    assert {path: path.stat().st_mtime_ns for path in (cache / "kernels").rglob("*.nb?")} == kernels
    assert not list((tmp_path / "tmp").iterdir())


def test_folders_to_which_others_may_write_are_not_used(tmp_path, monkeypatch):
    """As sshd does with keys: the folder and those above it are ours or root's, and nobody else writes to them."""
    folder = tmp_path / "above" / "kernels"
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    assert kernel_cache.shared_with_others(folder) is None
    assert kernel_cache.shared_with_others(folder / "new" / "ones") is None
    folder.chmod(0o777)
    assert kernel_cache.shared_with_others(folder) == folder
    folder.chmod(0o1777)  # others can put files there, although they cannot remove any
    assert kernel_cache.shared_with_others(folder) == folder
    folder.chmod(0o755)
    folder.parent.chmod(0o1777)
    assert kernel_cache.shared_with_others(folder) is None
    folder.parent.chmod(0o777)
    assert kernel_cache.shared_with_others(folder) == folder.parent
    folder.parent.chmod(0o775)
    monkeypatch.setattr(kernel_cache, "_is_own_group", lambda number: False)
    assert kernel_cache.shared_with_others(folder) == folder.parent
    monkeypatch.setattr(kernel_cache, "_is_own_group", lambda number: True)
    assert kernel_cache.shared_with_others(folder) is None
    if os.geteuid() == 0:  # who alone can give a folder away
        os.chown(folder, 12345, -1)
        assert kernel_cache.shared_with_others(folder) == folder


def test_a_named_folder_to_which_others_may_write_is_left_alone(tmp_path, monkeypatch, caplog):
    named = tmp_path / "kernels"
    named.mkdir()
    named.chmod(0o777)
    monkeypatch.setenv(kernel_cache.VARIABLE, str(named))
    kernel_cache.choose_folder()
    assert not Path(os.environ[kernel_cache.VARIABLE]).is_relative_to(tmp_path)
    assert f"{named}: others may write there" in caplog.text
    named.chmod(0o700)
    monkeypatch.setenv(kernel_cache.VARIABLE, str(named))
    kernel_cache.choose_folder()
    assert os.environ[kernel_cache.VARIABLE] == str(named)


@pytest.mark.slow
def test_without_any_cache_kernels_live_as_long_as_the_process(sealed, tmp_path):
    ran = evaluate(sealed, tmp_path)
    assert ran.returncode == 0, ran.stderr
    said, _ = ran.stderr.splitlines()  # the other says what was written
    assert "kernels are compiled for this run only" in said
    assert "RERANK_CACHE" in said
    assert not list((tmp_path / "tmp").iterdir())
