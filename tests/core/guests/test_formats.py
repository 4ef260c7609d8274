"""What formats of other people read and write is checked where it comes in."""

import pytest

from rerank_plugins import Hypothesis, NBestFormat, NBestList, PluginError

ONE = Hypothesis("a cat", (1.0,), -2.0)


def lists(*hypotheses, names=("F",), **fields):
    return [NBestList("7", hypotheses, names, **fields)]


class Given(NBestFormat):
    """Yields what it is given."""

    def __init__(self, values):
        self.given = values

    def read(self, lines, path):
        yield from self.given

    def write(self, nbest, rescored=None):
        return iter(self.given)


WRONG = {
    "nothing": ([None], "read, list 1: found None, wanted an NBestList"),
    "empty": (lists(), "segment 7: found a list without hypotheses, wanted one hypothesis or more"),
    "number": ([NBestList(7, (ONE,), ("F",))], r"read, list 1: found 7 as the id of a segment, wanted a text \(str\)"),
    "twice": (lists(ONE) * 2, "segment 7: found two lists in a row, wanted one list of all hypotheses"),
    "text": (lists(Hypothesis(b"a", (1.0,))), r"segment 7, hypothesis 0: found text b'a', wanted a text \(str\)"),
    "words": (lists(ONE, Hypothesis(["a"], (1.0,))), r"segment 7, hypothesis 1: found text \['a'\]"),
    "str": (lists("a cat"), "segment 7, hypothesis 0: found the str 'a cat', wanted a Hypothesis"),
    "features": (
        lists(Hypothesis("a", (1.0, 2.0))),
        "found features that are a tuple of 2, wanted a tuple of 1 numbers",
    ),
    "feature": (lists(Hypothesis("a", ("1",))), r"feature 'F': found '1', wanted a finite number"),
    "nan": (lists(Hypothesis("a", (float("nan"),))), "feature 'F': found nan"),
    "score": (lists(Hypothesis("a", (1.0,), "-1")), "score: found '-1', wanted a finite number"),
    "sparse": (lists(Hypothesis("a", (1.0,), sparse={"r": None})), "sparse feature 'r': found None"),
    "sparse-list": (lists(Hypothesis("a", (1.0,), sparse=[1])), r"found sparse features \[1\], wanted numbers by name"),
    "names": (lists(Hypothesis("a", (1.0, 1.0)), names=("F", "F")), "wanted names that are all different"),
    "source": (lists(ONE, source=["a"]), r"found source \['a'\], wanted a text, or None"),
}


@pytest.mark.parametrize(("values", "message"), WRONG.values(), ids=WRONG)
def test_wrong_lists(values, message):
    with pytest.raises(PluginError, match=message) as caught:
        list(Given(values).read([], "file"))
    assert str(caught.value).startswith("plugin tests.core.guests.test_formats.Given: read")


def test_right_lists_pass():
    read = [*lists(ONE, ONE), NBestList("8", (Hypothesis(""),)), *lists(ONE)]
    assert list(Given(read).read([], "file")) == read
    assert list(Given(["a\n"]).write(read[0])) == ["a\n"]


def test_wrong_lines():
    with pytest.raises(PluginError, match=r"write, segment 7: found the bytes b'a', wanted a line of text \(str\)"):
        list(Given([b"a"]).write(lists(ONE)[0]))


def test_errors_of_generators():
    class Failing(Given):
        def read(self, lines, path):
            yield lists(ONE)[0]
            raise KeyError("oops")

    stream = Failing([]).read([], "file")
    assert next(stream).segment_id == "7"
    with pytest.raises(PluginError, match="Failing: read: KeyError: 'oops'"):
        next(stream)


def test_a_method_that_returns_nothing():
    class Forgetful(Given):
        def read(self, lines, path):
            return None

    with pytest.raises(PluginError, match="Forgetful: read: TypeError: 'NoneType' object is not iterable"):
        list(Forgetful([]).read([], "file"))
