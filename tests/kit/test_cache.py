"""The cache: what is kept comes back, whatever happens to the processes that use it and to its file."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from functools import partial

import pytest

from rerank_plugins.kit import cache as module
from rerank_plugins.kit.cache import FILE, Cache, Kind, user_cache
from tests.command_line import done, refused
from tests.runtime.test_interrupt import run, seen

KIND, OTHER = Kind("lists", "1", "A"), Kind("lists", "2", "B")


def keys(numbers):
    return [b"%16d" % number for number in numbers]


def items(numbers, size=8):
    return [(key, key[-4:] * (size // 4)) for key in keys(numbers)]


def test_what_is_kept_comes_back_by_kind_and_key(tmp_path):
    cache = Cache(tmp_path)
    assert cache.get(KIND, keys([1])) == {}
    cache.put(KIND, items(range(1200)))  # more than one query may ask for
    cache.put(OTHER, [(keys([1])[0], b"other")])
    assert Cache(tmp_path).get(KIND, keys(range(-1, 1201))) == dict(items(range(1200)))
    assert cache.get(OTHER, keys([1, 2])) == {keys([1])[0]: b"other"}
    assert {tuple(usage.kind): usage.values for usage in cache.usage()} == {KIND: 1200, OTHER: 1}
    cache.clear()
    assert not cache.usage()


def test_only_what_is_asked_for_is_read(tmp_path):
    """One value of many: the time does not grow with what the cache holds."""
    cache = Cache(tmp_path)
    cache.put(KIND, items(range(20_000), size=4000))
    statements = []
    cache._open().set_trace_callback(statements.append)
    assert len(cache.get(KIND, keys([7]))) == 1
    assert len(statements) == 1
    plan = cache._open().execute("EXPLAIN QUERY PLAN " + statements[0]).fetchall()
    assert any("SEARCH kept USING PRIMARY KEY" in row[-1] for row in plan)


WRITER = """
import sys
from pathlib import Path
from rerank_plugins.kit.cache import Cache
from tests.kit.test_cache import KIND, items
cache, half = Cache(Path(sys.argv[1])), int(sys.argv[2])
for number in range(half, 200, 2):
    cache.put(KIND, items([number, number + 1]))
