"""The feature `language-model-ratio`: the difference of two language models."""

import numpy as np
import pytest

from rerank_plugins import Hypothesis, NBestList
from rerank_plugins.ngram.features import LanguageModelRatioFeature
from rerank_plugins.ngram.language_model import NgramLanguageModel
from rerank_plugins.ngram.unigram_model import UnigramLanguageModel
from tests.conftest import ROOT

ARPA = ROOT / "example_nbest" / "mt" / "lm.arpa"


def test_the_ratio_is_the_difference_of_two_models():
    nbest = NBestList("1", tuple(map(Hypothesis, ("we took a taxi", "taxi", "", "unheard"))))
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
