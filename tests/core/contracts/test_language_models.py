"""What language models of other people return is checked where it comes in."""

import numpy as np
import pytest

from rerank_plugins import LanguageModel, PluginError, SentenceModel
from rerank_plugins.core.contracts import checked_scores

SENTENCES = [["a", "b"], [], ["c"]]


class Uniform(LanguageModel):
    """Each word has ln p = -1; values may be replaced, by the name of the method."""

    def __init__(self, **values):
        self.replaced = values

    def __contains__(self, word):
        return True

    def score(self, sentences):
        return self.replaced.get("score", [np.full(len(words) + 1, -1.0) for words in sentences])

    def unigram_scores(self, sentences):
        return self.replaced.get("unigram_scores", self.score(sentences))

    def totals(self, sentences):
        return self.replaced.get("totals", super().totals(sentences))


def scores(*rows):
    return [np.array(row, float) for row in rows]


ENDLESS = scores([-1, -1], [-1], [-1, -1])
WRONG = {
    "no-end": ("score", ENDLESS, r"score, sentence 'a b': found an array of float64 of shape \(2,\), .* = \(3\)"),
    "few": (
        "score",
        scores([-1, -1, -1]),
        "score: found a list of 1, wanted a list of 3 arrays, one for each sentence",
    ),
    "none": ("score", None, "score: found None, wanted a list of 3 arrays"),
    "positive": ("score", scores([-1, 0.5, -1], [-1], [-1, -1]), "value 2 of 3: found ln p = 0.5, wanted 0 or less"),
    "nan": ("score", scores([-1, -1, -1], [np.nan], [-1, -1]), "sentence '', value 1 of 1: found nan, wanted finite"),
    "infinite": ("score", scores([-1, -1, -1], [-np.inf], [-1, -1]), "found -inf, wanted finite"),
    "lists": ("score", [[-1.0] * 3, [-1.0], [-1.0] * 2], "sentence 'a b': found the list"),
    "floats": ("score", [np.full(3, -1, np.float32)], "a list of 1"),
    "unigrams": ("unigram_scores", ENDLESS, "unigram_scores, sentence 'a b'"),
    "total-shape": ("totals", np.full((3, 1), -1.0), r"totals: found an array of float64 of shape \(3, 1\)"),
    "total-positive": ("totals", np.array([-1.0, 2.0, -1.0]), "totals, sentence '': found ln p = 2, wanted 0 or less"),
    "total-nan": ("totals", np.array([-1.0, -1.0, np.nan]), "totals, sentence 'c': found nan, wanted finite"),
    "total-float": ("totals", -3.0, "totals: found the float -3.0"),
}


def use(model):
    model.values(SENTENCES)
    checked_scores(model, SENTENCES)
    checked_scores(model, SENTENCES, "unigram_scores")


@pytest.mark.parametrize(("method", "value", "message"), WRONG.values(), ids=WRONG)
def test_wrong_values(method, value, message):
    with pytest.raises(PluginError, match=message) as caught:
        use(Uniform(**{method: value}))
    assert str(caught.value).startswith("plugin tests.core.contracts.test_language_models.Uniform: ")


def test_right_values_pass():
    use(Uniform())
    np.testing.assert_array_equal(Uniform().values(SENTENCES), [[-3, -1, 0], [-1, -1, 0], [-2, -1, 0]])
    barely = scores([-1, 5e-7, -1], [0], [-1, -1])
    use(Uniform(score=barely, totals=np.array([0.0, 5e-7, 1e-6])))


def test_an_error_names_the_method():
    class Failing(Uniform):
        def score(self, sentences):
            return [np.full(len(words) + 1, -1.0 / len(words)) for words in sentences]

    with pytest.raises(PluginError, match=r"Failing: score: ZeroDivisionError: "):
        Failing().totals(SENTENCES)


def test_models_of_sentences():
    class Total(SentenceModel):
        def __contains__(self, word):
            return True

        def totals(self, sentences):
            return [-1.0] * len(sentences)

    with pytest.raises(
        PluginError, match=r"Total: totals: found the list \[-1.0, -1.0, -1.0\], wanted a float64 array"
    ):
        Total().values(SENTENCES)


def test_a_text_is_still_a_fault_of_the_caller():
    with pytest.raises(TypeError, match="a sentence is a sequence of words"):
        Uniform().score(["a b"])
    with pytest.raises(TypeError, match="wanted a list of sentences"):
        Uniform().totals("a b")
