"""What formats of other people read and write is checked where it comes in."""

import pytest

from rerank_plugins import Hypothesis, NBestFormat, NBestList, PluginError
from rerank_plugins.core.contracts import checked_lines, checked_lists

ONE = Hypothesis("a cat", (1.0,), -2.0)


def lists(*hypotheses, names=("F",), **fields):
    return [NBestList("7", hypotheses, names, **fields)]


class Given(NBestFormat):
    """Yields what a function returns."""

    def __init__(self, given):
        self.given = given

    def read(self, lines, path):
        yield from self.given()

    def write(self, nbest, rescored=None):
        return iter(self.given())


def read(format):
    return list(checked_lists(format, lambda: format.read([], "file")))


WRONG = {
    "nothing": (lambda: [None], "read, list 1: found None, wanted an NBestList"),
    "empty": (lists, "segment 7: found a list without hypotheses, wanted one hypothesis or more"),
    "number": (lambda: [NBestList(7, (ONE,), ("F",))], "read: TypeError: segment_id: wanted a text, found 7"),
    "twice": (lambda: lists(ONE) * 2, "segment 7: found two lists in a row, wanted one list of all hypotheses"),
    "text": (
        lambda: lists(Hypothesis(b"a", (1.0,))),
        r"segment 7, hypothesis 0: found text b'a', wanted a text \(str\)",
    ),
    "words": (lambda: lists(ONE, Hypothesis(["a"], (1.0,))), r"segment 7, hypothesis 1: found text \['a'\]"),
    "str": (lambda: lists("a cat"), "read: TypeError: hypotheses: wanted objects of Hypothesis, found 'a cat'"),
    "features": (
        lambda: lists(Hypothesis("a", (1.0, 2.0))),
        "found features that are a tuple of 2, wanted a tuple of 1 numbers",
    ),
    "feature": (lambda: lists(Hypothesis("a", ("1",))), r"feature 'F': found '1', wanted a finite number"),
    "nan": (lambda: lists(Hypothesis("a", (float("nan"),))), "feature 'F': found nan"),
    "score": (lambda: lists(Hypothesis("a", (1.0,), "-1")), "score: found '-1', wanted a finite number"),
    "sparse": (lambda: lists(Hypothesis("a", (1.0,), sparse={"r": None})), "sparse feature 'r': found None"),
    "sparse-list": (
        lambda: lists(Hypothesis("a", (1.0,), sparse=[1])),
        r"found sparse features \[1\], wanted numbers by name",
    ),
    "names": (lambda: lists(Hypothesis("a", (1.0, 1.0)), names=("F", "F")), "wanted names that are all different"),
    "source": (lambda: lists(ONE, source=["a"]), r"TypeError: source: wanted a text or None, found \['a'\]"),
}


@pytest.mark.parametrize(("values", "message"), WRONG.values(), ids=WRONG)
def test_wrong_lists(values, message):
    with pytest.raises(PluginError, match=message) as caught:
        read(Given(values))
    assert str(caught.value).startswith("plugin tests.core.contracts.test_formats.Given: read")


def test_right_lists_pass():
    lists_of_it = [*lists(ONE, ONE), NBestList("8", (Hypothesis(""),)), *lists(ONE)]
    assert read(Given(lambda: lists_of_it)) == lists_of_it
    assert checked_lines(Given(lambda: ["a\n"]), lists_of_it[0]) == ["a\n"]


def test_wrong_lines():
    with pytest.raises(PluginError, match=r"write, segment 7: found the bytes b'a', wanted a line of text \(str\)"):
        checked_lines(Given(lambda: [b"a"]), lists(ONE)[0])


def test_errors_of_generators():
    class Failing(Given):
        def read(self, lines, path):
            yield lists(ONE)[0]
            raise KeyError("oops")

    failing = Failing(list)
    stream = checked_lists(failing, lambda: failing.read([], "file"))
    assert next(stream).segment_id == "7"
    with pytest.raises(PluginError, match="Failing: read: KeyError: 'oops'"):
        next(stream)


def test_a_method_that_returns_nothing():
    class Forgetful(Given):
        def read(self, lines, path):
            return None

    with pytest.raises(PluginError, match="Forgetful: read: TypeError: 'NoneType' object is not iterable"):
        read(Forgetful(list))
