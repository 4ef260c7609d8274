"""1-bests are in the order of ids, whatever the order of the lists, so that what `apply` writes `evaluate` can read."""

import json
import random
from itertools import product
from pathlib import Path

import pytest

from rerank_adapters.formats.segment_ids import ids_of_lines
from rerank_adapters.texts.one_bests import OneBestFile
from tests.command_line import BLEU, done, in_process_of_its_own, refused, rerank

WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
TEXTS = [f"this is sentence {word} of the test ." for word in WORDS]
WEIGHTS = '[dense]\nlength = -1\n[provenance.job]\nnbest = {use = "%s"}\nfeature = [{use = "length"}]\n'
EVALUATE = (*BLEU, "--as", "json", "--bootstrap", "0", "--randomisation", "0")

# The weights choose the shorter hypothesis, which is the reference. Each form writes a list: id, worse text, better one.
FORMATS = {
    "moses": lambda id_, *texts: "".join(f"{id_} ||| {text} ||| \n" for text in texts),
    "cdec": lambda id_, *texts: "".join(f"{id_} ||| {text} ||| LM=1 ||| -1\n" for text in texts),
    "marian": lambda id_, *texts: "".join(f"{id_} ||| {text} ||| F0= -1 ||| -1\n" for text in texts),
    "fairseq": lambda id_, *texts: f"S-{id_}\tso\n" + "".join(f"H-{id_}\t-1\t{text}\n" for text in texts),
    "kaldi": lambda id_, *texts: "".join(f"{id_}-{rank} {text}\n" for rank, text in enumerate(texts, 1)),
    "icefall": lambda id_, *texts: "".join(f"{id_}:\thyp={text.split()}\n" for text in texts),
    "hyporadise": lambda id_, *texts: json.dumps({"id": id_, "hyps": texts}) + "\n",
}
NAMED = ("kaldi", "icefall", "hyporadise")  # formats whose ids are names here
WRITTEN = ("moses", "cdec", "marian", "hyporadise")  # formats in which lists are written; others become moses
DENSE = {"cdec": "LM = 0\n", "marian": "F0 = 0\n", "fairseq": "score = 0\n"}


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_lists(name, format_, segments, *, first=0):
    """Lists of some segments in this order; the references, and weights that choose them."""
    id_ = (lambda n: f"utt-{n:02d}") if format_ in NAMED else lambda n: n + first
    Path(name).write_text("".join(FORMATS[format_](id_(n), f"{TEXTS[n]} or so", TEXTS[n]) for n in segments))
    named = format_ in NAMED
    Path("ref").write_text("".join(f"{id_(n)} {text}\n" if named else f"{text}\n" for n, text in enumerate(TEXTS)))
    Path("w.toml").write_text((WEIGHTS % format_).replace("length", DENSE.get(format_, "") + "length", 1))
    return ("--reference-form", "kaldi") if named else ()


def bleu(*arguments):
    return {row["system"]: row["score"] for row in json.loads(done(*arguments).out)["metrics"][0]["systems"]}


SHUFFLED = random.Random(1).sample(range(12), 12)


@pytest.mark.parametrize("format_", FORMATS)
def test_what_apply_writes_evaluate_reads(place, format_):
    """Shuffled lists: from a file, with a table, from stdin, in two files, with the reranked lists."""
    form = write_lists("lists", format_, SHUFFLED)
    done("apply", "lists", "-w", "w.toml", "-o", "best", "--nbest-out", "ranked")
    done("extract", "lists", "--format", format_, "-f", "length", "-o", "t.npz")
    done("apply", "lists", "-w", "w.toml", "--table", "t.npz", "-o", "table")
    done("apply", "-", "-w", "w.toml", "-o", "stdin", stdin=Path("lists").read_text())
    write_lists("a", format_, SHUFFLED[:5])
    write_lists("b", format_, SHUFFLED[5:])
    done("apply", "b", "a", "-w", "w.toml", "-o", "two")
    systems = ("best", "table", "stdin", "two")
    assert bleu("evaluate", "-r", "ref", *form, *EVALUATE, *systems) == pytest.approx(dict.fromkeys(systems, 100))
    if format_ not in NAMED:
        assert {Path(system).read_text() for system in systems} == {Path("ref").read_text()}
    ranked = ("--nbest", "ranked", "--format", format_ if format_ in WRITTEN else "moses")
    scores = bleu("evaluate", "-r", "ref", *form, *EVALUATE, *ranked, "best")
    # the reranked lists keep the order of the file, and their first hypotheses are the 1-bests
    assert set(scores) == {"best"}


