"""`suites`: what the command prints, and the surprisals that it writes."""

import json

import pytest

from rerank_adapters import suites
from rerank_plugins import ConfigError
from tests.command_line import done
from tests.test_contracts import ARPA


@pytest.fixture
def order(tmp_path):
    """A suite whose item is a sentence in two orders."""
    conditions = [
        {"condition_name": name, "regions": [{"region_number": 1, "content": "we"}, {"region_number": 2, "content": x}]}
        for name, x in (("good", "took a taxi"), ("bad", "taxi took a"))
    ]
    document = {
        "meta": {"name": "order", "metric": "sum"},
        "predictions": [{"type": "formula", "formula": f"(2;%good%) {by} (2;%bad%)"} for by in "<>"],
        "items": [{"item_number": 1, "conditions": conditions}],
    }
    (tmp_path / "order.json").write_text(json.dumps(document))
    return tmp_path / "order.json"


def test_it_is_what_the_command_prints(order, tmp_path):
    bits = tmp_path / "bits.tsv"
    printed = done("acceptability", "suites", order, "-M", ARPA, "-M", "unigram", "--as", "tsv", "--surprisals", bits)
    judged = suites([order], {"lm": ARPA, "unigram": "unigram"})
    assert ["\t".join(judged.columns), *("\t".join(map(_shown, row.values())) for row in judged)] == printed.lines
    assert judged["met"] == [1, 0, 0, 0]
    lines = ["\t".join(map(_shown, row.values())) for row in judged.surprisals]
    assert ["\t".join(judged.surprisals.columns), *lines] == bits.read_text().splitlines()
    assert judged.means["mean"] == [0.5, 0.0]


def _shown(value):
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def test_one_file_one_model_and_text_steps(order):
    judged = suites(order, {"mine": "unigram"}, text="none")
    assert judged["system"] == ["mine", "mine"]
    assert judged.surprisals[1]["tokens"] == "took a taxi"
    with pytest.raises(ConfigError, match="no probabilities of single words"):
        suites(order, "treelet-lm")
    with pytest.raises(ConfigError, match="no suite"):
        suites([], "unigram")
