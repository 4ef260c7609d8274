"""The checks that every list passes, whatever reader found its hypotheses."""

from __future__ import annotations

import re

import pytest

from rerank_adapters.formats.items import Item, items_of, lists_of
from rerank_plugins import FormatError

A = Item("a", 1, "so it is", "-1.5", ("lm", "tm"), ("-3", "-4"), raw="a\n")
B = Item("a", 2, "so is it", "-2.5", ("lm", "tm"), ("-5", "-6"), raw="b\n")


def test_runs_of_one_id_are_lists() -> None:
    c = A._replace(id="b", line=3, source="so ist es")
    first, second = lists_of([A, B, c], "x")
    assert (first.segment_id, first.texts, first.line) == ("a", ["so it is", "so is it"], 1)
    assert first.values.tolist() == [[-3, -4], [-5, -6]]
    assert first.totals.tolist() == [-1.5, -2.5]
    assert first.lines == ["a\n", "b\n"]
    assert (second.segment_id, second.source, second.feature_names) == ("b", "so ist es", ("lm", "tm"))


def test_a_complete_list_comes_before_the_next_line() -> None:
    def items():
        yield A._replace(last=True)
        raise AssertionError("the next line was waited for")

    assert next(lists_of(items(), "x")).texts == ["so it is"]


def test_features_take_the_order_of_the_first_item() -> None:
    (nbest,) = lists_of([A, B._replace(names=("tm", "lm"))], "x")
    assert nbest.values.tolist() == [[-3, -4], [-6, -5]]


def test_totals_are_a_feature_where_there_is_no_other() -> None:
    (nbest,) = lists_of([Item("a", 1, "so", -1), Item("a", 2, "it", -2)], "x")
    assert (nbest.feature_names, nbest.values.tolist(), nbest.totals.tolist()) == (("score",), [[-1], [-2]], [-1, -2])
    (nbest,) = lists_of([Item("a", 1, "so", -1, sparse={"lm": "3"}), Item("a", 2, "it", -2)], "x")
    assert (nbest.feature_names, [dict(sparse) for sparse in nbest.sparse]) == ((), [{"lm": 3.0}, {}])


@pytest.mark.parametrize(
    ("items", "line", "message"),
    [
        ([], None, "the file holds no n-best list"),
        ([A._replace(id="")], 1, "the id of the segment is missing"),
        ([A, B._replace(id="b"), A._replace(line=3)], 3, "segment a appears twice; merge the lists first"),
        ([A, B._replace(names=("lm", "x"))], 2, "lacks feature 'tm' and has the unexpected feature 'x', unlike line 1"),
        ([A, B._replace(total=None)], 2, "the hypothesis has no total score, but line 1 has one"),
        ([A._replace(total=None), B], 2, "the hypothesis has a total score, but line 1 has none"),
        ([A, B._replace(values=("-5", "x"))], 2, "feature 'tm' is 'x', expected a number"),
        ([A._replace(values=("-5", "1_000"))], 1, "feature 'tm' is '1_000', expected a number"),
        ([A._replace(values=("-5", "١"))], 1, "feature 'tm' is '١', expected a number"),
        ([A._replace(values=("-5", "nan"))], 1, "feature 'tm' is 'nan', expected a finite number"),
        ([A._replace(total=float("inf"))], 1, "the total score is inf, expected a finite number"),
        ([A._replace(total=10**400)], 1, "the total score int too large to convert to float"),
        ([A._replace(total=True)], 1, "the total score is True, expected a number"),
        ([A._replace(total=[1])], 1, r"the total score is [1], expected a number"),
        ([A._replace(values=("-1e30", "1e30"))], 1, "feature 'lm' is -1e+30"),
        ([A._replace(sparse={"w": "x"})], 1, "feature 'w' is 'x', expected a number"),
    ],
)
def test_what_no_list_may_be(items, line, message) -> None:
    with pytest.raises(FormatError, match=re.escape(message)) as raised:
        list(lists_of(items, "x"))
    assert (raised.value.path, raised.value.line) == ("x", line)


def test_a_segment_may_come_again_where_lists_are_merged() -> None:
    items = [A, B._replace(id="b"), A]
    assert [nbest.segment_id for nbest in lists_of(items, "x", repeated=True)] == ["a", "b", "a"]


def test_lists_of_another_reader_pass_the_same_checks() -> None:
    lists = list(lists_of([A, B, A._replace(id="b")], "x"))
    assert list(lists_of(items_of(lists), "x")) == lists
    bad = lists[0].with_texts(["so", "it"])
    with pytest.raises(FormatError, match="segment a appears twice"):
        list(lists_of(items_of([lists[0], lists[1], bad]), "x"))
