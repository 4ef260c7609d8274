"""The store of parses: a second run parses nothing, whoever runs; and a cache that fails is done without."""

import json
import logging
import multiprocessing
import os
import pickle
import re
import sqlite3
import stat
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerank_plugins import ConfigError, Parse, Parser
from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.core.dependency_tree import DependencyTree
from rerank_plugins.core.paths import cache_folder
from rerank_plugins.core.scored_trees import ScoredTree
from rerank_plugins.dependency.parsers import EnglishParser, TreebankParser
from rerank_plugins.kit.files import blobs, cached_parser
from rerank_plugins.kit.files.blobs import Kind
from rerank_plugins.kit.files.cached_parser import CachedParser, identity
from rerank_plugins.kit.files.packed_parses import FAMILY, load_parses, pack, save_parses, unpack
from rerank_plugins.kit.files.packed_parses import _key as key
from rerank_plugins.kit.files.store import FILE, FULL, Store, user_store
from tests.command_line import done, refused, rerank
from tests.random_trees import trees

SENTENCES = [["a", "b"], ["c"], ["a", "b"], []]


@dataclass
class ChainParser(Parser):
    """Each word depends on the one before it; sentences with an x have no parse. Counts what it is asked for."""

    relation: str = "dep"
    model: Path | None = None
    _asked: int = 0

    def parse(self, sentences):
        self._asked += len(sentences)
        return [Parse(self._tree(tuple(s)) if s and "x" not in s else None) for s in sentences]

    def _tree(self, words):
        return DependencyTree(
            words, tuple(range(-1, len(words) - 1)), (self.relation,) * len(words), ("X",) * len(words)
        )


def test_a_second_run_parses_nothing(tmp_path):
    first, second = ChainParser(), ChainParser()
    made = CachedParser(first, Store(tmp_path)).parse(SENTENCES)
    assert first._asked == 3  # distinct
    again = CachedParser(second, Store(tmp_path))
    assert again.parse(SENTENCES) == made
    assert (second._asked, again.parsed) == (0, 0)
    assert made[0].dependencies == DependencyTree(("a", "b"), (-1, 0), ("dep", "dep"), ("X", "X"))


def test_memory_comes_before_the_disk(tmp_path):
    parser = CachedParser(ChainParser(), Store(tmp_path))
    made = parser.parse(SENTENCES)
    (tmp_path / FILE).unlink()
    assert parser.parse(SENTENCES) == made
    assert parser.parsed == 3


def test_memory_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(cached_parser, "REMEMBERED", 10)
    parser = CachedParser(ChainParser(), Store(tmp_path))
    for start in range(0, 100, 5):
        parser.parse([[str(i)] for i in range(start, start + 5)])
        assert len(parser._known) <= 15
    assert parser.parsed == 100
    parser.parse([[str(i)] for i in range(100)])
    assert parser.parsed == 100


def test_other_settings_and_other_model_files_are_other_parsers(tmp_path):
    model = tmp_path / "model"
    model.write_text("one")
    cache = tmp_path / "cache"

    def asked(parser):
        CachedParser(parser, Store(cache)).parse([["a"]])
        return parser._asked

    assert asked(ChainParser()) == 1
    assert asked(ChainParser(relation="punct")) == 1
    assert asked(ChainParser(model=model)) == 1
    assert asked(ChainParser(model=model)) == 0
    os.utime(model, (1, 1))  # touched, not changed
    assert asked(ChainParser(model=model)) == 0
    model.write_text("two")
    assert asked(ChainParser(model=model)) == 1
    copy = tmp_path / "copy"
    copy.write_text("one")
    assert asked(ChainParser(model=copy)) == 0  # the content counts, not the name


