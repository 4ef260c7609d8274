"""Segments that only one file has are named by every command that pairs files, and counted by one rule."""

import json

import pytest

from rerank_adapters.api import Pipeline, read_nbest
from rerank_adapters.api import evaluate as evaluate_texts
from rerank_adapters.texts.pairing import pair
from rerank_adapters.texts.reading import read_texts
from tests.command_line import BLEU, done, refused, rerank

TEXTS = [f"this is sentence {word} of the test ." for word in ["one", "two", "three", "four", "five", "six"]]
REFERENCES = "".join(f"{text}\n" for text in TEXTS)
WEIGHTS = '[dense]\nLM0 = 1\nlength = 0\n[provenance.job]\nnbest = {use = "moses"}\nfeature = [{use = "length"}]\n'
CONFIG = """\
[tune]
nbest = ["lists"]
references = ["ref"]
%s
[[test]]
nbest = ["lists"]
references = ["ref"]
%s
[[metric]]
use = "bleu"
tokenize = "none"
[evaluation]
bootstrap = 0
randomisation = 0
weight_samples = 0
contribution_folds = 0
[tuner]
use = "mira"
passes = 2
"""


def moses(ids, text=lambda id_: TEXTS[id_]):
    """Lists of two hypotheses, the worse one first; the weights above choose the second one."""
    return "".join(
        f"{id_} ||| {text(id_)[5:]} ||| LM0= -2 ||| -2\n{id_} ||| {text(id_)} ||| LM0= -1 ||| -3\n" for id_ in ids
    )


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (("ref", REFERENCES), ("w.toml", WEIGHTS), ("lists", moses([0, 1, 3, 4]))):
        (tmp_path / name).write_text(text)
    return tmp_path


LOST = "no list for 2 of 6 segments (2, 5)"
EVALUATE = ("evaluate", "-r", "ref", *BLEU, "--as", "json", "--bootstrap", "0", "--randomisation", "0")


def bleu(ran):
    """The scores by system of an evaluation in JSON."""
    return {row["system"]: row["score"] for row in json.loads(ran.out)["metrics"][0]["systems"]}


def test_evaluation_counts_a_lost_list_as_an_empty_hypothesis(place):
    ran = done(*EVALUATE, "--nbest", "lists")
    assert f"rerank: warning: {LOST}: counted as empty hypotheses" in ran.err
    (place / "lines").write_text("".join("\n" if i in (2, 5) else TEXTS[i][5:] + "\n" for i in range(6)))
    assert bleu(ran)["1-best"] == bleu(done(*EVALUATE, "lines"))["lines"]
    without = done(*EVALUATE, "--nbest", "lists", "--unpaired", "leave-out")
    assert f"{LOST}: left out" in without.err
    assert bleu(without)["1-best"] > bleu(ran)["1-best"]
    assert refused(*EVALUATE, "--nbest", "lists", "--unpaired", "error") == f"ref: {LOST}"


@pytest.mark.parametrize(
    "command",
    [
        ("tune", "lists", "-r", "ref", *BLEU, "-t", "mira,passes=2", "-o", "new.toml"),
        ("cross-validate", "lists", "-r", "ref", *BLEU, "-t", "mira,passes=2", "--folds", "2", "--seeds", "1"),
        ("ablate", "lists", "-r", "ref", *BLEU, "-f", "length", "--part", "correlations", "--folds", "2"),
        ("explain", "1", "lists", "-w", "w.toml", "-r", "ref", "-p", "none"),
        ("table", "pairs", "lists", "-r", "ref", "-o", "pairs"),
        ("negatives", "nbest", "lists", "-r", "ref", "-o", "pairs"),
    ],
    ids=lambda command: command[0],
)
def test_what_tuning_leaves_out_is_named(place, command):
    assert f"rerank: warning: {LOST}: left out" in done(*command).err


