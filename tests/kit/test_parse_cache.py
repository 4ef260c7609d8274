"""The store of parses: a second run parses nothing, whoever runs; and a cache that fails is done without."""

import logging
import os
import pickle
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerank_plugins import Parse, Parser
from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.core.dependency_tree import DependencyTree
from rerank_plugins.core.scored_trees import ScoredTree
from rerank_plugins.kit.cache import FILE, Kind, user_cache
from rerank_plugins.kit.files import cached_parser
from rerank_plugins.kit.files.cached_parser import CachedParser, parser_identity
from rerank_plugins.kit.files.packed_parses import _key as key
from rerank_plugins.kit.files.packed_parses import load_parses, pack, save_parses, unpack
from tests.command_line import done, refused
from tests.random_trees import trees


@pytest.fixture(autouse=True)
def cache_in_this_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("RERANK_CACHE", str(tmp_path))


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
    made = CachedParser(first).parse(SENTENCES)
    assert first._asked == 3  # distinct
    again = CachedParser(second)
    assert again.parse(SENTENCES) == made
    assert (second._asked, again.parsed) == (0, 0)
    assert made[0].dependencies == DependencyTree(("a", "b"), (-1, 0), ("dep", "dep"), ("X", "X"))


def test_memory_comes_before_the_disk(tmp_path):
    parser = CachedParser(ChainParser())
    made = parser.parse(SENTENCES)
    (tmp_path / FILE).unlink()
    assert parser.parse(SENTENCES) == made
    assert parser.parsed == 3


def test_memory_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(cached_parser, "REMEMBERED_BYTES", 10)
    parser = CachedParser(ChainParser())
    for start in range(0, 100, 5):
        parser.parse([[str(i)] for i in range(start, start + 5)])
        assert len(parser._known) <= 15
    assert parser.parsed == 100
    parser.parse([[str(i)] for i in range(100)])
    assert parser.parsed == 100


def test_other_settings_and_other_model_files_are_other_parsers(tmp_path):
    model = tmp_path / "model"
    model.write_text("one")

    def asked(parser):
        CachedParser(parser).parse([["a"]])
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


def test_a_parser_that_is_no_dataclass_is_kept_in_memory_only(tmp_path):
    class Plain(ChainParser):
        pass

    class Bare(Parser):
        def parse(self, sentences):
            return [Parse() for _ in sentences]

    assert parser_identity(Plain()) is not None
    assert parser_identity(Bare()) is None
    assert parser_identity(ChainParser(relation=lambda: 1)) is None  # an option that cannot be described
    parser = CachedParser(Bare())
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


def test_parses_are_small(treebank):
    cache, kind = user_cache(), Kind("sentences", "me", "Me")
    save_parses(cache, kind, [(tree.words, Parse(tree)) for tree in treebank])
    total = sum(len(tree.words) for tree in treebank)
    assert cache.usage()[0].size + 16 * len(treebank) < 11 * total  # with the keys
    assert load_parses(cache, kind, [tree.words for tree in treebank]) == [Parse(tree) for tree in treebank]
    assert load_parses(cache, Kind("sentences", "you", "You"), [t.words for t in treebank[:3]]) == [None] * 3


def test_a_value_of_another_kind_is_no_parse(tmp_path):
    kind = Kind.of("sentences", ChainParser(), parser_identity(ChainParser()))
    user_cache().put(kind, [(key(["c"]), b"of another kind, but whole")])
    parser = CachedParser(ChainParser())
    assert parser.parse([["c"]])[0].dependencies is not None
    assert parser.parsed == 1


def test_many_sentences_are_asked_for_in_parts(tmp_path):
    sentences = [[str(i), "b"] for i in range(1234)]
    CachedParser(ChainParser()).parse(sentences)
    again = CachedParser(ChainParser())
    assert len(again.parse(sentences)) == 1234
    assert again.parsed == 0


def test_a_cached_parser_travels_without_connection_and_memory(tmp_path):
    parser = CachedParser(ChainParser())
    made = parser.parse(SENTENCES)
    again = pickle.loads(pickle.dumps(parser))
    assert again._known == {}
    assert again.parse(SENTENCES) == made
    assert again.parsed == 0


def messages(caplog):
    return [record.getMessage() for record in caplog.records]


def test_sentences_without_a_parse_are_counted_in_the_log(tmp_path, caplog):
    parser = CachedParser(ChainParser())
    with caplog.at_level(logging.WARNING):
        parser.parse([["a"], ["x", "1"], ["x", "2"], []])
        parser.parse([["x", "1"]])
    assert parser.unparsed == 2
    assert messages(caplog) == ["2 sentences have no parse, 2 in all (first: 'x 1')"]
    again = CachedParser(ChainParser())
    again.parse([["x", "1"]])
    assert (again.unparsed, again.parsed) == (1, 0)  # from the cache too


def check_done_without(folder, caplog):
    parser = CachedParser(ChainParser())
    with caplog.at_level(logging.WARNING):
        assert parser.parse([["a"]])[0].dependencies is not None
        assert parser.parse([["b"]])[0].dependencies is not None
    (warning,) = messages(caplog)
    assert "the cache is not used" in warning
    assert "\n" not in warning


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