def test_identity_names_class_code_options_and_engines(tmp_path):
    about = json.loads(identity(TreebankParser(tmp_path / "none.conllu")))
    assert about["class"] == "rerank_plugins.dependency.parsers.TreebankParser"
    assert about["options"] == {"path": "no file", "second": None}
    assert json.loads(identity(EnglishParser()))["resources"][0].startswith("sha256:")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_text("x")
    before = identity(ChainParser(model=tmp_path / "folder"))
    (tmp_path / "folder" / "file").rename(tmp_path / "folder" / "other")
    assert identity(ChainParser(model=tmp_path / "folder")) != before

    @dataclass
    class WithEngine(ChainParser):
        engines = ("numpy",)

    assert json.loads(identity(WithEngine()))["engines"] == {"numpy": version("numpy")}
    assert identity(ChainParser(relation=lambda: 1)) is None  # an option that cannot be described


def test_a_parser_that_is_no_dataclass_is_kept_in_memory_only(tmp_path):
    class Plain(ChainParser):
        pass

    class Bare(Parser):
        def parse(self, sentences):
            return [Parse() for _ in sentences]

    assert identity(Plain()) is not None
    assert identity(Bare()) is None
    parser = CachedParser(Bare(), Store(tmp_path))
    parser.parse([["a"], ["a"]])
    parser.parse([["a"]])
    assert parser.parsed == 1
    assert not (tmp_path / FILE).exists()


words = st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=12).map(tuple)


@given(words, st.data())
def test_what_is_kept_is_what_comes_back(sentence, data):
    n = len(sentence)
    heads = tuple(data.draw(st.lists(st.integers(-1, n - 1), min_size=n, max_size=n)))
    labels = [tuple(data.draw(st.lists(st.text(max_size=8), min_size=k, max_size=k))) for k in (n, n)]
    parse = Parse(DependencyTree(sentence, heads, *labels))
    assert unpack(pack(parse), sentence) == parse
    assert unpack(pack(Parse()), sentence) == Parse()
    assert unpack(pack(parse), (*sentence, "more")) is None
    assert unpack(pack(parse)[:-3], sentence) in (None, parse)


@given(st.lists(trees, min_size=1, max_size=4), st.data())
def test_k_best_lists_come_back(found, data):
    words = found[0].words()
    same = [renamed(tree, words) for tree in found if len(tree.words()) == len(words)]
    scores = sorted(data.draw(st.lists(st.floats(-1e6, 0), min_size=len(same), max_size=len(same))), reverse=True)
    parse = Parse(None, tuple(map(ScoredTree, same, scores)))
    assert unpack(pack(parse), words) == parse
    both = Parse(DependencyTree(words, (-1,) * len(words), ("a",) * len(words)), parse.constituents)
    assert unpack(pack(both), words) == both
    assert unpack(pack(parse), (*words, "more")) is None
    assert unpack(pack(parse), words[1:]) is None
    assert unpack(pack(parse)[:-3], words) in (None, parse)


def renamed(tree, words):
    """The tree over other words; they are drawn from left to right, while a fold goes from right to left."""
    from_last = reversed(words)
    return tree.fold(
        lambda tag: Tree(tag.label, (next(from_last),)), lambda node, below: Tree(node.label, tuple(below))
    )


def test_k_best_lists_are_small():
    """A hundred trees that differ in one label take little more than one."""
    words = tuple(f"w{i}" for i in range(40))
    right = [Tree("X", (word,)) for word in words]

    def chain(label):
        tree = right[-1]
        for i in range(len(words) - 2, -1, -1):
            tree = Tree(label if i == 0 else f"P{i % 5}", (right[i], tree))
        return tree

    lists = [tuple(ScoredTree(chain(f"L{i}"), -float(i)) for i in range(k)) for k in (1, 100)]
    one, many = (len(pack(Parse(None, trees))) for trees in lists)
    assert many < one + 100 * 12
    back = unpack(pack(Parse(None, lists[1])), words)
    assert back.constituents == lists[1]
    assert back.constituents[0].tree.children[1] is back.constituents[99].tree.children[1]