def test_check_and_run_name_what_is_missing(place):
    (place / "c.toml").write_text(CONFIG % ("", ""))
    found = done("check", "c.toml", "--no-estimate").out
    assert f"tune: {LOST}: left out" in found
    assert f"test: {LOST}: counted as empty hypotheses" in found
    for _ in range(2):  # a second run repeats what the first one said
        ran = done("run", "c.toml", "--work", "work")
        assert f"rerank: warning: tune: {LOST}: left out" in ran.out + ran.err
        assert f"rerank: warning: test: {LOST}: counted as empty hypotheses" in ran.out + ran.err
    report = json.loads((place / "work" / "test.report.json").read_text())
    assert [segment["segment_id"] for segment in report["segments"]] == list("012345")
    assert (place / "work" / "test.1best").read_text().splitlines()[2::3] == ["", ""]
    (place / "c.toml").write_text(CONFIG % (('unpaired = "error"',) * 2))
    assert refused("run", "c.toml", "--work", "other") == f"ref: {LOST}"


def test_surplus_lists_are_an_error_unless_they_are_left_out(place):
    (place / "lists").write_text(moses(range(6)) + moses([6, 7], lambda _: "more words of it"))
    said = refused(*EVALUATE, "--nbest", "lists")
    assert said.startswith(
        "ref: segment 6 is not in the file, which has 6 lines, for the segments 0 to 5; 2 segments are missing: 6, 7"
    )
    assert "`--unpaired leave-out`" in said
    ran = done(*EVALUATE, "--nbest", "lists", "--unpaired", "leave-out")
    assert "no reference for 2 lists of 8 (6, 7): left out" in ran.err
    (place / "c.toml").write_text(CONFIG % (('unpaired = "leave-out"',) * 2))
    assert "wrote" in done("run", "c.toml", "--work", "work").err


def test_ids_from_1_are_an_error_that_says_what_to_type(place):
    (place / "lists").write_text(moses(range(1, 7), lambda id_: TEXTS[id_ - 1]))
    tuning = ("tune", "lists", "-r", "ref", *BLEU, "-t", "mira,passes=2", "-o", "new.toml")
    others = [
        ("explain", "1", "lists", "-w", "w.toml", "-r", "ref", "-p", "none"),
        ("table", "pairs", "lists", "-r", "ref"),
    ]
    others += [
        ("negatives", "nbest", "lists", "-r", "ref"),
        ("check", "--nbest", "lists", "-r", "ref", "--no-estimate"),
    ]
    others += [("ablate", "lists", "-r", "ref", *BLEU, "-f", "length", "--part", "correlations", "--folds", "2")]
    for command in others:
        ran = rerank(*command)
        assert ran.code == 2, command
        assert "`--reference-form lines-from-1`" in ran.out + ran.err, command
        done(*command, "--reference-form", "lines-from-1")
    for command in ((*EVALUATE, "--nbest", "lists"), tuning):
        said = refused(*command)
        assert said.startswith(
            "ref: segment 6 is not in the file, which has 6 lines, for the segments 0 to 5; if the ids"
        )
        assert "`--reference-form lines-from-1`" in said
        assert "warning" not in done(*command, "--reference-form", "lines-from-1").err
    said = refused(*EVALUATE, "lists")  # as the output of a system
    assert said.startswith("lists: no reference for segment 6; if the ids count from 1, say")
    assert "warning" not in done(*EVALUATE, "lists", "--reference-form", "lines-from-1").err
    (place / "lists").write_text(moses(range(1, 6)))  # and here segment 0 is lost
    assert "lists: no output for 1 of 6 segments (0): counted as empty; if the ids count from 1, say" in (
        done(*EVALUATE, "lists").err
    )
    assert "no list for 1 of 6 segments (0): counted as empty hypotheses; if the ids count from 1, say" in (
        done(*EVALUATE, "--nbest", "lists").err
    )


