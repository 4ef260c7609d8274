"""Parser and language model `pcfg`: any sentence gets a tree, tags are kept, words have true probabilities."""

import logging
import math
from itertools import chain

import numpy as np
import pytest

from rerank_plugins import ModelError
from rerank_plugins.constituency import language_model as pcfg_model
from rerank_plugins.constituency.fallback import FLOOR, pieces
from rerank_plugins.constituency.grammar import Grammar
from rerank_plugins.constituency.language_model import FLOOR as WORD_FLOOR
from rerank_plugins.constituency.language_model import PcfgLanguageModel
from rerank_plugins.constituency.model_file import EMBEDDED, write_grammar
from rerank_plugins.constituency.parser import PcfgParser
from rerank_plugins.constituency.parsing import NEVER
from rerank_plugins.kit.files.cached_parser import CachedParser
from rerank_plugins.testing import check_incremental_lm
from tests.constituency.naive_pcfg import lexicon_from
from tests.constituency.pcfg_sentences import inside

needs_grammar = pytest.mark.skipif(not EMBEDDED.is_file(), reason="no embedded grammar")


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """ROOT → S; S → NP VP; VP → VBZ NP | VBZ; NP → DT NN | @NP NN, @NP → DT NN; no other sentences."""
    labels = ("ROOT", "@NP", "NP", "S", "VP", "DT", "NN", "VBZ")
    root, inner, np_, s, vp, dt, nn, vbz = range(8)
    binary = {(inner, dt, nn): 1.0, (np_, inner, nn): 0.25, (np_, dt, nn): 0.75, (s, np_, vp): 1.0, (vp, vbz, np_): 0.5}
    unary = {(root, s): 1.0, (vp, vbz): 0.5}
    lexicon = lexicon_from(
        {
            ("the", dt): 0.5, ("a", dt): 0.5, ("dog", nn): 0.5, ("sleeps", nn): 0.125, ("UNK-LC", nn): 0.375,
            ("sleeps", vbz): 0.5, ("sees", vbz): 0.25, ("UNK", vbz): 0.25,
        }
    )  # fmt: skip
    rows, chains = np.array(list(binary), np.int32), np.array(list(unary), np.int32)
    logs = np.log(list(binary.values())), np.log(list(unary.values()))
    base = np.arange(8, dtype=np.int32)
    grammar = Grammar(labels, labels, base, rows, logs[0], chains, logs[1], lexicon, {"language": "en"})
    path = tmp_path_factory.mktemp("grammar") / "small.pcfg"
    write_grammar(grammar, path)
    return path


def one(parser, text):
    parse = parser.parse([text.split()])[0]
    assert parse.dependencies is None
    return parse.constituents


def test_trees_and_their_probabilities(small):
    (scored,) = one(PcfgParser(small), "the dog sleeps")
    assert str(scored.tree) == "(ROOT (S (NP (DT the) (NN dog)) (VP (VBZ sleeps))))"
    assert scored.log_probability == pytest.approx(math.log(0.75 * 0.5 * 0.5 * 0.5 * 0.5), rel=1e-6)
    (scored,) = one(PcfgParser(small, k=5), "the dog zzz sees a dog")  # intermediate symbols are gone
    assert str(scored.tree).startswith("(ROOT (S (NP (DT the) (NN dog) (NN zzz)) (VP (VBZ sees)")


def test_a_sentence_that_the_grammar_does_not_derive_is_flat(small, caplog):
    with caplog.at_level(logging.WARNING):
        (scored,) = one(PcfgParser(small), "dog the sleeps")
    assert str(scored.tree) == "(ROOT (X (NN dog) (DT the) (VBZ sleeps)))"
    assert scored.log_probability == pytest.approx(3 * FLOOR + 3 * math.log(0.5), rel=1e-6)
    assert "1 sentences got flat trees (first: 'dog the sleeps')" in caplog.text


def test_a_sentence_that_is_too_long_is_parsed_in_pieces(small, caplog):
    with caplog.at_level(logging.WARNING):
        (scored,) = one(PcfgParser(small, longest=3), "the dog sleeps a dog sees")
    assert str(scored.tree).count("(S ") == 2
    assert str(scored.tree).startswith("(ROOT (X (S (NP (DT the) (NN dog)) (VP (VBZ sleeps))) (S ")
    halves = [one(PcfgParser(small), half)[0].log_probability for half in ("the dog sleeps", "a dog sees")]
    assert scored.log_probability == pytest.approx(sum(halves))
    assert "1 sentences of more than 3 words parsed in pieces" in caplog.text


def test_pieces_end_after_punctuation():
    words = list("ab,cdef.ghijkl")
    assert [words[piece] for piece in pieces(words, 10)] == [words[:8], words[8:]]
    for longest in range(2, 16):
        cut = [words[piece] for piece in pieces(words, longest)]
        assert list(chain.from_iterable(cut)) == words
        assert all(0 < len(piece) <= longest for piece in cut)


