"""Tables are joined by the ids of their segments, whatever their order."""

from pathlib import Path

import numpy as np
import pytest

from rerank_plugins import FeatureTable
from tests.command_line import done, refused

LISTS = {"u": "u ||| a b ||| LM= 1 ||| 1\nu ||| b ||| LM= 2 ||| 2\n", "v": "v ||| c d e ||| LM= 3 ||| 3\n"}


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("lists").write_text(LISTS["u"] + LISTS["v"])
    Path("turned").write_text(LISTS["v"] + LISTS["u"])
    done("extract", "lists", "-f", "length", "-o", "first.npz")
    done("extract", "turned", "-f", "reciprocal-rank", "-o", "second.npz")


def test_another_order_is_that_of_the_first_table():
    done("table", "join", "first.npz", "second.npz", "-o", "both.npz")
    both = FeatureTable.load(Path("both.npz"))
    assert both.segment_ids == ("u", "v")
    done("extract", "lists", "-f", "length", "-f", "reciprocal-rank", "-o", "whole.npz")
    whole = FeatureTable.load(Path("whole.npz"))
    assert both.names == whole.names
    np.testing.assert_array_equal(both.values, whole.values)
    assert both.provenance["lists"] == whole.provenance["lists"]


def test_other_lists_of_the_same_ids_are_refused():
    Path("turned").write_text(LISTS["v"].replace("LM= 3", "LM= 4") + LISTS["u"])
    done("extract", "turned", "-f", "reciprocal-rank", "-o", "second.npz")
    said = refused("table", "join", "first.npz", "second.npz", "-o", "both.npz")
    assert "the feature 'LM' has other values than in first.npz" in said
    Path("turned").write_text(LISTS["v"] + LISTS["u"].replace("u", "w"))
    done("extract", "turned", "-f", "reciprocal-rank", "-o", "second.npz")
    assert "it is of other lists" in refused("table", "join", "first.npz", "second.npz", "-o", "both.npz")


def test_lists_in_another_order_need_a_feature_that_both_tables_have():
    for name, order in (("bare", "uv"), ("turned-bare", "vu")):
        lines = "".join(LISTS[id_] for id_ in order).splitlines()
        Path(name).write_text("".join(" ||| ".join([*line.split(" ||| ")[:2], "\n"]) for line in lines))
    Path("no-ranks.toml").write_text("ranks = false\n")
    done("extract", "bare", "-c", "no-ranks.toml", "-f", "length", "-o", "first.npz")
    done("extract", "turned-bare", "-c", "no-ranks.toml", "-f", "character-length", "-o", "second.npz")
    assert refused("table", "join", "first.npz", "second.npz", "-o", "both.npz") == (
        "second.npz: its segments are in another order, and no common feature shows that the hypotheses are the same as "
        "in first.npz: extract it again from the lists of first.npz"
    )
