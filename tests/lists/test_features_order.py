"""Features of the order of a list (ranks, edits to the first hypothesis) and of two language models."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_plugins import Hypothesis, NBestList
from rerank_plugins.lists.decoder_order import EditToFirstFeature, RankFeature, edits_from
from rerank_plugins.ngram.features import LanguageModelRatioFeature
from rerank_plugins.ngram.language_model import NgramLanguageModel
from rerank_plugins.ngram.unigram_model import UnigramLanguageModel
from tests.conftest import ROOT
from tests.ngram.naive_features import fewest_edits

ARPA = ROOT / "example_nbest" / "mt" / "lm.arpa"
WORDS = st.lists(st.sampled_from(["a", "b", "c", "B"]), max_size=5)


def nbest_of(*texts):
    return NBestList("1", tuple(map(Hypothesis, texts)))


@settings(max_examples=25)
@given(WORDS, st.lists(WORDS, min_size=1, max_size=2))
def test_edits_are_those_of_all_alignments(first, sentences):
    expected = [fewest_edits(first, words) for words in sentences]
    np.testing.assert_array_equal(edits_from(first, sentences), expected)


def test_edits_to_the_first_hypothesis():
    values = EditToFirstFeature().extract(nbest_of("we go home", "we went home now", "home", "", "we  go home"))
    expected = [[0, 0, 0, 0], [-2 / 4, -1, 0, -1], [-2 / 3, 0, -2, 0], [-1, 0, -3, 0], [0, 0, 0, 0]]
    np.testing.assert_allclose(values, expected)
    assert not np.signbit(values[0]).any()
    # Two substitutions, or an insertion and a deletion: the alignment with a word in common counts.
    np.testing.assert_array_equal(edits_from(["a", "b"], [["b", "a"]]), [[1, 1, 0]])
    folded = EditToFirstFeature(ignore_case=True).extract(nbest_of("We go", "we Go"))
    np.testing.assert_array_equal(folded, np.zeros((2, 4)))


def test_ranks():
    values = RankFeature().extract(nbest_of("a", "b", "a"))
    np.testing.assert_allclose(values, [[0, 0, 1], [-np.log(2), -0.5, 0], [-np.log(3), -1, 0]])
    np.testing.assert_array_equal(RankFeature().extract(nbest_of("a")), [[0, 0, 1]])


def test_the_ratio_is_the_difference_of_two_models():
    nbest = nbest_of("we took a taxi", "taxi", "", "unheard")
    ratio = LanguageModelRatioFeature(model=ARPA, general=UnigramLanguageModel())
    sentences = [hypothesis.words for hypothesis in nbest]
    totals = NgramLanguageModel(ARPA).totals(sentences) - UnigramLanguageModel().totals(sentences)
    wanted = np.column_stack([totals, totals / [len(words) + 1 for words in sentences]])
    np.testing.assert_allclose(ratio.extract(nbest), wanted, rtol=1e-12)
    same = LanguageModelRatioFeature(lm=NgramLanguageModel(ARPA), general_model=ARPA)
    np.testing.assert_array_equal(same.extract(nbest), np.zeros((4, 2)))
    assert "taxi" in ratio.vocabulary


def test_each_of_the_two_models_is_given_once():
    with pytest.raises(ValueError, match="give one of 'general'"):
        LanguageModelRatioFeature(model=ARPA)
    with pytest.raises(ValueError, match="give one of 'lm'"):
        LanguageModelRatioFeature(lm=UnigramLanguageModel(), model=ARPA, general_model=ARPA)
