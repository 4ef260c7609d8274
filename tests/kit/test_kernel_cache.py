"""Compiled kernels: kept where they can be, shared by processes, and never in the way."""

import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from rerank_plugins.kit import kernel_cache, kernel_compilation
from tests.command_line import RERANK, done

caching = pytest.importorskip("numba.core.caching")


def cache_file(folder: Path, stamp: str = "of the source"):
    return caching.IndexDataCacheFile(str(folder), "kernel-1.py3", stamp)


def test_what_is_saved_is_loaded(tmp_path):
    cache_file(tmp_path).save("int", "code for int")
    cache_file(tmp_path).save("float", "code for float")
    assert cache_file(tmp_path).load("int") == "code for int"
    assert cache_file(tmp_path).load("float") == "code for float"
    assert cache_file(tmp_path).load("str") is None
    assert cache_file(tmp_path, "of another source").load("int") is None


def test_two_that_save_at_once_do_not_take_each_others_place(tmp_path):
    """Without a lock both would find number 1 free, and the index would name code for the other type."""
    started = threading.Barrier(2)

    def save(key):
        file = cache_file(tmp_path)
        save_index = file._save_index

        def slowly(overloads):
            time.sleep(0.1)
            save_index(overloads)

        file._save_index = slowly
        started.wait()
        file.save(key, f"code for {key}")

    threads = [threading.Thread(target=save, args=(key,)) for key in ("int", "float")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [cache_file(tmp_path).load(key) for key in ("int", "float")] == ["code for int", "code for float"]


def test_a_process_killed_before_it_wrote_code_revives_no_older_code(tmp_path):
    cache_file(tmp_path, "old source").save("int", "old code")
    dying = cache_file(tmp_path, "new source")

    def die(name, data):
        (tmp_path / f"{name}.tmp.1234").touch()
        raise KeyboardInterrupt

    dying._save_data = die
    with pytest.raises(KeyboardInterrupt):
        dying.save("int", "new code")
    assert cache_file(tmp_path, "new source").load("int") is None
    assert [path.name for path in tmp_path.iterdir()] == ["kernel-1.py3.nbi"]


@pytest.mark.parametrize("ending", ["nbi", "1.nbc"])
def test_a_file_that_is_cut_short_is_made_again(tmp_path, ending):
    cache_file(tmp_path).save("int", "code for int")
    path = tmp_path / f"kernel-1.py3.{ending}"
    path.write_bytes(path.read_bytes()[:-3])
    assert cache_file(tmp_path).load("int") is None
    cache_file(tmp_path).save("int", "code for int")
    assert cache_file(tmp_path).load("int") == "code for int"


def test_a_full_disk_costs_the_file_only(tmp_path):
    file = cache_file(tmp_path)

    def full(name, data):
        raise OSError(28, "No space left on device")

    file._save_data = full
    file.save("int", "code for int")
    assert file.load("int") is None


def test_numba_is_set_up_when_it_is_imported_and_not_before():
    script = """
import sys, rerank_plugins
assert "numba" not in sys.modules
hooks = [finder for finder in sys.meta_path if type(finder).__module__ == "rerank_plugins.kit.kernel_cache"]
assert len(hooks) == 1
from numba.core import caching
assert hasattr(caching.IndexDataCacheFile.save, "__wrapped__")
assert hooks[0] not in sys.meta_path
rerank_plugins.kit.kernel_cache.install()
assert not hasattr(caching.IndexDataCacheFile.save.__wrapped__, "__wrapped__")
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_numba_that_is_there_already_is_set_up():
    script = """
from numba.core import caching
import rerank_plugins
assert hasattr(caching.IndexDataCacheFile.save, "__wrapped__")
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_the_cache_command_shows_and_clears_kernels(tmp_path):
    kernels = tmp_path / kernel_cache.FOLDER
    kernels.mkdir()
    cache_file(kernels).save("int", "c" * 300_000)
    assert done("cache", "--folder", tmp_path).lines[-2] == f"{kernels}: 0.3 MB of compiled kernels"
    done("cache", "--folder", tmp_path, "--clear")
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


@pytest.mark.slow
def test_without_any_cache_kernels_live_as_long_as_the_process(sealed, tmp_path):
    ran = evaluate(sealed, tmp_path)
    assert ran.returncode == 0, ran.stderr
    said, _ = ran.stderr.splitlines()  # the other says what was written
    assert "kernels are compiled for this run only" in said
    assert "RERANK_CACHE" in said
    assert not list((tmp_path / "tmp").iterdir())


TWO = """
import sys
import numpy as np
import rerank_plugins
from kernels import total
for kind in sys.argv[1:]:
    assert total(np.arange(10, dtype=kind)) == 45, kind
"""


@pytest.mark.slow
def test_processes_that_compile_at_once_do_not_break_each_other(tmp_path):
    (tmp_path / "kernels.py").write_text(
        "from numba import njit\n@njit(cache=True)\ndef total(x):\n    s = x[0]\n    for y in x:\n        s += y\n    return s\n"
    )
    kinds = ["int64", "float64"]
    (tmp_path / "two.py").write_text(TWO)
    commands = [[sys.executable, "two.py", *order] for order in (kinds, kinds[::-1])]
    processes = [subprocess.Popen(command, cwd=tmp_path) for command in commands]
    assert [process.wait(timeout=120) for process in processes] == [0, 0]
    subprocess.run(commands[0], cwd=tmp_path, check=True)


ONCE = """
import rerank_plugins, numpy, sys
from rerank_plugins.kit.kernel_compilation import told
from kernels import total
with told(print):
    total(numpy.ones(3))
print(sum(total.stats.cache_misses.values()))
"""


@pytest.mark.slow
def test_a_kernel_is_compiled_by_one_of_the_processes_that_need_it(tmp_path):
    """The others wait for it. A kernel that takes no time to compile would show nothing: this one has a slow one in it."""
    lines = [f"        s += y * {i} if y > {i} else {i}" for i in range(60)]
    (tmp_path / "kernels.py").write_text(
        "\n".join(
            ["from numba import njit", "@njit(cache=True)", "def total(x):", "    s = 0.0", "    for y in x:", *lines]
        )
        + "\n    return s\n"
    )
    (tmp_path / "once.py").write_text(ONCE)
    processes = [
        subprocess.Popen([sys.executable, "once.py"], cwd=tmp_path, stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    said = [process.communicate(timeout=120)[0].split() for process in processes]
    assert sorted(lines[-1] for lines in said) == ["0", "1"]
    assert any(lines[0] == "kernels.total" for lines in said)


def test_a_claim_that_ends_with_its_process_or_never(tmp_path, monkeypatch):
    """One who waits goes on when the other has died, and in the end if it has not."""
    monkeypatch.setattr(kernel_compilation, "PATIENCE", 0.3)
    kernel = tmp_path / "kernel-1.py3.nbi"
    holder = "import sys; from pathlib import Path; from rerank_plugins.kit.kernel_compilation import _claim\n"
    holder += "_claim(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", holder, str(kernel)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        assert kernel_compilation._claim(kernel)  # waited in vain
        assert not kernel_compilation._claim(tmp_path / "other-1.py3.nbi")
        process.kill()
        process.wait()
    assert not kernel_compilation._claim(kernel)
