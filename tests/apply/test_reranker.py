"""Reranking from Python list by list: the same orders and totals as by the commands, from the weights file alone."""

import numpy as np
import pytest

from rerank_adapters import Reranker, read_nbest
from rerank_plugins import ConfigError, FormatError, Hypothesis
from tests.command_line import done


@pytest.fixture(scope="module")
def weights(small, tmp_path_factory):
    """Weights for the decoder's features, a language model, features of the list, the source and through a pipeline."""
    path = tmp_path_factory.mktemp("weights") / "w.toml"
    features = [
        "length,text=lowercase",
        "lexical-overlap",
        "reciprocal-rank",
        f"ngram-lm,model={small}/lm.arpa,label=lm",
    ]
    flags = [flag for feature in features for flag in ("-f", feature)]
    lists = (small / "tune.nbest", "--source", small / "tune.de")
    done("tune", *lists, *flags, "-r", small / "tune.en", "-t", "mira,passes=2", "-j", 1, "-o", path)
    return path


@pytest.fixture(scope="module")
def lists(small):
    return read_nbest([small / "test.nbest"], source=small / "test.de")


def test_a_file_of_weights_is_enough(weights, lists, small, tmp_path):
    ranked = tmp_path / "out.nbest"
    best = done(
        "apply", small / "test.nbest", "--source", small / "test.de", "-w", weights, "--nbest-out", ranked
    ).lines
    reranker = Reranker.load(weights)
    one_by_one = [reranker.rerank(nbest) for nbest in lists]
    assert [reranked.best for reranked in one_by_one] == best
    for reranked, written in zip(one_by_one, read_nbest([ranked]), strict=True):
        assert reranked.texts == written.texts == [hypothesis.text for hypothesis in reranked]
        assert [hypothesis.score for hypothesis in reranked] == [h.score for h in written]
        assert [reranked.nbest[hypothesis.row].text for hypothesis in reranked] == reranked.texts
    for alone, together in zip(one_by_one, reranker.rerank_all(lists), strict=True):
        assert np.array_equal(alone.rescored.scores, together.rescored.scores)


def test_texts_with_the_features_of_the_decoder(weights, lists):
    reranker, nbest = Reranker.load(weights), lists[3]
    columns = dict(zip(nbest.feature_names, zip(*(h.features for h in nbest), strict=True), strict=True))
    scores = [h.score for h in nbest]
    reranked = reranker.rerank(nbest.texts, source=nbest.source, scores=scores, features=columns)
    assert [h.score for h in reranked] == [h.score for h in reranker.rerank(nbest)]
    assert reranked[:2] == [reranked[0], reranked[1]]


def test_what_a_list_lacks_is_named(weights, lists, tmp_path):
    reranker, nbest = Reranker.load(weights), lists[0]
    with pytest.raises(ConfigError, match=r"lexical-overlap compares with the source sentence, and segment 0 has none"):
        reranker.rerank(nbest.texts)
    with pytest.raises(ConfigError, match=r"not the weights for these lists: segment 0: .*lacks feature"):
        reranker.rerank(nbest.texts, source="so")
    with pytest.raises(FormatError, match="segment 0 has no hypotheses"):
        reranker.rerank([])
    with pytest.raises(FormatError, match="scores: 1 values for 2 hypotheses"):
        reranker.rerank(["a", "b"], scores=[1.0])
    with pytest.raises(TypeError, match="found a single text"):
        reranker.rerank("a")
    (tmp_path / "w.toml").write_text(
        '[dense]\nx = 1\n[provenance.job]\nfeature = [{use = "decoder-score", label = "x"}]\n'
    )
    with pytest.raises(ConfigError, match="decoder-score: hypothesis 1 of segment 0 has no total score"):
        Reranker.load(tmp_path / "w.toml").rerank(["a"])
    (tmp_path / "w.toml").write_text('[dense]\nx = 1\n[provenance.job]\nfeature = [{use = "lenght"}]\n')
    with pytest.raises(Exception, match="did you mean 'length'"):
        Reranker.load(tmp_path / "w.toml")


def test_sparse_weights_and_hypotheses_of_a_program(tmp_path):
    (tmp_path / "w.toml").write_text("[dense]\nlm = 1\n[sparse]\nwt_a = 2\n")
    reranker = Reranker.load(tmp_path / "w.toml")
    reranked = reranker.rerank([Hypothesis("x"), Hypothesis("y", sparse={"wt_a": 1.0})], features={"lm": [1.5, 0]})
    assert [(h.text, h.score, h.row) for h in reranked] == [("y", 2.0, 1), ("x", 1.5, 0)]


def test_warming_up_loads_models(weights, small, tmp_path):
    Reranker.load(weights).warm_up()
    (tmp_path / "lm.arpa").write_text("no model")
    (tmp_path / "w.toml").write_text(
        '[dense]\nlm = 1\n[provenance.job]\nfeature = [{use = "ngram-lm", label = "lm", model = "lm.arpa"}]\n'
    )
    with pytest.raises(Exception, match=r"lm\.arpa"):
        Reranker.load(tmp_path / "w.toml").warm_up()
