"""Temporary files beside an output: gone when it is written or given up, and those of killed processes a run later."""

import os
import signal

import pytest

from rerank_plugins.core.files import atomic_write

pytest.importorskip("fcntl")


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def killed_while_writing(path):
    """A fork of this process is killed while it writes the file."""
    child = os.fork()
    if child == 0:
        with atomic_write(path) as temporary:
            temporary.write_text("half")
            os.kill(os.getpid(), signal.SIGKILL)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL


def test_what_a_killed_process_leaves_is_removed_by_the_next_that_writes_the_file(tmp_path):
    killed_while_writing(tmp_path / "a.npz")
    killed_while_writing(tmp_path / "b.npz")
    assert len(names(tmp_path)) == 2
    with atomic_write(tmp_path / "a.npz") as temporary:
        assert [name for name in names(tmp_path) if name.startswith(".a.npz.")] == [temporary.name]
        os.replace(temporary, tmp_path / "a.npz")
    left, written = names(tmp_path)
    assert left.startswith(".b.npz.")
    assert written == "a.npz"


def test_files_of_living_processes_and_of_others_stay(tmp_path):
    (tmp_path / ".a.npz.backup.tmp").touch()
    (tmp_path / ".a.npz.0123abcd.tmp").mkdir()
    with atomic_write(tmp_path / "a.npz") as first, atomic_write(tmp_path / "a.npz") as second:
        assert first.exists()
        assert second.exists()
        assert first != second
    assert names(tmp_path) == [".a.npz.0123abcd.tmp", ".a.npz.backup.tmp"]


def test_a_file_that_cannot_be_created_is_named_as_the_user_names_it(tmp_path):
    with pytest.raises(FileNotFoundError) as caught, atomic_write(tmp_path / "none" / "a.npz"):
        pass
    assert caught.value.filename == str(tmp_path / "none" / "a.npz")


def test_a_signal_before_the_file_is_locked_leaves_none_behind(tmp_path, monkeypatch):
    def interrupted(descriptor):
        assert len(list(tmp_path.iterdir())) == 1
        raise KeyboardInterrupt

    monkeypatch.setattr("rerank_plugins.core.files._lock", interrupted)
    with pytest.raises(KeyboardInterrupt), atomic_write(tmp_path / "out"):
        pass
    assert not list(tmp_path.iterdir())