"""


@pytest.mark.slow
def test_two_processes_write_at_once(tmp_path, root):
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    writers = [subprocess.Popen([*command, str(half)], cwd=root) for half in (0, 1)]
    assert [writer.wait(120) for writer in writers] == [0, 0]
    assert len(Cache(tmp_path).get(KIND, keys(range(200)))) == 200


def test_the_least_recently_used_go_first(tmp_path, monkeypatch):
    today = [0]
    monkeypatch.setattr(module, "_today", lambda: today[0])
    for number in range(4):
        today[0] += 1
        Cache(tmp_path).put(KIND, items(range(100 * number, 100 * number + 100), size=4000))
    today[0] += 1
    Cache(tmp_path).get(KIND, keys(range(100)))  # the first ones are used again
    Cache(tmp_path, limit=1_000_000).put(OTHER, items([0]))
    left = Cache(tmp_path).get(KIND, keys(range(400)))
    assert set(keys(range(100))) <= left.keys()
    assert not set(keys(range(100, 200))) & left.keys()
    assert sum(map(len, left.values())) < 1_000_000
    Cache(tmp_path).prune(100_000)
    assert Cache(tmp_path).size() <= 100_000


def test_damaged_values_count_as_missing(tmp_path, caplog):
    cache = Cache(tmp_path)
    cache.put(KIND, items(range(10)))
    with sqlite3.connect(tmp_path / FILE) as database:
        database.execute("UPDATE kept SET value = substr(value, 5) WHERE key IN (?, ?)", keys([3, 4]))
    database.close()
    assert len(cache.get(KIND, keys(range(10)))) == 8
    assert caplog.messages == [f"{tmp_path / FILE}: 2 values are damaged; they are computed again"]
    cache.put(KIND, items([3, 4]))
    assert len(cache.get(KIND, keys(range(10)))) == 10


@pytest.mark.parametrize("damage", [b"no database at all, of some length", bytes(5000)])
def test_a_damaged_database_is_moved_aside(tmp_path, caplog, damage):
    (tmp_path / FILE).write_bytes(damage)
    cache = Cache(tmp_path)
    cache.put(KIND, items([1]))
    assert cache.get(KIND, keys([1]))
    assert (tmp_path / f"{FILE}.damaged").read_bytes() == damage
    assert "it is moved to" in caplog.text
    cache.clear()
    assert not (tmp_path / f"{FILE}.damaged").exists()


def test_commands_report_a_damaged_database_on_stderr(tmp_path, monkeypatch):
    monkeypatch.setenv("RERANK_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / FILE).write_bytes(b"no database at all, of some length")
    (tmp_path / "lists").write_text("0 ||| a b ||| LM= 1 ||| 1\n")
    ran = done("extract", tmp_path / "lists", "-f", "length", "-o", tmp_path / "table.npz")
    assert f"{FILE}: damaged (file is not a database); it is moved to {FILE}.damaged\n" in ran.err


def test_tables_of_another_version_are_replaced(tmp_path, caplog):
    with sqlite3.connect(tmp_path / FILE) as database:
        database.execute("CREATE TABLE kinds (id INTEGER PRIMARY KEY, family TEXT NOT NULL, identity TEXT NOT NULL)")
        database.execute("CREATE TABLE blobs (kind INTEGER NOT NULL, key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID")
        database.execute("INSERT INTO blobs VALUES (1, x'01', zeroblob(1000000))")
    database.close()
    cache = Cache(tmp_path)
    assert not cache.usage()
    cache.put(KIND, items([1]))
    assert cache.get(KIND, keys([1]))
    cache.prune(100_000)
    assert cache.size() <= 100_000
    assert cache.get(KIND, keys([1]))
    assert not caplog.messages


@pytest.mark.parametrize("how", ["a file for a folder", "a full disk"])
def test_a_cache_that_cannot_be_used_is_done_without_and_said_once(tmp_path, caplog, how):
    folder = tmp_path / "folder"
    if how == "a full disk":
        Cache(folder).put(KIND, items([0]))
        cache = Cache(folder)
        cache._open().execute("PRAGMA max_page_count = 1")
    else:
        folder.write_text("")
        cache = Cache(folder)
    for number in range(3):
        cache.put(KIND, items(range(number, 5000)))
        assert cache.get(KIND, keys([1])) == {}
    assert [record.getMessage().partition(" (")[0] for record in caplog.records] == [
        f"{folder / FILE}: the cache is not used"
    ]


def test_a_read_only_cache_still_reads(tmp_path, monkeypatch):
    Cache(tmp_path).put(KIND, items(range(3)))
    connect = sqlite3.connect
    read_only = partial(connect, f"file:{tmp_path / FILE}?mode=ro", uri=True)
    monkeypatch.setattr(module.sqlite3, "connect", lambda file, **how: read_only(timeout=1))
    monkeypatch.setattr(module, "_today", lambda: 10**6)  # a use is to be noted
    assert len(Cache(tmp_path).get(KIND, keys(range(3)))) == 3


def test_a_fork_opens_its_own_connection(tmp_path):
    cache = Cache(tmp_path)
    cache.put(KIND, items([1]))
    if (child := os.fork()) == 0:
        cache.put(KIND, items([2]))
        os._exit(0 if len(cache._databases) == 2 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert len(cache.get(KIND, keys([1, 2]))) == 2


def test_where_the_users_cache_is(tmp_path, monkeypatch):
    monkeypatch.setenv("RERANK_CACHE", str(tmp_path))
    monkeypatch.setenv("RERANK_CACHE_LIMIT", "2 MB")
    assert user_cache() is user_cache()
    assert (user_cache().folder, user_cache().limit) == (tmp_path, 2_000_000)
    monkeypatch.setenv("RERANK_CACHE", "")
    assert user_cache() is None


SLOW = """
import os, time
from dataclasses import dataclass
import numpy as np
from rerank_plugins import FeatureExtractor, hookimpl

