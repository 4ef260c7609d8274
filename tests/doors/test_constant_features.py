"""A feature that tells no hypotheses apart is named, in every format."""

import json
import logging

import pytest

from rerank_adapters import read_nbest
from tests.command_line import done

TOLD = "has one value in each list, and tells no hypotheses apart"


def moses(number, lm):
    return "".join(
        f"{i} ||| {text} ||| TM= {j} LM= {lm(i, j)} ||| {-j}\n" for i in range(number) for j, text in enumerate("abc")
    )


def hyporadise(number, lm):
    return "".join(
        json.dumps(
            {"id": str(i), "hyps": ["a", "b", "c"], "features": {"TM": [0, 1, 2], "LM": [lm(i, j) for j in range(3)]}}
        )
        + "\n"
        for i in range(number)
    )


@pytest.mark.parametrize("made", [moses, hyporadise])
def test_a_constant_feature_is_named(tmp_path, made):
    lists, refs = tmp_path / "lists", tmp_path / "refs"
    refs.write_text("a\n" * 12)
    lists.write_text(made(12, lambda i, j: i))
    warning = f"rerank: warning: {lists}: each of these features {TOLD}: 'LM'"
    assert warning in done("extract", lists, "-f", "length", "-o", tmp_path / "t.npz").err
    assert warning in done("tune", lists, "-r", refs, "-m", "wer", "-f", "length", "-o", tmp_path / "w.toml").err
    lists.write_text(made(12, lambda i, j: i if i < 11 else j))
    assert TOLD not in done("extract", lists, "-f", "length", "-o", tmp_path / "t.npz").err


def test_a_few_lists_may_be_constant_by_chance(tmp_path, caplog):
    lists = tmp_path / "lists"
    for number, times in ((9, 0), (10, 1)):
        lists.write_text(moses(number, lambda i, j: 0))
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            read_nbest(lists)
        assert sum(TOLD in record.getMessage() for record in caplog.records) == times
