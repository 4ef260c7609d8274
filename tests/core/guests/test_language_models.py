"""What language models of other people return is checked where it comes in."""

import numpy as np
import pytest

from rerank_plugins import IncrementalLM, LanguageModel, PluginError, SentenceModel

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

    def start(self):
        return 0

    def advance(self, state, word):
        return self.replaced.get("advance", (-1.0, state + 1))

    def finish(self, state):
        return self.replaced.get("finish", -1.0)

    def advance_all(self, states, words):
        return self.replaced.get("advance_all", (np.full(len(states), -1.0), list(states)))

    def finish_all(self, states):
        return self.replaced.get("finish_all", np.full(len(states), -1.0))

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
    "advance-alone": ("advance", -1.0, r"advance, word 'a': found the float -1.0, wanted the pair \(ln p, state\)"),
    "advance-positive": ("advance", (1.0, 0), "advance, word 'a': found ln p = 1, wanted a finite number of 0 or less"),
    "advance-nan": ("advance", (float("nan"), 0), "advance, word 'a': found ln p = nan"),
    "advance-text": ("advance", ("-1", 0), "advance, word 'a': found the str '-1'"),
    "finish": ("finish", None, "finish, </s>: found None"),
    "advance_all": ("advance_all", (np.array([-1.0, 1.0]), [0, 0]), "value 2 of 2: found ln p = 1"),
    "advance_all-states": ("advance_all", (np.array([-1.0, -1.0]), [0]), "found a list of 1, wanted 2 states"),
    "finish_all": ("finish_all", np.zeros(3), r"finish_all, 2 states: found an array of float64 of shape \(3,\)"),
}


def use(model):
    model.values(SENTENCES)
    model.score(SENTENCES)
    model.unigram_scores(SENTENCES)
    model.advance(model.start(), "a")
    model.finish(0)
    model.advance_all([0, 0], ["a", "b"])
    model.finish_all([0, 0])


@pytest.mark.parametrize(("method", "value", "message"), WRONG.values(), ids=WRONG)
def test_wrong_values(method, value, message):
    with pytest.raises(PluginError, match=message) as caught:
        use(Uniform(**{method: value}))
    assert str(caught.value).startswith("plugin tests.core.guests.test_language_models.Uniform: ")


def test_right_values_pass():
    use(Uniform())
    np.testing.assert_array_equal(Uniform().values(SENTENCES), [[-3, -1, 0], [-1, -1, 0], [-2, -1, 0]])
    barely = scores([-1, 5e-7, -1], [0], [-1, -1])
    use(Uniform(score=barely, totals=np.array([0.0, 5e-7, 1e-6])))
    assert isinstance(Uniform(), IncrementalLM)


def test_an_error_names_the_sentence():
    class Failing(Uniform):
        def score(self, sentences):
            return [np.full(len(words) + 1, -1.0 / len(words)) for words in sentences]

    with pytest.raises(PluginError, match=r"Failing: score, sentence '': ZeroDivisionError: "):
        Failing().score(SENTENCES)


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
