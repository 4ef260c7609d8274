"""Numbers of other programs that no command may take as they are: totals on some lines alone, floors, wild values."""

import json

import pytest

from tests.command_line import refused

HYPORADISE = [{"hyps": ["so it", "oh it"], "scores": [-1, -2]}, {"hyps": ["is", "was"]}]


def json_lines(path, records):
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


@pytest.mark.parametrize("command", [("extract", "-o"), ("merge", "--to", "plain", "-o")], ids=["extract", "merge"])
@pytest.mark.parametrize("scored_first", [True, False])
def test_totals_on_some_lines_of_json_are_an_error(tmp_path, scored_first, command):
    lists = json_lines(tmp_path / "lists.jsonl", HYPORADISE if scored_first else HYPORADISE[::-1])
    has, have = ("no total", "one") if scored_first else ("a total", "none")
    said = refused(command[0], lists, "--format", "hyporadise", *command[1:], tmp_path / "out")
    assert said == f"{lists}:2: a hypothesis has {has}, but those of segment 0 have {have}"
    assert not (tmp_path / "out").exists()


def test_totals_in_some_files_alone_are_an_error(tmp_path):
    (tmp_path / "round1").write_text("0 ||| so it ||| LM= -1 ||| -2\n")
    (tmp_path / "round2").write_text("0 ||| oh it ||| LM= -3\n")
    said = refused("extract", tmp_path / "round1", tmp_path / "round2", "-o", tmp_path / "out.npz")
    assert said == f"{tmp_path / 'round2'}:1: a hypothesis has no total, but those of segment 0 have one"