def test_tags_of_words_are_kept(small):
    parser = PcfgParser(small, tags=True, k=3)
    (scored,) = one(parser, "the/DT sleeps/NN sleeps/VBZ")
    assert str(scored.tree) == "(ROOT (S (NP (DT the) (NN sleeps)) (VP (VBZ sleeps))))"
    assert scored.log_probability == pytest.approx(math.log(0.75 * 0.5 * 0.125 * 0.5 * 0.5), rel=1e-6)
    unseen = one(parser, "the/DT dog/VBZ dog/VBZ")  # no derivation with these tags
    assert unseen[0].tree.tags() == ("DT", "VBZ", "VBZ")
    (scored,) = one(parser, "the/DT sees/NN dog/VBZ")  # neither was seen so: by the signatures UNK-LC, UNK
    assert scored.log_probability == pytest.approx(math.log(0.75 * 0.5 * 0.375 * 0.5 * 0.25), rel=1e-6)
    (scored,) = one(parser, "dog/DT dog/NN sleeps/VBZ")  # no signature is a determiner
    assert scored.log_probability == pytest.approx(math.log(0.75 * NEVER * 0.5 * 0.5 * 0.5), rel=1e-6)


def test_trees_without_the_tags_are_not_read_back_with_them(small, tmp_path):
    tagged = [["the/DT", "dog/NN", "sleeps/VBZ"]]
    for _ in range(2):
        parser = CachedParser(PcfgParser(small, tags=True))
        assert parser.parse(tagged)[0].constituents[0].tree.words() == ("the", "dog", "sleeps")


def test_bad_input_is_one_line(small, tmp_path):
    with pytest.raises(ModelError, match=r"^tag 'QQ' \(of 'dog'\) is not in the grammar's tag set: DT, NN, VBZ$"):
        PcfgParser(small, tags=True).parse([["the/DT", "dog/QQ"]])
    with pytest.raises(ModelError, match=r"^token 'dog' is not word/TAG"):
        PcfgParser(small, tags=True).parse([["dog"]])
    with pytest.raises(ModelError, match="a model for 'en', wanted 'de'"):
        PcfgParser(small, language="de").parse([["dog"]])
    with pytest.raises(ModelError, match=r"missing\.pcfg"):
        PcfgParser(tmp_path / "missing.pcfg").parse([["dog"]])
    with pytest.raises(ValueError, match="'k' must be 1 or more"):
        PcfgParser(small, k=0)


def test_word_probabilities_by_hand(small):
    """`the`: 1/2 of the determiners; `dog` 1/2; then a verb follows 3/4 of the time, else another noun."""
    found = np.exp(PcfgLanguageModel(small).score([["the", "dog", "sleeps"]])[0])
    verb, noun = 0.75 * 0.5, 0.25 * 0.125
    wanted = [0.5, 0.5, verb + noun, 0.5 * verb / (verb + noun)]
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_what_has_no_derivation_has_the_floor(small):
    model = PcfgLanguageModel(small)
    scores = model.score([[], ["dog"], ["the", "dog"]])
    np.testing.assert_allclose(scores[0], [WORD_FLOOR])
    np.testing.assert_allclose(scores[1], [WORD_FLOOR, WORD_FLOOR])
    np.testing.assert_allclose(scores[2], [math.log(0.5), math.log(0.5), WORD_FLOOR])
    np.testing.assert_allclose(model.totals([[], ["dog"], ["the", "dog"]]), [value.sum() for value in scores])
    assert "dog" in model
    assert "cat" not in model


def test_long_sentences_are_scored_as_several(small, monkeypatch):
    """With two words at most: `the dog` as a beginning, then `sleeps` as one, with its end."""
    monkeypatch.setattr(pcfg_model, "LONGEST", 2)
    model = PcfgLanguageModel(small)
    sentence = ["the", "dog", "the"]
    (found,) = model.score([sentence])
    np.testing.assert_allclose(found, [math.log(0.5), math.log(0.5), math.log(0.5), WORD_FLOOR])
    assert model.totals([sentence])[0] == pytest.approx(found.sum())
    check_incremental_lm(model, [sentence, sentence[:2], sentence * 2])


@needs_grammar
def test_the_embedded_grammar():
    parser, model = PcfgParser(language="en", k=4), PcfgLanguageModel()
    sentence = ["the", "old", "man", "saw", "the", "dog", "in", "the", "garden", "."]
    found = parser.parse([sentence])[0].constituents
    assert len({str(scored.tree) for scored in found}) == 4
    assert all(scored.tree.words() == tuple(sentence) for scored in found)
    whole = inside(parser.parser.grammar, sentence)
    assert model.totals([sentence])[0] == pytest.approx(whole, rel=1e-9)
    assert model.score([sentence])[0].sum() == pytest.approx(whole, rel=1e-9)
    assert np.logaddexp.reduce([scored.log_probability for scored in found]) < whole
    exact = PcfgParser(threshold=0.0).parse([sentence])[0].constituents[0]
    assert exact.tree == found[0].tree
    assert exact.log_probability == pytest.approx(found[0].log_probability, rel=1e-9)


@needs_grammar
@pytest.mark.slow
def test_first_words_sum_to_one():
    """Over the closed vocabulary; after other words, tests on random grammars compare prefixes with brute force."""
    from rerank_plugins.constituency.prefix import PrefixChart

    grammar = PcfgLanguageModel().grammar
    chart = PrefixChart(grammar)
    words = np.arange(len(grammar.lexicon.words), dtype=np.int32)
    assert np.exp([chart.log_probabilities(words[[word]])[-2] for word in words]).sum() == pytest.approx(1, abs=1e-6)


@needs_grammar
@pytest.mark.slow
def test_two_hundred_words_take_bounded_time_and_memory():
    words = ("the dog in the garden saw that " * 30).split()[:200]
    parse = PcfgParser().parse([words])[0]
    assert parse.constituents[0].tree.words() == tuple(words)
    parser = PcfgParser()
    parser.parse([words])
    coarse = parser.parser.chart
    assert coarse.from_start.nbytes + coarse.to_end.nbytes < 200e6
