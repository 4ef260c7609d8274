"""A line file has one line for each segment, and a list one for each hypothesis, whatever the texts hold."""

import json
from pathlib import Path

import pytest

from rerank_adapters import read_nbest
from rerank_adapters.builtin import BUILTIN
from rerank_adapters.formats.one_line import in_lines, one_line
from rerank_adapters.formats.writing import is_written
from rerank_adapters.texts.one_bests import OneBestFile, form_for, output_lines
from rerank_plugins import ConfigError, Hypothesis, NBestList
from rerank_plugins.core.loader import load_plugins
from tests.command_line import done

BREAKS = ["\n", "\r", "\r\n", "\t", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]
HYPS = [["so it\nis", "so is it"], ["oh\tno", "oh ||| no"], ["a\u2028b\x0bc\rd\x85e", "x\r\n"]]
READ = [["so it is", "so is it"], ["oh no", "oh ||| no"], ["a b c d e", "x"]]
FORMATS = load_plugins(BUILTIN).entries["format"]
WRITTEN = sorted(name for name, entry in FORMATS.items() if is_written(entry.factory()))


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write_lists():
    records = [{"hyps": hyps, "scores": [-1, -2], "ref": "so it is"} for hyps in HYPS]
    Path("lists").write_text("".join(json.dumps(record) + "\n" for record in records))


def lines_of(text):
    """The lines as this project, and as Python and other programs see them: always as many."""
    assert text.count("\n") == len(text.splitlines())
    return text.splitlines()


@pytest.mark.parametrize("mark", BREAKS)
def test_every_break_becomes_a_space(mark):
    assert one_line(f"so it {mark}{mark} is") == "so it is"
    assert one_line(f"{mark}so{mark}") == "so"
    assert one_line(mark) == ""
    for form in ("lines", "kaldi", "trn"):
        (line,) = output_lines(form, "u-1", f"so{mark}it")
        assert lines_of(line) == [line.rstrip("\n")]
        assert "so it" in line


@pytest.mark.parametrize("mark", BREAKS)
def test_texts_are_found_to_be_lines(mark):
    for text in (f"a{mark}b", f"a{mark}", f"{mark}a", mark):
        for texts in ([text], ["x", text], [text, "x"], [text, ""], ["", text]):
            assert in_lines(texts) == [one_line(text) for text in texts]
            assert in_lines(texts) is not texts
    for lines in ([], [""], ["", ""], ["a", "", "b "]):
        assert in_lines(lines) is lines


def test_other_texts_stay_as_they_are():
    for text in ("", " so  it ", "so\u00a0it", "a ||| b", "\u200b"):
        assert one_line(text) is text


def test_commands_write_one_line_for_each_segment():
    write_lists()
    done("tune", "lists", "-r", "lists", "-m", "wer", "-f", "length", "-o", "w.toml")
    ran = done("apply", "lists", "-w", "w.toml", "-o", "best", "--nbest-out", "ranked")
    assert "lists: 3 hypotheses have line ends or tabs, which are read as spaces" in ran.err
    assert len(lines_of(Path("best").read_bytes().decode())) == 3
    assert sorted(map(sorted, (n.texts for n in read_nbest("ranked")))) == sorted(map(sorted, READ))
    kept = [json.loads(line)["hyps"] for line in Path("ranked").read_text().split("\n")[:-1]]
    assert sorted(map(sorted, kept)) == sorted(map(sorted, HYPS))  # records keep their texts
    for form in ("kaldi", "trn"):
        assert len(lines_of(done("apply", "lists", "-w", "w.toml", "--as", form).out)) == 3
    pairs = done("table", "pairs", "lists", "-r", "lists").out
    assert all(line.count("\t") == 1 for line in lines_of(pairs))


def test_a_run_writes_one_line_for_each_segment():
    write_lists()
    data = 'nbest = ["lists"]\nreferences = ["lists"]\n'
    tests = '[[metric]]\nuse = "wer"\n[[feature]]\nuse = "length"\n[evaluation]\nbootstrap = 10\nrandomisation = 10\n'
    Path("job.toml").write_text(f"[tune]\n{data}[[test]]\n{data}{tests}")
    done("run", "job.toml", "--work", "work")
    assert len(lines_of(Path("work/test.1best").read_bytes().decode())) == 3


@pytest.mark.parametrize("name", WRITTEN)
def test_every_format_holds_every_hypothesis(name):
    format = FORMATS[name].factory()
    lists = [
        NBestList(f"{n}", tuple(Hypothesis(text, score=float(-i)) for i, text in enumerate(texts)))
        for n, texts in enumerate(HYPS)
    ]
    written = "".join(line for nbest in lists for line in format.write(nbest))
    lines_of(written)
    again = list(format.read(written.splitlines(keepends=True), "file"))
    assert [n.segment_id for n in again] == ["0", "1", "2"]
    wanted = [[format.spelling(text) for text in nbest.texts] for nbest in lists]
    assert [[" ".join(t.split()) for t in n.texts] for n in again] == [[" ".join(t.split()) for t in w] for w in wanted]


def test_merge_counts_what_it_spells_otherwise():
    write_lists()
    ran = done("lists", "merge", "lists", "--as", "moses", "-o", "moses")
    assert "rerank: warning: 1 hypothesis holds what ends a line or a column in this format" in ran.err
    assert ran.err.count("read as spaces") == 1  # though the file is read twice
    assert read_nbest("moses")[1].texts == ["oh no", "oh &#124;&#124;&#124; no"]
    assert "error" not in done("check", "--nbest", "moses", "--format", "moses").out.split("found")[0]
    assert "warning: 1" not in done("lists", "merge", "lists", "--as", "hyporadise", "-o", "json").err
    assert [n.texts for n in read_nbest("json", format="hyporadise")] == READ


def test_a_text_of_lines_with_other_breaks():
    Path("lists").write_bytes("0 ||| so\u2028it\ris ||| F= 1 ||| -1\n1 ||| oh no ||| F= 1 ||| -1\n".encode())
    Path("w.toml").write_text("[dense]\nF = 1.0\n")
    ran = done("apply", "lists", "-w", "w.toml", "--format", "moses")
    assert ran.out == "so it is\noh no\n"
    rows = map(json.loads, done("lists", "merge", "lists", "--format", "moses", "--as", "rows").out.splitlines())
    assert [row["text"] for row in rows] == ["so it is", "oh no"]
    assert Path("lists").read_bytes().decode() == done("lists", "merge", "lists", "--format", "moses").out


def test_ids_that_are_no_words():
    assert form_for(["my file", "u-2"]) == "lines"
    for form, id_ in (("kaldi", "my file"), ("trn", "my file"), ("trn", "u(1)"), ("kaldi", "a\nb")):
        with pytest.raises(ConfigError, match="is not a word, so a line cannot have it as its id"):
            list(output_lines(form, id_, "so"))
    Path("lists").write_text('{"audio_filepath": "wav/my file.wav", "hyps": ["so it is"]}\n')
    done("lists", "merge", "lists", "--as", "moses", "-o", "out")
    assert [n.segment_id for n in read_nbest("out")] == ["my file"]


def test_one_bests_count_what_they_join():
    best = OneBestFile({"0": "so\u2028it", "1": "oh no"}, "lines")
    assert list(best.lines()) == ["so it\n", "oh no\n"]
    assert best.finding == "1 1-best has line ends or tabs, which are written as spaces"
