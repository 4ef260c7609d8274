"""HEADLEX: against the slow twin, sums to one, files."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rerank_plugins import ConfigError, ModelError
from rerank_plugins.kit.backoff.scoring import score_events
from rerank_plugins.treelet.headlex import Settings, collect, read_model, train, write_model
from rerank_plugins.treelet.headlex_events import KINDS, HeadFinder, factors, find_heads
from tests.model_files import check_damage_is_seen, content_of, write_content
from tests.treelet.naive_headlex import NaiveHeadlex
from tests.treelet.naive_tree_transformations import lexicalise
from tests.treelet.test_treelet import NEW, TREES, random_trees


def trained(trees=TREES, **given_settings):
    return train(collect(trees), Settings(**given_settings), jobs=1)


def test_probabilities_agree_with_the_twin():
    model, naive = trained(), NaiveHeadlex(TREES)
    found = model.score_trees([*TREES, *NEW[:1], *NEW[2:]])
    assert found == pytest.approx([naive.ln_p(tree) for tree in [*TREES, *NEW[:1], *NEW[2:]]], abs=1e-4)
    assert np.isfinite(model.score_trees(NEW)).all()


@settings(max_examples=25)
@given(st.lists(random_trees(), min_size=1, max_size=10), random_trees("abcdef"))
def test_random_treebanks_agree_with_the_twin(trees, asked):
    assume(any(not tree.children[0].is_preterminal for tree in trees))
    known = {(node.label, node.is_preterminal) for tree in trees for node in tree.nodes()}
    model, naive = trained(trees), NaiveHeadlex(trees)
    for tree in [*trees[:2], asked]:
        if {(node.label, node.is_preterminal) for node in tree.nodes()} <= known:
            wanted = naive.ln_p(tree)
            if wanted == -np.inf:  # small counts may leave nothing to smoothing: the tables have log10 p = -99 then
                assert model.score_trees([tree])[0] < -99 * np.log(10)
            else:
                assert model.score_trees([tree])[0] == pytest.approx(wanted, abs=1e-4)


def test_heads_are_those_of_lexicalised_trees():
    model = trained()
    for tree in TREES:
        forest = model.forest([tree])
        heads = find_heads(forest, HeadFinder(model.symbols))
        position = np.cumsum(forest.word >= 0) - 1
        todo, wanted = [lexicalise(tree)], []
        while todo:
            node = todo.pop()
            wanted.append(node.head)
            todo.extend(reversed(node.children))
        assert position[heads.word].tolist() == wanted


@pytest.mark.parametrize("kind", KINDS)
def test_every_factor_sums_to_one(kind):
    model = trained()
    forest = model.forest([*TREES, *NEW])
    heads = find_heads(forest, HeadFinder(model.symbols))
    root = model.symbols.numbers()[0]["ROOT"]
    size = len(model.vocabulary) if kind == "word" else len(model.symbols)
    for row in factors(forest, heads, root, len(model.symbols), len(model.vocabulary)).events[kind]:
        every = np.repeat(row[None], size, 0)
        every[:, -1] = np.arange(size)
        assert np.exp(score_events(model.tables[kind], every)[0]).sum() == pytest.approx(1, abs=1e-5)


def test_floor_settings_and_no_trees():
    model = trained()
    assert np.isfinite(model.floor([("the", "dog"), (), ("zebra",) * 200])).all()
    assert model.score_sentences([[TREES[0], TREES[0]], [], [TREES[1]]]) == pytest.approx(
        [model.score_trees(TREES[:1])[0], -np.inf, model.score_trees(TREES[1:2])[0]]
    )
    with pytest.raises(ModelError, match="no trees"):
        trained([])
    with pytest.raises(ConfigError, match="must be 1 or more"):
        Settings(min_count=0)
    with pytest.raises(ModelError, match="no phrases under ROOT"):
        trained(TREES[6:7])


def test_save_and_load_are_identities(tmp_path):
    model = trained()
    path = tmp_path / "a.headlex"
    assert write_model(model, path) == path.stat().st_size
    np.testing.assert_array_equal(read_model(path).score_trees(NEW), model.score_trees(NEW))
    check_damage_is_seen(path, read_model, ModelError)
    whole = content_of(path)
    cases = {
        whole[: len(whole) // 2]: "cut short",
        whole.replace(b'"kind": "headlex"', b'"kind": "hexlead"', 1): "holds a hexlead model, wanted a headlex model",
        whole.replace(b'"min_count"', b'"max_count"', 1): "damaged head-lexicalised model",
    }
    for content, message in cases.items():
        write_content(path, content)
        with pytest.raises(ModelError, match=message):
            read_model(path)


def test_a_corpus_in_blocks_gives_the_same_model(tmp_path, monkeypatch):
    write_model(trained(), tmp_path / "whole")
    monkeypatch.setattr("rerank_plugins.treelet.corpus.TREES_A_BLOCK", 2)
    write_model(trained(), tmp_path / "blocks")
    assert (tmp_path / "blocks").read_bytes() == (tmp_path / "whole").read_bytes()
