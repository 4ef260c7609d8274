"""What goes wrong with recognition data on the command line: each fault is one clear line, and nothing is written."""

from pathlib import Path

import pytest

from tests.command_line import done, rerank

LISTS = "utt-07-1 so it is\nutt-07-2 so is it\nutt-12-1 oh no\nutt-12-2 owe no\n"
REFERENCES = "utt-07 so is it\nutt-12 oh no\n"
COSTS = "utt-07-1 2\nutt-07-2 3\nutt-12-1 1\nutt-12-2 4\n"
LATTICE = "utt-07\n0 1 so 1,2\n1 0 it 1,2\n1\n\n"


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("lists").write_text(LISTS)
    Path("ac_cost").write_text(COSTS)
    Path("ref").write_text(REFERENCES)
    return tmp_path


def refused(*arguments):
    ran = rerank("tune", "lists", "-r", "ref", "-m", "wer", "-o", "w.toml", *arguments)
    assert ran.code == 2
    assert not Path("w.toml").exists()
    lines = [line for line in ran.err.splitlines() if "reads as" not in line]
    assert len(lines) == 1
    return lines[0]


def test_good_input(place):
    assert "1 weight" in done("tune", "lists", "-r", "ref", "-m", "wer", "-o", "w.toml").err
    assert done("apply", "lists", "-w", "w.toml", "--as", "kaldi").out.count("utt-") == 2


@pytest.mark.parametrize(
    ("changes", "arguments", "said"),
    [
        ({"ref": "utt-07 so is it\n"}, (), "ref: segment 'utt-12' is not in the file (1 segment: utt-07)"),
        ({"ref": REFERENCES + "utt-07 again\n"}, (), "ref:3: the id 'utt-07' occurs twice"),
        ({"lists": LISTS + "utt-12-2 again\n"}, (), "lists:5: the key 'utt-12-2' occurs twice"),
        ({}, ("--format", 'kaldi,costs=["am_cost"]'), "am_cost: no such file"),
        ({"ac_cost": COSTS[:-11]}, (), "lists:4: no cost for 'utt-12-2' in ac_cost"),
        ({"ac_cost": COSTS.replace("3", "nan")}, (), "ac_cost:2: the value of 'utt-07-2' is 'nan', expected a finite number"),
        ({"lists": LATTICE}, (), "lists:1: the lattice has a cycle through node 0; expected an acyclic one"),
        ({"lists": "wav utt-07\nwav utt-12\n"}, ("--format", "wenet"), "lists:2: segment utt-07 has no hypothesis: is the file cut short?"),
        ({"lists": "so it is\nso is it\n"}, (), "lists:1: the first line, 'so it is', does not show the format"),
    ],
)  # fmt: skip
def test_one_line(place, changes, arguments, said):
    for name, text in changes.items():
        Path(name).write_text(text)
    assert said in refused(*arguments)


@pytest.mark.parametrize("name", ["lists", "ref", "ac_cost"])
def test_mixed_encodings(place, name):
    text = Path(name).read_text().splitlines(keepends=True)
    Path(name).write_bytes("".join(text[:1]).encode() + "utt-12-1 grün\n".encode("latin-1"))
    assert f"{name}:2: byte 12 of the line is 0xfc, which is not UTF-8" in refused()


def test_empty_hypotheses_are_read_and_reported(place):
    Path("lists").write_text(LISTS.replace("utt-12-2 owe no", "utt-12-2"))
    ran = done("check", "--nbest", "lists", "-r", "ref", "-m", "wer")
    assert "warning lists: 1 hypothesis is empty" in ran.out
    assert done("tune", "lists", "-r", "ref", "-m", "wer", "-o", "w.toml")
