"""Lists are written as the programs of their format read them, and what a format cannot hold is said."""

from pathlib import Path

import pytest

from rerank_adapters import read_nbest
from tests.command_line import done, refused

LISTS = "".join(f"u.{i} ||| {text} {i} ||| score= {j}.5 ||| {-j}\n" for i in range(3) for j, text in enumerate("ab"))


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("lists").write_text(LISTS)


def test_srilm_has_a_file_for_each_list():
    Path("out").mkdir()
    ran = done("lists", "merge", "lists", "--as", "srilm", "-o", "out")
    assert "warning" not in ran.err
    assert sorted(path.name for path in Path("out").iterdir()) == ["u.0.nbest", "u.1.nbest", "u.2.nbest"]
    assert Path("out/u.1.nbest").read_text() == "NBestList1.0\n(5) a 1\n(15) b 1\n"
    assert [(n.segment_id, n.texts) for n in read_nbest("out")] == [(f"u.{i}", [f"a {i}", f"b {i}"]) for i in range(3)]


@pytest.mark.parametrize("output", ["one.nbest", "-"])
def test_several_lists_are_not_one_file_of_srilm(output):
    said = refused("lists", "merge", "lists", "--as", "srilm", "-o", output)
    assert said == (
        f"{output}: this format has one list in a file, and there are more; wanted a folder that exists, in which each "
        "becomes a file"
    )
    assert not Path("one.nbest").exists()


def test_an_error_leaves_a_folder_as_it_was():
    Path("out").mkdir()
    Path("lists").write_text(LISTS.replace("u.2", "u/2"))
    assert "the id 'u/2' cannot be the name of a file" in refused(
        "lists", "merge", "lists", "--as", "srilm", "-o", "out"
    )
    assert list(Path("out").iterdir()) == []
    assert "out: is a folder, expected a file to write" in refused("lists", "merge", "lists", "-o", "out")


@pytest.mark.parametrize("format", ["plain", "plain,n=2", "nemo,beam=2"])
def test_lost_ids_are_warned_of(format):
    lost = "this format has no place for ids: {} of the 3 ids are lost ({!r} is read as {!r})"
    assert lost.format(3, "u.0", "0") in done("lists", "merge", "lists", "--as", format, "-o", "out").err
    Path("lists").write_text(LISTS.replace("u.0", "0").replace("u.1", "1").replace("u.2", "7"))
    assert lost.format(1, "7", "2") in done("lists", "merge", "lists", "--as", format, "-o", "out").err
    Path("lists").write_text(LISTS.replace("u.", ""))
    assert "lost" not in done("lists", "merge", "lists", "--as", format, "-o", "out").err


def test_reranked_lists_of_srilm():
    """`apply` writes a folder, and `run`, whose lists are one file, the format of Moses."""
    Path("in").mkdir()
    Path("ranked").mkdir()
    Path("refs").write_text("".join(f"u.{i} b {i}\n" for i in range(3)))
    done("lists", "merge", "lists", "--as", "srilm", "-o", "in")
    done("tune", "in", "-r", "refs", "-m", "wer", "-f", "length", "-o", "w.toml")
    done("apply", "in", "-w", "w.toml", "--nbest-out", "ranked", "-o", "best")
    assert [n.segment_id for n in read_nbest("ranked")] == ["u.0", "u.1", "u.2"]
    data = 'nbest = ["in"]\nreferences = ["refs"]\n'
    tests = '[[metric]]\nuse = "wer"\n[[feature]]\nuse = "length"\n[evaluation]\nbootstrap = 10\nrandomisation = 10\n'
    Path("job.toml").write_text(f"[tune]\n{data}[[test]]\n{data}{tests}")
    ran = done("run", "job.toml", "--work", "work")
    assert "in the format of Moses, which has all lists in one file" in ran.err
    assert [n.segment_id for n in read_nbest("work/test.nbest.gz", format="moses")] == ["u.0", "u.1", "u.2"]


def test_totals_that_a_guessed_format_cannot_hold():
    Path("refs").write_text("".join(f"u.{i} b {i}\n" for i in range(3)))
    done("lists", "merge", "lists", "--as", "icefall", "-o", "icefall")
    done("tune", "icefall", "-r", "refs", "-m", "wer", "-f", "length", "-o", "w.toml")
    ran = done("apply", "icefall", "-w", "w.toml", "--nbest-out", "ranked", "-o", "best")
    assert "this format cannot hold totals" in ran.err
