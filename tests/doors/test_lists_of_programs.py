"""Lists of other programs at the command line: nothing is lost, and nothing moves to another segment, without a word."""

import gzip
import json
import lzma
from pathlib import Path

import pytest

from rerank_adapters import read_nbest
from tests.command_line import done, rerank


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_groups_between_blank_lines_do_not_move_up():
    """An empty group would be a segment without hypotheses; no reader counts groups."""
    Path("groups").write_text("a b\na c\n\nd e\nd f\n\n\ng h\ng i\n")
    Path("ref").write_text("a b\nd e\nx\ng h\n")
    ran = rerank("evaluate", "-r", "ref", "-m", "wer", "--nbest", "groups")
    assert ran.code == 2
    assert "groups:1: reads as groups of lines between blank lines" in ran.err
    assert "plain,n=N" in ran.err


TOTALS = {
    "moses": "0 ||| so it is ||| ||| -1.5\n0 ||| so is it ||| ||| -2\n",
    "hyporadise": '{"hyps": ["so it is", "so is it"], "scores": [-1.5, -2]}\n',
    "rows": "id,text,score\n0,so it is,-1.5\n0,so is it,-2\n",
    "wenet": "wav 0\ncandidate -1.5 so it is\ncandidate -2 so is it\n",
}


@pytest.mark.parametrize("form", TOTALS)
def test_totals_are_a_feature_where_there_is_no_other(form):
    Path("lists").write_text(TOTALS[form])
    (nbest,) = read_nbest("lists")
    assert nbest.feature_names == ("score",)
    assert nbest.values.tolist() == [[-1.5], [-2]]
    ran = done("extract", "lists", "-f", "length", "-o", "x.npz")
    assert "2 features" in ran.err
    assert "reciprocal-rank" not in ran.err


def test_the_feature_of_the_totals_is_kept_in_a_reranked_list():
    Path("lists").write_text(TOTALS["moses"])
    Path("w.toml").write_text("[dense]\nscore = -1.0\n")
    done("apply", "lists", "-w", "w.toml", "-o", "best", "--nbest-out", "ranked")
    assert Path("best").read_text() == "so is it\n"
    assert Path("ranked").read_text() == "0 ||| so is it ||| score= -2 ||| 2\n0 ||| so it is ||| score= -1.5 ||| 1.5\n"
    (nbest,) = read_nbest("ranked")
    assert (nbest.feature_names, nbest.values.tolist()) == (("score",), [[-2], [-1.5]])


@pytest.mark.parametrize("form", ["moses", "rows", "hyporadise"])
def test_lists_whose_only_numbers_are_totals_are_converted(form):
    Path("lists").write_text(TOTALS["wenet"])
    done("lists", "merge", "lists", "--as", form, "-o", "converted")
    (before,), (after,) = read_nbest("lists"), read_nbest("converted", format=form)
    assert (after.feature_names, after.texts) == (before.feature_names, before.texts)
    assert after.values.tolist() == before.values.tolist()
    assert after.totals.tolist() == before.totals.tolist()


def ranks(*texts: str, scores: bool = False) -> None:
    for rank, text in enumerate(texts, 1):
        folder = Path(f"e/{rank}best_recog")
        folder.mkdir(parents=True)
        (folder / "text").write_text(text)
        if scores:
            (folder / "score").write_text("".join(f"{line.split()[0]} tensor(-{rank})\n" for line in text.splitlines()))


def test_a_folder_of_ranks_is_read_in_step():
    ranks("u1 so it is\nu2 oh no\n", "u1 so is it\n", scores=True)
    first, second = read_nbest("e")
    assert (first.texts, first.totals.tolist()) == (["so it is", "so is it"], [-1, -2])
    assert second.texts == ["oh no"]


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (("u1 a\n", "u1 b\nu2 c\n"), "2best_recog/text:2: utterance 'u2' is not in the rank before it"),
        (("u1 a\nu2 c\n", "u2 b\nu1 c\n"), "2best_recog/text:2: utterance 'u1' is not in the rank before it"),
        (("u1 a\n", "u1 b\n", "u1 c\nu3 x\n"), "3best_recog/text:2: utterance 'u3'"),
    ],
)
def test_an_utterance_of_a_rank_is_not_left_out(texts, said):
    ranks(*texts)
    ran = rerank("lists", "merge", "e", "-o", "-")
    assert ran.code == 2
    assert said in ran.err


