"""The lists of recognised speech of the example are made again by its generator, and hold what its README says."""

import json
import subprocess
import sys

import pytest

from tests.conftest import ROOT

FOLDER = ROOT / "example_nbest" / "asr"


@pytest.mark.release
def test_the_generator_makes_the_same_lists(tmp_path):
    subprocess.run([sys.executable, FOLDER / "make.py", tmp_path], check=True)
    for name in ("tune.jsonl", "test.jsonl"):
        assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes()


def test_lists_are_ordered_by_score_and_most_hold_the_transcript():
    records = [json.loads(line) for line in (FOLDER / "test.jsonl").read_text("utf-8").splitlines()]
    assert len(records) == 100
    for record in records:
        assert record["scores"] == sorted(record["scores"], reverse=True)
        assert len(set(record["hyps"])) == len(record["hyps"]) == 10
    first = sum(record["hyps"][0] == record["ref"] for record in records)
    anywhere = sum(record["ref"] in record["hyps"] for record in records)
    assert first < 50 < 70 < anywhere
