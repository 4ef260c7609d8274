"""Numbers of other programs that no command may take as they are: totals on some lines alone, floors, wild values."""

import json
from dataclasses import replace

import pytest

from rerank_plugins import FeatureTable
from tests.command_line import done, refused, rerank

HYPORADISE = [{"hyps": ["so it", "oh it"], "scores": [-1, -2]}, {"hyps": ["is", "was"]}]


def json_lines(path, records):
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


@pytest.mark.parametrize(
    "command", [("extract", "-o"), ("lists", "merge", "--as", "moses", "-o")], ids=["extract", "merge"]
)
@pytest.mark.parametrize("scored_first", [True, False])
def test_totals_on_some_lines_of_json_are_an_error(tmp_path, scored_first, command):
    lists = json_lines(tmp_path / "lists.jsonl", HYPORADISE if scored_first else HYPORADISE[::-1])
    has, have = ("no total score", "one") if scored_first else ("a total score", "none")
    said = refused(*command[:-1], lists, "--format", "hyporadise", command[-1], tmp_path / "out")
    assert said == f"{lists}:2: the hypothesis has {has}, but line 1 has {have}"
    assert not (tmp_path / "out").exists()


def test_totals_in_some_files_alone_are_an_error(tmp_path):
    (tmp_path / "round1").write_text("0 ||| so it ||| LM= -1 ||| -2\n")
    (tmp_path / "round2").write_text("0 ||| oh it ||| LM= -3\n")
    said = refused("extract", tmp_path / "round1", tmp_path / "round2", "-o", tmp_path / "out.npz")
    assert said == f"{tmp_path / 'round2'}:1: a hypothesis has no total, but those of segment 0 have one"


WILD = "expected a score of ordinary size (at most 1e+15): is it a logarithm of 0?"
LISTS = {
    "moses": ("0 ||| so ||| x= 1 ||| 1e300\n", "1: the total score is 1e+300, "),
    "cdec": ("0 ||| so ||| x=-1e30 y=1 ||| 1\n", "1: feature 'x' is -1e+30, "),
    "srilm": ("NBestList1.0\n(-5340) so it\n(-1e30) oh it\n", "3: feature 'score' is -1e+30, "),
    "nemo,beam=1": ("so it\t-1e30\n", "1: the total score is -1e+30, "),
    "fairseq": ("S-0\tx\nH-0\t-1e30\tso\n", "2: feature 'score' is -1e+30, "),
    "ctranslate2": ('{"hypotheses": [["so"]], "scores": [-1e30]}\n', "1: the total score is -1e+30, "),
    "hyporadise": ('{"hyps": ["so"], "scores": [1e300]}\n', "1: the total score is 1e+300, "),
    "htk-slf": ("VERSION=1.0\nI=0\nI=1 W=so\nJ=0 S=0 E=1 a=-1e30\n", "4: a is -1e+30, "),
}


@pytest.mark.parametrize(("form", "case"), LISTS.items(), ids=LISTS)
def test_scores_beyond_all_others_are_an_error(tmp_path, form, case):
    text, said = case
    path = tmp_path / "lists"
    path.write_text(text)
    line = refused("extract", path, "--format", form, "-o", tmp_path / "out.npz")
    assert line.startswith(f"{path}:{said}")
    assert line.endswith(WILD)


@pytest.mark.parametrize("tuner", ["mert", "pro", "mira", "expected-risk", "mbr"])
def test_tuners_refuse_wild_values(tmp_path, tuner):
    """Values that no format has read, such as those of a table."""
    lists, references = tmp_path / "lists", tmp_path / "ref"
    lists.write_text("0 ||| so it ||| x= 1\n0 ||| oh it ||| x= 2\n1 ||| is ||| x= 1\n1 ||| was ||| x= 3\n")
    references.write_text("so it\nis\n")
    done("extract", lists, "-f", "length", "-o", tmp_path / "table.npz")
    table = FeatureTable.load(tmp_path / "table.npz")
    values = table.values.copy()
    values[1, 0] = -1e300
    replace(table, values=values).save(tmp_path / "wild.npz")
    out = tmp_path / "weights.toml"
    ran = rerank(
        "tune", lists, "-r", references, "-m", "wer", "--table", tmp_path / "wild.npz", "--tuner", tuner, "-o", out
    )
    assert ran.code == 2
    assert ran.err.splitlines()[-1] == f"rerank: feature x has a value that is -1e+300, {WILD}"
    assert not out.exists()


@pytest.mark.parametrize("metric", ["bleu", "wer", "chrf", "ter"])
def test_lists_of_empty_hypotheses_cannot_be_tuned_on(tmp_path, metric, recwarn):
    lists, references = tmp_path / "lists", tmp_path / "ref"
    lists.write_text("0 |||  ||| x= 1\n0 |||  ||| x= 2\n1 |||  ||| x= 1\n")
    references.write_text("so it\nis\n")
    out = tmp_path / "weights.toml"
    ran = rerank("tune", lists, "-r", references, "-m", metric, "-o", out)
    assert ran.code == 2
    wanted = "rerank: all hypotheses of the tuning lists are empty: there is nothing to choose from"
    assert ran.err.splitlines()[-1] == wanted
    scored = done("evaluate", "-r", references, "-m", metric, "--nbest", lists, "--as", "tsv")
    assert "Warning" not in scored.err
    assert not recwarn.list


UNKNOWN = {  # a number of one hypothesis that is none, in formats whose numbers may be absent
    "whisper": '[{"text": "so", "avg_logprob": -0.5}, {"text": "oh", "avg_logprob": %s}]\n',
    "alternatives": '{"alternatives": [{"transcript": "so", "confidence": 0.9}, {"transcript": "oh", "confidence": %s}]}\n',
    "completions": '{"outputs": [{"text": "so", "cumulative_logprob": -1}, {"text": "oh", "cumulative_logprob": %s}]}\n',
}
KEYS = ("avg_logprob", "confidence", "cumulative_logprob")


@pytest.mark.parametrize(("form", "key"), list(zip(UNKNOWN, KEYS, strict=True)))
@pytest.mark.parametrize(("value", "shown"), [("NaN", "nan"), ("-Infinity", "-inf"), ('"nan"', "nan")])
def test_a_number_that_is_not_finite_is_an_error_and_takes_no_scores_away(tmp_path, form, key, value, shown):
    path = tmp_path / "lists"
    path.write_text(UNKNOWN[form] % value)
    said = refused("extract", path, "--format", form, "-o", tmp_path / "out.npz")
    assert said == f"{path}:1: {key} is {shown}, expected a finite number"