def test_a_rank_is_not_left_out():
    ranks("u1 a\n", "u1 b\n", "u1 c\n", "u1 d\n")
    Path("e/3best_recog/text").unlink()
    assert "3best_recog/text: there is no such file" in rerank("lists", "merge", "e").err
    Path("e/3best_recog").rmdir()
    ran = rerank("lists", "merge", "e")
    assert ran.code == 2
    assert "found 1best_recog, 2best_recog, 4best_recog: expected every rank from 1 on" in ran.err


def test_files_beside_lists_are_found_however_they_are_compressed():
    Path("words_text.gz").write_bytes(gzip.compress(b"utt-07-1 so it is\nutt-07-2 so is it\n"))
    Path("ac_cost.xz").write_bytes(lzma.compress(b"utt-07-1 5.5\nutt-07-2 6\n"))
    (nbest,) = read_nbest("words_text.gz")
    assert (nbest.feature_names, nbest.values.tolist()) == (("ac_cost",), [[-5.5], [-6]])
    Path("p.txt.gz").write_bytes(gzip.compress(b"so it is\nso is it\n"))
    Path("p.txt.scores").write_text("-1\n-2\n")
    (nbest,) = read_nbest("p.txt.gz", format={"use": "plain", "n": 2})
    assert nbest.totals.tolist() == [-1, -2]


@pytest.mark.parametrize("line", ["TM0= -1e30 1e30", "TM0= 1 -1e30"])
def test_each_number_is_of_ordinary_size(line):
    Path("lists").write_text(f"0 ||| a ||| TM0= 1 2 ||| 0\n0 ||| b ||| {line} ||| 0\n")
    ran = rerank("lists", "merge", "lists", "-o", "-")
    assert ran.code == 2
    assert "lists:2: feature 'TM0_" in ran.err
    assert "expected a score of ordinary size" in ran.err


@pytest.mark.parametrize("text", ["### Recognition of speech\nso it is\n", "so it is\nH-bomb\tis a word\nthen\n"])
def test_a_text_is_not_taken_for_lists(text):
    Path("hyp").write_text(text)
    Path("ref").write_text(text)
    assert " 0.00" in done("evaluate", "-r", "ref", "-m", "wer", "hyp").out
    assert "does not show the format of these lists" in rerank("lists", "merge", "hyp").err


def test_each_reading_of_a_lattice_warns(caplog):
    Path("u.slf").write_text("VERSION=1.0\nN=3 L=2\nI=0\nI=1 W=so\nI=2 W=it\nJ=0 S=0 E=1 a=-1\nJ=1 S=1 E=2 a=-2\n")
    for times in (1, 2):
        read_nbest("u.slf")
        assert sum("there is no feature 'lm'" in message for message in caplog.messages) == times


MARKED = "0 ||| the old |0-1| mill |2-2| ||| LM= -1 ||| -1\n0 ||| the mill |0-2| ||| LM= -2 ||| -2\n"


def test_marks_of_phrases_are_no_words():
    Path("lists").write_text(MARKED)
    Path("ref").write_text("the old mill\n")
    ran = done("evaluate", "--nbest", "lists", "-r", "ref", "-m", "bleu,tokenize=none,lowercase=false", "-m", "wer")
    assert "100.00" in ran.out
    (nbest,) = read_nbest("lists")
    assert nbest.texts == ["the old mill", "the mill"]
    assert done("lists", "merge", "lists", "-o", "-").out == MARKED
    Path("hyp").write_text("the old |0-1| mill |2-2|\n")
    ran = done("evaluate", "-r", "ref", "-m", "wer", "hyp")
    assert " 0.00" in ran.out
    assert "rerank: hyp: Moses's marks of phrases are left out of 1 hypothesis" in ran.err
    enriched = MARKED.replace("|0-1|", "|0-1,wa=0-0 1-1,total=-1.5|")
    Path("lists").write_text(enriched)
    assert read_nbest("lists")[0].texts[0] == "the old mill"
    assert done("lists", "merge", "lists", "-o", "-").out == enriched