@dataclass(frozen=True)
class Slow(FeatureExtractor):
    "Slow."

    def extract(self, nbest):
        time.sleep(0.02)
        with open("seen", "a") as file:
            file.write(f"{nbest.segment_id} {os.getpid()}\\n")
        return np.array([[float(len(text))] for text in nbest.texts])

@hookimpl
def register_feature_extractors(register):
    register("slow", Slow)
"""


@pytest.mark.slow
def test_a_killed_extraction_goes_on_where_it_stopped(tmp_path, root, monkeypatch):
    monkeypatch.setenv("RERANK_CACHE", str(tmp_path / "cache"))
    lines = (root / "example_nbest" / "mt" / "tune.nbest").read_text().splitlines(keepends=True)
    (tmp_path / "lists").write_text("".join(line for row, line in enumerate(lines) if row % 50 < 10))
    (tmp_path / "slow.py").write_text(SLOW)
    command = [
        sys.executable,
        "-m",
        "rerank_adapters.cli.main",
        "--plugin",
        "slow.py",
        "extract",
        "lists",
        "-f",
        "slow",
    ]
    with subprocess.Popen([*command, "-j", "1", "-o", "killed.npz"], cwd=tmp_path) as process:
        while not Cache(tmp_path / "cache").usage() and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    kept = sum(usage.values for usage in Cache(tmp_path / "cache").usage())
    assert 0 < kept < 100
    seen(tmp_path)
    assert run(tmp_path, "extract", "lists", "-f", "slow", "-o", "killed.npz").code == 0
    assert len(seen(tmp_path)) == 100 - kept
    monkeypatch.setenv("RERANK_CACHE", "")
    assert run(tmp_path, "extract", "lists", "-f", "slow", "-o", "whole.npz").code == 0
    assert (tmp_path / "whole.npz").read_bytes() == (tmp_path / "killed.npz").read_bytes()


def test_commands_share_the_cache(small, tmp_path, monkeypatch):
    monkeypatch.setenv("RERANK_CACHE", str(tmp_path / "cache"))
    features = ("-f", "length", "-f", "consensus")
    assert "in the cache" not in done("extract", small / "tune.nbest", *features, "-o", tmp_path / "t.npz").err
    tune = ("tune", small / "tune.nbest", "-r", small / "tune.en", "-o", tmp_path / "w.toml")
    said = "features in the cache: length, consensus of 200 hypotheses"
    assert said in done(*tune, *features).err
    assert said in done("apply", small / "tune.nbest", "-w", tmp_path / "w.toml").err
    listed = done("tools", "cache").lines
    assert listed[0].startswith(f"{tmp_path / 'cache' / FILE}: 0.")
    assert "20 lists, 0.0 MB: LengthFeature" in listed
    assert "cleared" in done("tools", "cache", "--clear").out
    assert not Cache(tmp_path / "cache").usage()
    monkeypatch.setenv("RERANK_CACHE", "")
    assert "in the cache" not in done(*tune, *features).err
    assert refused("tools", "cache") == "nothing is kept, because RERANK_CACHE is set to nothing"


def test_what_cannot_be_cleared(tmp_path, monkeypatch):
    monkeypatch.setenv("RERANK_CACHE", str(tmp_path / "cache"))
    cache = Cache(tmp_path / "cache")
    cache.put(KIND, items([1]))
    cache._open().execute("BEGIN EXCLUSIVE")
    monkeypatch.setattr(module, "SECONDS_TO_WAIT", 0.1)
    assert "cannot be cleared (database is locked)" in refused("tools", "cache", "--clear")
    cache._open().execute("ROLLBACK")