def test_missing_and_surplus_outputs_of_systems_with_ids(place):
    (place / "ref").write_text("".join(f"{text} (u-{id_})\n" for id_, text in enumerate(TEXTS)))
    (place / "less").write_text("".join(f"{TEXTS[id_]} (u-{id_})\n" for id_ in (5, 0, 1, 3)))
    (place / "more").write_text((place / "ref").read_text() + "so it is (u-9)\n")
    (place / "all").write_text((place / "ref").read_text())
    form = ("--reference-form", "trn")
    ran = done(*EVALUATE, *form, "less")
    assert "rerank: warning: less: no output for 2 of 6 segments (u-2, u-4): counted as empty" in ran.err
    assert bleu(ran)["less"] < 100
    left_out = done(*EVALUATE, *form, "--unpaired", "leave-out", "less", "more", "all")
    assert bleu(left_out) == pytest.approx({"less": 100, "more": 100, "all": 100})
    assert refused(*EVALUATE, *form, "more").startswith("more: no reference for segment u-9")
    assert refused(*EVALUATE, *form, "--unpaired", "error", "less") == "less: no output for 2 of 6 segments (u-2, u-4)"


def test_from_python(place, caplog):
    nbests = read_nbest("lists")
    Pipeline(metric="bleu,tokenize=none", tuner="mira,passes=2", jobs=1).fit(nbests, "ref")
    first = [nbest[0].text for nbest in nbests]
    result = evaluate_texts({"s": first}, "ref", metrics=["bleu,tokenize=none"], nbests=nbests)
    assert [segment.outputs[0] for segment in result.segments] == [*first[:2], "", *first[2:], ""]
    assert [f"rerank: warning: {LOST}: left out", f"rerank: warning: {LOST}: counted as empty hypotheses"] == [
        message for message in caplog.messages if "no list" in message
    ]


def test_numbers_with_zeros_are_numbers(place):
    (place / "lists").write_text("".join(f"00{id_} ||| {TEXTS[id_]} ||| LM0= -1 ||| -3\n" for id_ in (0, 1, 3, 4)))
    paired = pair([read_texts("ref", "reference")], lists=read_nbest("lists"))
    assert paired.ids == ["000", "001", "2", "003", "004", "5"]
    assert paired.references == [(text,) for text in TEXTS]
    assert paired.lost == {"2", "5"}


def test_no_list_has_a_reference(place):
    (place / "lists").write_text(moses([6, 7], lambda _: "more words of it"))
    for unpaired in ("empty", "leave-out", "error"):
        ran = rerank(*EVALUATE, "--nbest", "lists", "--unpaired", unpaired)
        assert ran.code == 2
        assert "segment 6 is not in the file" in ran.err


def test_merge_names_the_segments_that_a_decoder_lacks(place):
    (place / "other").write_text(moses([0, 1, 2, 3, 4]).replace("LM0=", "F0="))
    ran = done("lists", "merge", "a=lists", "b=other", "-o", "merged")
    assert "rerank: warning: a: no list for 1 of 5 segments (2)" in ran.err
    assert "b: no list" not in ran.err
    (place / "other").write_text(moses([5]).replace("LM0=", "F0="))
    ran = done("lists", "merge", "a=lists", "b=other", "-o", "merged")
    assert "a: no list for 1 of 5 segments (5)" in ran.err
    assert "b: no list for 4 of 5 segments (0, 1, 3, 4)" in ran.err


def test_init_drafts_configs_of_lists_that_lack_segments_and_count_from_1(place):
    for name, first, lost in (("tune", 0, (3, 23)), ("test", 1, ())):
        texts = [f"the {name}{n} met {name}{7 * n % 24}s by {name}{5 * n % 24}ing ." for n in range(24)]
        (place / f"{name}.en").write_text("".join(f"{text}\n" for text in texts))
        lists = [line for n in range(24) if n not in lost for line in moses([n], texts.__getitem__).splitlines()]
        numbered = (f"{int(line.split()[0]) + first}{line[line.index(' ') :]}\n" for line in lists)
        (place / f"{name}.nbest").write_text("".join(numbered))
    done("init", "tune.nbest", "test.nbest", "tune.en", "test.en", "-o", "job.toml")
    drafted = (place / "job.toml").read_text()
    assert drafted.count("reference_form") == 1
    assert drafted.index('reference_form = "lines-from-1"') > drafted.index("[[test]]")
    assert "tune: no list for 2 of 24 segments (3, 23): left out" in done("check", "job.toml", "--no-estimate").out