@given(st.lists(words, min_size=2, max_size=2, unique=True))
def test_keys_tell_sentences_apart(pair):
    assert key(pair[0]) != key(pair[1])


def test_keys_tell_boundaries_of_words_apart():
    assert len({key(s) for s in (["a b"], ["a", "b"], ["ab"], ["a", "", "b"], ["a\x00b"])}) == 5


def test_parses_are_small(treebank, tmp_path):
    store = Store(tmp_path)
    save_parses(store, "me", [(tree.words, Parse(tree)) for tree in treebank])
    total = sum(len(tree.words) for tree in treebank)
    assert store.usage()[0].size + 16 * len(treebank) < 11 * total  # with the keys
    assert load_parses(store, "me", [tree.words for tree in treebank]) == [Parse(tree) for tree in treebank]
    assert load_parses(store, "you", [tree.words for tree in treebank[:3]]) == [None] * 3


def test_many_sentences_are_asked_for_in_parts(tmp_path):
    sentences = [[str(i), "b"] for i in range(1234)]
    CachedParser(ChainParser(), Store(tmp_path)).parse(sentences)
    again = CachedParser(ChainParser(), Store(tmp_path))
    assert len(again.parse(sentences)) == 1234
    assert again.parsed == 0


def parse_in_process(folder, start):
    parser = CachedParser(ChainParser(), Store(folder))
    for at in range(start, start + 400, 20):
        parser.parse([[str(i)] for i in range(at, at + 20)])


@pytest.mark.slow
def test_several_processes_write_at_a_time(tmp_path):
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=parse_in_process, args=(tmp_path, start)) for start in (0, 200, 400)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert Store(tmp_path).usage()[0].blobs == 800


def sentences_of(start, count=1000):
    return [[f"w{number}"] * 30 for number in range(start, start + count)]


def known_of(cache, sentences):
    return [parse is not None for parse in load_parses(cache, identity(ChainParser()), sentences)]


def test_the_least_recently_used_parses_make_room(tmp_path, monkeypatch):
    """The second of three batches is read a month later, so that the first makes room for the third."""
    cache, now = Store(tmp_path), [0]
    monkeypatch.setattr(blobs, "hour", lambda: now[0])
    for start in (0, 1000):
        now[0] += 24
        CachedParser(ChainParser(), cache).parse(sentences_of(start))
    assert cache.usage()[0].blobs == 2000
    now[0] += 24 * 30
    assert all(known_of(cache, sentences_of(1000)))
    content = blobs.content(cache._open())
    cache.limit = int(content / FULL)
    CachedParser(ChainParser(), cache).parse(sentences_of(2000, 500))
    assert blobs.content(cache._open()) == cache._content <= content
    assert blobs.extent(cache._open()) <= cache.limit
    assert all(known_of(cache, sentences_of(1000)) + known_of(cache, sentences_of(2000, 500)))
    first = sum(known_of(cache, sentences_of(0)))
    assert 200 < first < 400  # 1,000 - 500 - a tenth of 2,000
    kept = cache.usage()[0].blobs
    CachedParser(ChainParser(), cache).parse(sentences_of(2500, 10))
    assert cache.usage()[0].blobs == kept + 10  # the room of removed parses is used again
    cache.prune(100_000)
    assert cache.file.stat().st_size <= 100_000
    assert 300 < cache.usage()[0].blobs < 1000
    cache.prune(0)
    assert cache.usage() == []


def evict_in_process(folder, start):
    parser = CachedParser(ChainParser(), Store(folder, 60_000))
    for first in range(start, start + 2000, 200):
        assert all(parse.dependencies for parse in parser.parse(sentences_of(first, 200)))
    sys.exit(parser._store._broken)


def test_two_processes_may_evict_at_the_same_time(tmp_path):
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=evict_in_process, args=(tmp_path, start)) for start in (0, 1000)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    cache = Store(tmp_path)
    assert 0 < cache.usage()[0].blobs < 3000
    with sqlite3.connect(cache.file) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()