@pytest.mark.parametrize(
    ("format_", "lost"), [*product(("moses", "fairseq", "kaldi"), ([3, 7], [11], [0, 4], [0, 11])), ("hyporadise", [5])]
)
def test_lost_lists_have_empty_lines(place, format_, lost):
    form = write_lists("lists", format_, [n for n in SHUFFLED if n not in lost])
    ran = done("apply", "lists", "-w", "w.toml", "-o", "best")
    numbered = format_ not in NAMED
    gaps = [n for n in lost if n < 11]
    if numbered and 0 not in lost and gaps:
        assert f"no list for {len(gaps)} of 12 segments ({', '.join(map(str, gaps))}): their lines are empty" in ran.err
    expected = bleu("evaluate", "-r", "ref", *form, *EVALUATE, "--nbest", "lists", "--format", format_, "s=best")["s"]
    assert expected < 100
    Path("whole").write_text("".join("\n" if n in lost else f"{text}\n" for n, text in enumerate(TEXTS)))
    Path("plain").write_text("".join(f"{text}\n" for text in TEXTS))
    assert bleu("evaluate", "-r", "plain", *EVALUATE, "whole")["whole"] == pytest.approx(expected)


def test_the_source_says_how_many_lines_there_are(place):
    write_lists("lists", "moses", [n for n in SHUFFLED if n not in (3, 11)])
    ran = done("apply", "lists", "-w", "w.toml", "-o", "best", "--source", "ref")
    assert "no list for 2 of 12 segments (3, 11): their lines are empty" in ran.err
    assert len(Path("best").read_text().splitlines()) == 12


def test_a_file_that_lacks_a_line_is_not_evaluated(place):
    write_lists("lists", "moses", range(12))
    done("apply", "lists", "-w", "w.toml", "-o", "best")
    Path("less").write_text("".join(Path("best").read_text().splitlines(keepends=True)[:3]))
    for lists in ((), ("--nbest", "lists")):
        said = refused("evaluate", "-r", "ref", *EVALUATE, *lists, "less")
        assert said == "less: has 3 lines but ref has 12; they must match"


def test_ids_that_count_from_1(place):
    write_lists("lists", "moses", SHUFFLED, first=1)
    ran = done("apply", "lists", "-w", "w.toml", "-o", "best")
    assert "warning: the ids count from 1: the first line is segment 1" in ran.err
    assert Path("best").read_text() == Path("ref").read_text()
    from_1 = ("--reference-form", "lines-from-1")
    assert bleu("evaluate", "-r", "ref", *EVALUATE, *from_1, "--nbest", "lists", "best")["best"] == pytest.approx(100)
    assert "`--reference-form lines-from-1`" in refused("evaluate", "-r", "ref", *EVALUATE, "--nbest", "lists", "best")
    said = refused("apply", "lists", "-w", "w.toml", "-o", "best", "--source", "ref")
    assert said.endswith("for the segments 0 to 11; if the ids count from 1, put an empty line before the first one")
    tuning = ("tune", "lists", "-r", "ref", *from_1, "--source", "ref", *BLEU, "-t", "mira,passes=2", "-o", "new.toml")
    done(*tuning, "-f", "length", "--trust-pairs")  # whose sources are the references


def test_sources_with_ids(place):
    form = write_lists("lists", "kaldi", SHUFFLED)
    assert form
    done("extract", "lists", "--format", "kaldi", "--source", "ref", "-f", "lexical-overlap", "-o", "t.npz")
    Path("ref").write_text("".join(sorted(Path("ref").read_text().splitlines(keepends=True), reverse=True)))
    done("extract", "lists", "--format", "kaldi", "--source", "ref", "-f", "lexical-overlap", "-o", "u.npz")
    shown = [done("table", "show", name, "--as", "tsv").out for name in ("t.npz", "u.npz")]
    assert shown[0] == shown[1]
    Path("ref").write_text("utt-01 so\nutt-02 so\n")
    said = refused("extract", "lists", "--format", "kaldi", "--source", "ref", "-f", "lexical-overlap", "-o", "t.npz")
    assert said.startswith("ref: ")


def test_numbers_with_large_gaps_are_names(place):
    assert ids_of_lines(["100007", "100001"]) == ["100001", "100007"]
    assert list(OneBestFile.of({"100007": "b", "100001": "a"}).lines()) == ["100001 a\n", "100007 b\n"]
    assert list(OneBestFile.of({"100007": "b", "100001": "a"}, "lines").lines()) == ["a\n", "b\n"]


def test_behind_a_pipe_the_order_is_checked_and_stream_keeps_it(place, monkeypatch):
    write_lists("lists", "moses", [0, 2, 1])
    apply = ("apply", "-", "-w", "w.toml")
    ran = in_process_of_its_own(*apply, stdin=Path("lists").read_bytes())
    assert ran.code == 2
    assert "segment 1 comes after segment 2" in ran.err
    assert "and the 1-bests are written as the lists come: --no-stream sorts them, --stream keeps the order" in ran.err
    monkeypatch.setattr("rerank_plugins.kit.files.text.arrives", lambda path: str(path) == "-")  # as it was seen above
    write_lists("lists", "moses", SHUFFLED)
    lists = Path("lists").read_bytes()
    assert done(*apply, "--no-stream", stdin=lists).out == Path("ref").read_text()
    with_ids = done(*apply, stdin=lists).lines  # the first number is none of a first line
    assert with_ids == [f"{n} {TEXTS[n]}" for n in SHUFFLED]
    Path("with_ids").write_text("\n".join(with_ids) + "\n")
    for given in ((), ("--nbest", "lists")):
        assert bleu("evaluate", "-r", "ref", *EVALUATE, *given, "with_ids")["with_ids"] == pytest.approx(100)
    streamed = done(*apply, "--stream", stdin=lists)
    assert streamed.lines == [TEXTS[n] for n in SHUFFLED]
    assert "warning: the lines are in the order in which the lists came, not in that of ids" in streamed.err
    write_lists("lists", "moses", [0, 1, 2, 4, 5])
    ran = done(*apply, stdin=Path("lists").read_bytes())
    assert ran.lines == [*TEXTS[:3], "", *TEXTS[4:6]]
    assert "no list for 1 of 6 segments (3): their lines are empty" in ran.err


