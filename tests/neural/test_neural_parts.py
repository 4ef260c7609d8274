"""What needs no transformers: trees of prefixes, batches, and errors before a model is opened."""

import sys

import pytest

from rerank_plugins import ConfigError, Hypothesis, ModelError, NBestList
from rerank_plugins.neural.batches import batches
from rerank_plugins.neural.causal import _trees
from rerank_plugins.neural.opening import open_model
from tests.neural.tiny_models import build


def test_prefixes_are_read_once() -> None:
    trees = list(_trees([[0, 5, 6, 7], [0, 5, 6], [0, 5, 8], [0, 9, 6, 7]], 100))
    assert [len(tree.pieces) for tree in trees] == [8]
    for number, read in enumerate([[0, 5, 6, 7], [0, 5, 6], [0, 5, 8], [0, 9, 6, 7]]):
        assert [trees[0].pieces[node] for node in trees[0].paths[number]] == read
    assert [len(tree.pieces) for tree in _trees([[0, 5, 6, 7], [0, 5, 6], [0, 5, 8], [0, 9, 6, 7]], 5)] == [5, 4]


def test_batches_are_bounded_and_complete() -> None:
    lengths = [3, 9, 1, 30, 9, 2, 0]
    numbered = list(batches(lengths, 20))
    assert sorted(number for batch in numbered for number in batch) == list(range(7))
    assert [len(batch) * max(lengths[n] for n in batch) for batch in numbered] == [30, 18, 12]


def test_a_list_without_source_is_an_error() -> None:
    feature = build("feature", "neural-translation", model="none")
    with pytest.raises(ConfigError, match="segment 3 has no source sentence"):
        feature.extract(NBestList("3", (Hypothesis("the car"),)))
    with pytest.raises(ConfigError, match="give 'model'"):
        build("feature", "neural-translation")


def test_a_model_without_transformers_says_what_to_install(tmp_path, monkeypatch) -> None:
    with pytest.raises(ModelError, match=r"no config\.json"):
        open_model("CausalLM", tmp_path, "cpu", "float32")
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(
        ModelError, match=r"needs torch, which is not installed: pip install 'rerank-plugins\[neural\]'"
    ):
        open_model("CausalLM", tmp_path, "cpu", "float32")