def test_a_fork_opens_its_own_connection(tmp_path):
    parser = CachedParser(ChainParser(), Store(tmp_path))
    parser.parse([["a"]])
    child = os.fork()
    if not child:
        parser.parse([["b"]])
        os._exit(len(parser._store._connections) - 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    again = CachedParser(ChainParser(), Store(tmp_path))
    again.parse([["a"], ["b"]])
    assert again.parsed == 0


def test_a_cached_parser_travels_without_connection_and_memory(tmp_path):
    parser = CachedParser(ChainParser(), Store(tmp_path))
    made = parser.parse(SENTENCES)
    again = pickle.loads(pickle.dumps(parser))
    assert again._known == {}
    assert again.parse(SENTENCES) == made
    assert again.parsed == 0


def messages(caplog):
    return [record.getMessage() for record in caplog.records]


def test_sentences_without_a_parse_are_counted_in_the_log(tmp_path, caplog):
    parser = CachedParser(ChainParser(), Store(tmp_path))
    with caplog.at_level(logging.WARNING):
        parser.parse([["a"], ["x", "1"], ["x", "2"], []])
        parser.parse([["x", "1"]])
    assert parser.unparsed == 2
    assert messages(caplog) == ["2 sentences have no parse, 2 in all (first: 'x 1')"]
    again = CachedParser(ChainParser(), Store(tmp_path))
    again.parse([["x", "1"]])
    assert (again.unparsed, again.parsed) == (1, 0)  # from the cache too


def check_done_without(folder, caplog):
    parser = CachedParser(ChainParser(), Store(folder))
    with caplog.at_level(logging.WARNING):
        assert parser.parse([["a"]])[0].dependencies is not None
        assert parser.parse([["b"]])[0].dependencies is not None
    (warning,) = messages(caplog)
    assert "the cache is not used" in warning
    assert "\n" not in warning


def test_a_folder_that_cannot_be_made_is_done_without(tmp_path, caplog):
    (tmp_path / "file").write_text("")
    check_done_without(tmp_path / "file" / "cache", caplog)


@pytest.mark.parametrize("damage", ["no database", "a page", "cut off"])
def test_a_damaged_database_is_moved_aside(tmp_path, caplog, damage):
    first = CachedParser(ChainParser(), Store(tmp_path))
    parses = first.parse(sentences_of(0, 300))
    first._store.close()
    file = tmp_path / FILE
    whole = file.read_bytes()
    file.write_bytes(
        {"no database": b"no database at all " * 500, "a page": whole[:4096] + b"\xff" * 8192 + whole[12288:]}.get(
            damage, whole[: len(whole) // 2]
        )
    )
    with caplog.at_level(logging.WARNING):
        again = CachedParser(ChainParser(), Store(tmp_path))
        assert again.parse(sentences_of(0, 300)) == parses
    (warning,) = messages(caplog)
    assert re.fullmatch(rf"{file}: damaged \(.*\); it is moved to {FILE}.damaged", warning)
    assert again.parsed == 300
    assert known_of(Store(tmp_path), sentences_of(0, 300)) == [True] * 300
    Store(tmp_path).clear()
    assert not (tmp_path / f"{FILE}.damaged").exists()


def test_a_read_only_cache_still_reads(tmp_path, caplog):
    if os.geteuid() == 0:
        pytest.skip("the superuser may write everywhere")
    CachedParser(ChainParser(), Store(tmp_path)).parse([["a"]])
    (tmp_path / FILE).chmod(stat.S_IRUSR)
    check_done_without(tmp_path, caplog)


def test_a_full_disk_is_done_without(tmp_path, caplog):
    cache = Store(tmp_path)
    save_parses(cache, "someone", [])
    cache._open().execute("PRAGMA max_page_count = 1")
    parser = CachedParser(ChainParser(), cache)
    with caplog.at_level(logging.WARNING):
        parses = parser.parse([[str(i)] * 20 for i in range(3000)])
    assert all(parse.dependencies for parse in parses)
    assert ["full" in message for message in messages(caplog)] == [True]


def test_values_that_are_damaged_are_parsed_again(tmp_path, caplog):
    cache = Store(tmp_path)
    CachedParser(ChainParser(), cache).parse([["a"], ["b"]])
    cache.close()
    with sqlite3.connect(tmp_path / FILE) as database:
        database.execute("UPDATE blobs SET value = x'00ff'")
    database.close()
    again = CachedParser(ChainParser(), Store(tmp_path))
    assert again.parse([["a"]])[0].dependencies is not None
    assert again.parsed == 1
    assert messages(caplog) == [f"{tmp_path / FILE}: 1 values are damaged; they are made again"]
    cache.save(Kind(FAMILY, identity(ChainParser())), [(key(["c"]), b"of another kind, but whole")])
    assert known_of(cache, [["a"], ["b"], ["c"]]) == [True, False, False]


def test_where_the_cache_is(tmp_path, monkeypatch):
    assert cache_folder({"XDG_CACHE_HOME": "/x"}) == Path("/x/rerank-plugins")
    assert cache_folder({}) == Path.home() / ".cache" / "rerank-plugins"
    monkeypatch.setenv("RERANK_CACHE", str(tmp_path))
    assert user_store() == Store(tmp_path, 10_000_000_000)
    monkeypatch.setenv("RERANK_CACHE_LIMIT", "3 kB")
    assert user_store() == Store(tmp_path, 3000)
    monkeypatch.setenv("RERANK_CACHE_LIMIT", "much")
    with pytest.raises(ConfigError, match="RERANK_CACHE_LIMIT is 'much'; wanted a number of bytes, or a size such as"):
        user_store()
    monkeypatch.setenv("RERANK_CACHE", "")
    assert user_store() is None


def test_command_cache_shows_and_clears(tmp_path, monkeypatch):
    monkeypatch.setenv("RERANK_CACHE", str(tmp_path))
    empty = [f"{tmp_path / FILE}: 0.0 MB", f"{tmp_path}: 0.0 MB in all"]
    assert done("tools", "cache").lines == empty
    CachedParser(ChainParser(relation="nsubj")).parse([[str(i)] for i in range(20)])
    CachedParser(ChainParser(relation="obj")).parse([[str(i)] for i in range(2000)])
    database, *parsers, total = done("tools", "cache").lines
    assert database.startswith(f"{tmp_path / FILE}: 0.")
    assert parsers == [  # the largest comes first
        "2000 sentences, 0.1 MB: ChainParser(relation=obj)",
        "20 sentences, 0.0 MB: ChainParser(relation=nsubj)",
    ]
    assert total == f"{tmp_path}: {database.split()[-2]} MB in all"
    assert "pruned, 0.0 MB freed" in done("tools", "cache", "--prune").out
    assert "pruned, 0." in done("tools", "cache", "--prune", "80k").out
    assert 0 < int(done("tools", "cache").lines[1].split()[0]) < 2000
    assert refused("tools", "cache", "--prune", "much").startswith("--prune is 'much'; wanted a number of bytes")
    assert "cleared, 0." in done("tools", "cache", "--clear").out
    assert done("tools", "cache").lines == empty
    monkeypatch.setenv("RERANK_CACHE", "")
    assert refused("tools", "cache") == "nothing is kept, because RERANK_CACHE is set to nothing"


def test_command_cache_says_what_cannot_be_cleared(tmp_path):
    holder = sqlite3.connect(tmp_path / FILE)
    save_parses(Store(tmp_path), "me", [])
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blobs, "PATIENCE", 0.1)
        patch.setenv("RERANK_CACHE", str(tmp_path))
        ran = rerank("tools", "cache", "--clear")
    holder.close()
    assert ran.code == 2
    assert "cannot be cleared (database is locked)" in ran.err