def test_samples_of_several_files_keep_their_votes():
    texts = ["the meeting starts at nine"] * 3 + ["we met her late last night near town", "we met her late last night"]
    for number, text in enumerate(texts):
        Path(f"s{number}").write_text(f"0 ||| {text} |||\n")
    Path("all").write_text("".join(f"0 ||| {text} |||\n" for text in texts))
    files = [f"s{number}" for number in range(len(texts))]
    whole = done("lists", "mbr", "all", "-m", "chrf").out
    assert done("lists", "mbr", *files, "-m", "chrf").out == whole == "the meeting starts at nine\n"
    done("lists", "merge", *files, "-o", "merged")
    assert Path("merged").read_text() == Path("all").read_text()
    scored = [json.dumps({"id": "0", "hyps": [text], "scores": [-1.0]}) + "\n" for text in texts]
    for name, line in zip(files, scored, strict=True):
        Path(name).write_text(line)
    assert done("lists", "mbr", *files, "-m", "chrf").out == whole


@pytest.mark.parametrize("form", TOTALS)
def test_decoders_whose_lists_have_totals_alone_are_combined(form):
    for name in ("a", "b"):
        Path(name).write_text(TOTALS[form])
    done("lists", "merge", "A=a", "B=b", "-o", "combined")
    (nbest,) = read_nbest("combined")
    assert nbest.feature_names == ("A-score", "A-rank", "A-listed", "B-score", "B-rank", "B-listed")
    assert nbest.values[:, 0].tolist() == [-1.5, -2]


PLUGIN = """
from rerank_plugins import Hypothesis, NBestFormat, NBestList, hookimpl

class Tabs(NBestFormat):
    sign = SIGN

    def read(self, lines, path):
        for number, line in enumerate(lines, 1):
            id_, total, text = line.rstrip().split("\\t")
            yield NBestList(id_, (Hypothesis(text, score=float(total)),), line=number)

@hookimpl
def register_nbest_formats(register):
    register("tabs", Tabs)
"""


def test_the_format_of_a_plugin_takes_part_in_recognition_and_is_checked():
    Path("tabs.py").write_text(PLUGIN.replace("SIGN", repr(r"\A[\w-]+\t-?\d+(?:\.\d+)?\t")))
    Path("lists").write_text("a-1\t-1.5\tso it is\nb-1\t-2\toh no\n")
    ran = done("--plugin", "tabs.py", "lists", "merge", "lists", "--as", "rows", "-o", "-")
    assert [json.loads(line)["text"] for line in ran.out.splitlines()] == ["so it is", "oh no"]
    for wrong, said in (
        ("a\t-1\tx\nb\t-1\ty\na\t-1\tz\n", "segment a appears twice"),
        ("a\t-1\tx\nb\t-1e30\ty\n", "is it a logarithm of 0"),
    ):
        Path("lists").write_text(wrong)
        ran = rerank("--plugin", "tabs.py", "extract", "lists", "--format", "tabs", "-f", "length", "-o", "x.npz")
        assert ran.code == 2
        assert said in ran.err


def test_signs_of_two_formats_are_answered_with_both():
    Path("tabs.py").write_text(PLUGIN.replace("SIGN", repr(r"\A0 ")))
    Path("lists").write_text(TOTALS["moses"])
    ran = rerank("--plugin", "tabs.py", "lists", "merge", "lists")
    assert ran.code == 2
    assert "has the signs of several formats; name one: --format moses or --format tabs" in ran.err
