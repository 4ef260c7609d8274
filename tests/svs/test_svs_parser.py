"""Parser `svs`: every sentence gets a tree, and it is said which did not get one from the model."""

import logging

import numpy as np
import pytest

from rerank_plugins import ModelError
from rerank_plugins.constituency.fallback import FLOOR
from rerank_plugins.svs import parsing
from rerank_plugins.svs.model import EMBEDDED, HeadTable, SvsModel, VectorLexicon, read_model, write_model
from rerank_plugins.svs.parser import VectorParser
from rerank_plugins.svs.parsing import SvsParser


@pytest.fixture(scope="module")
def saws(tmp_path_factory):
    """ "saw" is a verb of the first concept and a noun of the second; NP → DT NN, S → NP VP-U, VP-U → VBD over ADVP."""
    symbols = ("ROOT", "S/ID", "NP/MOD:S<", "VP-U/ID", "DT/MOD:NP<", "NN/ID", "VBD/ID")
    names = ("ROOT", "S", "NP", "VP-U", "DT", "NN", "VBD")
    emissions = {("saw", 5): (0.1, 0.7), ("saw", 6): (0.8, 0.2), ("the", 4): (0.9, 0.5), ("UNK", 5): (0.9, 0.3),
                 ("UNK", 6): (0.2, 0.8), ("UNK", 4): (0.1, 0.5)}  # fmt: skip
    words = ("UNK", "saw", "the")
    rows = sorted((words.index(word), symbol) for word, symbol in emissions)
    lexicon = VectorLexicon(
        words,
        np.array([0, 3, 5, 6], np.int32),
        np.array([symbol for _, symbol in rows], np.int32),
        np.array([emissions[words[word], symbol] for word, symbol in rows]),
    )
    model = SvsModel(
        symbols,
        names,
        np.arange(7, dtype=np.int32),
        ("ID", "MOD:S<", "MOD:NP<"),
        np.array([0, 0, 1, 0, 2, 0, 0], np.int32),
        np.array([[1, 2, 3], [2, 4, 5]], np.int32),
        np.ones((2, 2)),
        np.array([[0, 1], [3, 6]], np.int32),
        np.ones((2, 2)),
        ("", "ADVP"),
        np.array([np.eye(2), [[0.2, 0.8], [0.6, 0.4]], [[0.5, 0.5], [0.5, 0.5]]]),
        np.full((7, 2), 1 / 14),
        np.array([0.7, 0.3]),
        lexicon,
        HeadTable(("unk",), np.zeros(8, np.int32), np.zeros(0, np.int32), np.zeros((0, 2))),
        {"language": "en"},
    )
    path = tmp_path_factory.mktemp("model") / "saws.svs"
    write_model(model, path)
    return path


def one(parser, text):
    parse = parser.parse([text.split()])[0]
    assert parse.dependencies is None
    (scored,) = parse.constituents
    return scored


@pytest.mark.parametrize("decoder", ["vector", "mbr"])
def test_trees_and_their_probabilities(saws, decoder):
    """By hand: e(NP) = (L_DT e_DT)(L_NN e_NN) = (0.7 · 0.1, 0.7 · 0.7), L_NP e(NP) = (0.406, 0.238), times (0.8, 0.2)."""
    tree, logp = one(VectorParser(saws, decoder=decoder), "the saw saw")
    assert str(tree) == "(ROOT (S (NP (DT the) (NN saw)) (VP (ADVP (VBD saw)))))"
    assert np.exp(logp) == pytest.approx(0.7 * 0.406 * 0.8 + 0.3 * 0.238 * 0.2, rel=1e-5)


def test_a_sentence_that_the_model_does_not_derive_is_flat(saws, caplog):
    with caplog.at_level(logging.WARNING):
        tree, logp = one(VectorParser(saws), "saw the")
    assert str(tree) == "(ROOT (X (VBD saw) (DT the)))"
    assert logp == pytest.approx(2 * FLOOR + np.log(0.5) + np.log(0.7), rel=1e-5)  # likeliest tags, concepts by prior
    assert "1 sentences got flat trees (first: 'saw the')" in caplog.text


@pytest.mark.parametrize(
    ("words", "threshold", "wanted"),
    [
        (40, 1e-4, [1e-4, 1e-7]),
        (60, 1e-4, [1e-4, 1e-7, 1e-9]),
        (61, 1e-4, [1e-3, 3e-4, 9e-5, 2.7e-5, 8.1e-6, 2.43e-6]),
        (61, 0.05, [0.1, 0.03]),
        (61, 0.5, [0.5, 0.15]),
    ],
)
def test_long_sentences_are_pruned_more_and_the_threshold_falls_slowly(saws, monkeypatch, words, threshold, wanted):
    """A sentence without a tree, down to the last threshold; no chart of vectors is made where there is no sum."""
    tried, filled = [], []
    expected = parsing.expected_nodes
    monkeypatch.setattr(
        parsing,
        "expected_nodes",
        lambda chart, least: tried.append(least / parsing.PRUNED_EARLY) or expected(chart, least),
    )
    parser = SvsParser(read_model(saws), threshold, "mbr")
    monkeypatch.setattr(parser.chart, "fill", lambda *call: filled.append(call))
    assert parser.parse(("saw",) * (words - 1) + ("the",)) is None
    assert tried[: len(wanted)] == pytest.approx(wanted)
    assert tried[-1] == pytest.approx(1e-7 if words <= 40 else 1e-9)
    assert filled == []


def test_a_sentence_that_is_too_long_is_parsed_in_pieces(saws, caplog):
    with caplog.at_level(logging.WARNING):
        tree, logp = one(VectorParser(saws, longest=3), "the saw saw the zzz saw")
    assert str(tree).count("(S ") == 2
    assert str(tree).startswith("(ROOT (X (S ")
    halves = [one(VectorParser(saws), half).log_probability for half in ("the saw saw", "the zzz saw")]
    assert logp == pytest.approx(sum(halves))
    assert "1 sentences of more than 3 words parsed in pieces" in caplog.text


def test_what_is_wrong_is_said_in_a_line(saws, tmp_path):
    with pytest.raises(ModelError, match=r"saws\.svs: a model for 'en', wanted 'de'"):
        VectorParser(saws, language="de").parse([["the"]])
    with pytest.raises(ModelError, match="nowhere"):
        VectorParser(tmp_path / "nowhere.svs").parse([["the"]])
    with pytest.raises(ValueError, match="'longest' must be 2 or more"):
        VectorParser(longest=1)
    assert VectorParser(saws).resources == ()
    assert VectorParser().resources == (EMBEDDED,)


@pytest.mark.slow
@pytest.mark.skipif(not EMBEDDED.is_file(), reason="no embedded model")
def test_the_embedded_model():
    """Clear sentences get the right trees; nodes have vectors; the two decoders may differ, both are trees."""
    text = "The engineers pulled off an engineering trick ."
    wanted = (
        "(ROOT (S (NP (DT The) (NNS engineers)) (VP (VBD pulled) (PRT (RP off))"
        " (NP (DT an) (NN engineering) (NN trick))) (. .)))"
    )
    assert str(one(VectorParser(language="en"), text).tree) == wanted
    parser = SvsParser(read_model(EMBEDDED))
    tree = parser.parse(text.split())
    assert tree is not None
    assert tree.log_probability <= parser.log_probability(text.split())
    vectors = np.array([node.vector for node in tree.nodes()])
    assert vectors.shape[1] == parser.model.concepts
    np.testing.assert_allclose(vectors.sum(axis=1), 1)