def test_a_segment_that_comes_again_is_an_error_for_all_commands_alike(place):
    write_lists("lists", "moses", range(12))
    Path("lists").write_text(Path("lists").read_text() + FORMATS["moses"](7, "so it is"))
    said = "lists:25: segment 7 appears twice; merge the lists first (`rerank lists merge`)"
    for command in (
        ("apply", "lists", "-w", "w.toml"),
        ("tune", "lists", "-r", "ref", "-o", "new.toml"),
        ("evaluate", "-r", "ref", "--nbest", "lists"),
        ("extract", "lists", "-f", "length", "-o", "t.npz"),
    ):
        assert refused(*command) == said, command
    ran = rerank("check", "--nbest", "lists", "-r", "ref", "--no-estimate")
    assert ran.code == 2
    assert said in ran.out
    done("lists", "merge", "lists", "-o", "merged")
    done("apply", "merged", "-w", "w.toml")


def test_segments_with_lists_in_several_files_are_named(place):
    write_lists("a", "moses", range(12))
    write_lists("b", "moses", range(6))
    ran = done("apply", "a", "b", "-w", "w.toml", "-o", "best")
    said = "6 of 12 segments have several lists, which become one, as those of one decoder; `rerank lists merge NAME=FILE NAME=FILE`"
    assert f"rerank: a, b: {said} combines several decoders" in ran.err


def test_tables_are_matched_by_ids(place):
    form = write_lists("lists", "kaldi", range(12))
    done("extract", "lists", "--format", "kaldi", "-f", "length", "-o", "t.npz")
    done("apply", "lists", "-w", "w.toml", "-o", "best")
    write_lists("lists", "kaldi", SHUFFLED)
    done("apply", "lists", "-w", "w.toml", "--table", "t.npz", "-o", "shuffled")
    assert sorted(Path("shuffled").read_text().splitlines()) == sorted(Path("best").read_text().splitlines())
    tuning = ("tune", "lists", "-r", "ref", *form, *BLEU, "-t", "mira,passes=2", "-o", "new.toml")
    done(*tuning, "--table", "t.npz")
    write_lists("lists", "kaldi", SHUFFLED[1:])
    said = refused("apply", "lists", "-w", "w.toml", "--table", "t.npz")
    assert said.startswith("11 n-best lists, but 12 segments in the feature table (no list of utt-")
    Path("lists").write_text(Path("lists").read_text() + FORMATS["kaldi"](f"utt-{SHUFFLED[0]:02d}", "other", "words"))
    assert "texts, features or totals differ" in refused("apply", "lists", "-w", "w.toml", "--table", "t.npz")


def test_lines_beside_names_in_two_orders_are_not_evaluated(place):
    """Nobody can tell whether they are in the order of the lists or of the references."""
    form = write_lists("lists", "kaldi", SHUFFLED)
    evaluate = ("evaluate", "-r", "ref", *form, *EVALUATE, "--nbest", "lists", "--format", "kaldi", "plain")
    said = ("--system-form", "lines")
    Path("plain").write_text("".join(f"{text}\n" for text in TEXTS))
    assert "--system-form lines matches them by position" in refused(*evaluate)
    assert refused(*evaluate, *said).startswith(
        "plain: its lines have no ids, and the lists are in another order than the ref"
    )
    write_lists("lists", "kaldi", range(12))
    assert bleu(*evaluate, *said)["plain"] == pytest.approx(100)


def test_outputs_without_ids_have_a_line_for_each_reference(place):
    """A line is that of the segment with its number, never that of a list with another one."""
    write_lists("lists", "moses", [0, 1, 2, 4, 5, 6, 7, 8, 9, 10])
    Path("plain").write_text("".join(f"{text}\n" for text in [*TEXTS[:3], *TEXTS[4:11]]))
    evaluate = ("evaluate", "-r", "ref", *EVALUATE, "--unpaired", "leave-out", "--nbest", "lists", "plain")
    assert refused(*evaluate) == "plain: has 10 lines but ref has 12; they must match"
    Path("plain").write_text("".join("\n" if n == 3 else f"{text}\n" for n, text in enumerate(TEXTS[:11])))
    assert bleu(*evaluate)["plain"] == pytest.approx(100)
