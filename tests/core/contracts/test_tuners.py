"""What tuners of other people return is checked where it comes in."""

from dataclasses import replace

import numpy as np
import pytest

from rerank_plugins import FeatureTable, PluginError, Tuner, TuningData, TuningResult
from rerank_plugins.core.contracts import checked_tuning
from tests.core.contracts.test_metrics import Words

TABLE = FeatureTable.dense(("one", "two"), np.ones((3, 2)), np.array([0, 3]))
BOUNDS = np.array([2.0, np.inf])
DATA = TuningData(TABLE, np.ones((3, 2)), Words(), np.array([False, True]), -BOUNDS, BOUNDS)
START = np.array([1.0, 0.5])
GOOD = TuningResult(np.array([1.5, 0.5]), 0.3)


class Given(Tuner):
    """Returns what it is given."""

    def __init__(self, result):
        self.result = result

    def tune(self, data, start, rng, report=lambda step: None):
        return self.result


def tuned(result):
    return checked_tuning(Given(result), DATA, START, np.random.default_rng(1))


WRONG = {
    "none": (None, "tune: found None, wanted a TuningResult"),
    "array": (START, "tune: found an array of float64"),
    "list": (replace(GOOD, weights=[1.5, 0.5]), r"tune, weights: found the list \[1.5, 0.5\], wanted a float64 array"),
    "length": (replace(GOOD, weights=np.ones(3)), r"of shape \(3,\), wanted .* \(features\) = \(2\)"),
    "nan": (replace(GOOD, weights=np.array([np.nan, 0.5])), "feature 'one': found nan, wanted finite numbers"),
    "decision": (replace(GOOD, decision="best"), "found decision 'best', wanted 'map' or 'mbr'"),
    "score": (replace(GOOD, score=None), "found score None, wanted a finite number"),
    "score-nan": (replace(GOOD, score=float("nan")), "found score nan, wanted a finite number"),
    "scale": (replace(GOOD, scale=0.0), "found scale 0.0, wanted a number above 0"),
    "evidence": (replace(GOOD, evidence=-1), "found evidence -1"),
    "margin": (replace(GOOD, margin=float("nan")), "found margin nan, wanted a number of 0 or more"),
    "notes": (replace(GOOD, notes="a note"), "found notes 'a note', wanted a tuple of texts"),
    "fixed": (replace(GOOD, weights=np.array([1.5, 0.6])), "found 0.6 for the fixed feature 'two', wanted its start"),
    "bounds": (
        replace(GOOD, weights=np.array([3.0, 0.5])),
        r"found 3 for the feature 'one', wanted a number in \[-2, 2\]",
    ),
}


@pytest.mark.parametrize(("result", "message"), WRONG.values(), ids=WRONG)
def test_wrong_values(result, message):
    with pytest.raises(PluginError, match=message) as caught:
        tuned(result)
    assert str(caught.value).startswith("plugin tests.core.contracts.test_tuners.Given: tune")


def test_right_values_pass():
    assert tuned(GOOD) is GOOD
    infinite = replace(GOOD, margin=float("inf"), decision="mbr", weights=np.array([3.0, 0.6]))
    assert tuned(infinite) is infinite
