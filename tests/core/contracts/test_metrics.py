"""What metrics of other people return is checked where it comes in."""

import pickle

import numpy as np
import pytest

from rerank_plugins import Metric, PluginError
from rerank_plugins.core.contracts import checked_statistics

HYPOTHESES, REFERENCES = [["a b", "a"], ["c"]], [["a b"], ["d"]]


class Words(Metric):
    """The proportion of the reference's words; each value may be replaced, by the name of the method."""

    def __init__(self, **values):
        self.values = values

    def statistics(self, hypotheses, references):
        if "statistics" in self.values:
            return self.values["statistics"]
        return np.array([[1.0, 2.0] for texts in hypotheses for _ in texts])

    def score(self, totals):
        return self.values.get("score", totals[..., 0] / np.maximum(totals[..., 1], 1.0))

    def sentence_scores(self, statistics):
        return self.values.get("sentence_scores", self.score(statistics))

    def signature(self):
        return "words"


WRONG = {
    "statistics-none": ("statistics", None, r"statistics: found None, wanted a float64 array of shape \(hypotheses"),
    "statistics-rows": ("statistics", np.ones((2, 2)), r"found an array of float64 of shape \(2, 2\), .* = \(3, any\)"),
    "statistics-axes": ("statistics", np.ones(3), r"of shape \(3,\), wanted .*\(hypotheses, statistics\)"),
    "statistics-list": ("statistics", [[1.0]] * 3, "found the list"),
    "statistics-ints": ("statistics", np.ones((3, 2), int), "found an array of int64"),
    "statistics-nan": ("statistics", np.array([[1.0], [1.0], [np.nan]]), r"row 2 \(segment 2 of 2\): found nan"),
    "score-float": ("score", 0.5, r"score: found the float 0.5, wanted a float64 array .* = \(3\)"),
    "score-shape": ("score", np.ones((3, 2)), r"score: found an array of float64 of shape \(3, 2\)"),
    "score-infinite": ("score", np.array([0.1, np.inf, 0.2]), "score, row 1 of 3: found inf, wanted finite"),
    "sentence_scores-nan": ("sentence_scores", np.array([0.0, np.nan, 1.0]), "row 1 of 3: found nan"),
    "sentence_scores-shape": ("sentence_scores", np.zeros((3, 1)), r"wanted a float64 array of shape \(rows\) = \(3\)"),
}


def use(metric):
    return checked_statistics(metric, HYPOTHESES, REFERENCES)


@pytest.mark.parametrize(("method", "value", "message"), WRONG.values(), ids=WRONG)
def test_wrong_values(method, value, message):
    name = f"plugin tests.core.contracts.test_metrics.Words: {method}"
    with pytest.raises(PluginError, match=message) as caught:
        use(Words(**{method: value}))
    assert str(caught.value).startswith(name)


def test_right_values_pass():
    np.testing.assert_array_equal(use(Words()), [[1.0, 2.0]] * 3)


def test_errors_are_lines_that_name_the_method():
    class Failing(Words):
        def score(self, totals):
            raise SystemExit("go away")

    wanted = r"Failing: score: SystemExit: go away: it called sys.exit\(\); it should raise an error instead"
    with pytest.raises(PluginError, match=wanted) as caught:
        use(Failing())
    assert isinstance(caught.value.__cause__, SystemExit)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_methods_of_a_mixin_are_checked_too():
    class Mixin:
        def score(self, totals):
            return "high"

    class Mixed(Mixin, Words):
        pass

    with pytest.raises(PluginError, match="score: found the str 'high'"):
        use(Mixed())
