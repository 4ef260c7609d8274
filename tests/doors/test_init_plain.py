"""`rerank init` where any text could be lists: plain lines, outputs of systems, formats with options."""

import tomllib

import pytest

from tests.command_line import done, refused
from tests.doors.speech_files import hypotheses, transcripts, write

SETS = (("dev", 12, 1), ("test", 9, 2))


def drafted(folder, *arguments):
    output = folder / "job.toml"
    done("init", *arguments, "--language", "fi", "--force", "--yes", "-o", output)
    assert "found 0 errors" in done("check", output, "--no-estimate").err
    return tomllib.loads(output.read_text())


def files_of(config):
    sets = [config["tune"], *config["test"]]
    return [(one["nbest"], one["references"]) for one in sets]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, number, seed in SETS:
        write(tmp_path / f"{name}.ref", transcripts(number, seed))
    return tmp_path


def lists():
    for name, number, seed in SETS:
        yield name, [hypotheses(reference, 5) for reference in transcripts(number, seed)]


WANTED = [(["dev.hyps"], ["dev.ref"]), (["test.hyps"], ["test.ref"])]


def test_plain_lines(folder):
    for name, nbests in lists():
        write(folder / f"{name}.hyps", [text for nbest in nbests for text in nbest])
    config = drafted(folder, folder, "--format", "plain,n=5")
    assert config["nbest"] == {"use": "plain", "n": 5}
    assert files_of(config) == WANTED


def test_groups_between_blank_lines_are_no_lists(folder):
    for name, nbests in lists():
        write(folder / f"{name}.hyps", [line for nbest in nbests for line in (*nbest, "")])
    assert "groups of lines between blank lines" in refused("init", folder, "--language", "fi")


def test_another_format_with_options(folder):
    for name, nbests in lists():
        write(folder / f"{name}.hyps", [f"{text}\t-{i}.5" for nbest in nbests for i, text in enumerate(nbest)])
    config = drafted(folder, "dev.hyps", "dev.ref", "test.hyps", "test.ref", "--format", "nemo,beam=5")
    assert config["nbest"] == {"use": "nemo", "beam": 5}
    assert files_of(config) == WANTED


def test_outputs_of_two_systems_are_combined(folder):
    for name, nbests in lists():
        for place, system in enumerate("ab"):
            write(folder / f"{name}.{system}", [nbest[place] for nbest in nbests])
    config = drafted(folder, folder, "--format", "plain,n=1")
    assert config["nbest"] == {"use": "plain", "n": 1}
    assert files_of(config) == [(["dev.a", "dev.b"], ["dev.ref"]), (["test.a", "test.b"], ["test.ref"])]


def test_outputs_with_ids(folder):
    for name, nbests in lists():
        ids = [f"{name}_{i}a" for i in range(len(nbests))]
        for place, system in enumerate("ab"):
            write(
                folder / f"{name}.{system}", [f"{id_} {nbest[place]}" for id_, nbest in zip(ids, nbests, strict=True)]
            )
        refs = (folder / f"{name}.ref").read_text().splitlines()
        write(folder / f"{name}.ref", map(" ".join, zip(ids, refs, strict=True)))
    config = drafted(folder, folder, "--format", "espnet")
    assert config["nbest"] == {"use": "espnet"}
    assert files_of(config) == [(["dev.a", "dev.b"], ["dev.ref"]), (["test.a", "test.b"], ["test.ref"])]


def test_a_reference_that_no_name_shows_is_named(folder):
    for name, nbests in lists():
        (folder / f"{name}.ref").rename(folder / f"{name}.c")
        for place, system in enumerate("ab"):
            write(folder / f"{name}.{system}", [nbest[place] for nbest in nbests])
    assert "name it with --format" in refused("init", folder)
    named = ("--format", "plain,n=1")
    assert "weights need a reference" in refused("init", folder, *named)
    config = drafted(folder, folder, *named, "-r", folder / "dev.c", "-r", folder / "test.c")
    assert files_of(config) == [(["dev.a", "dev.b"], ["dev.c"]), (["test.a", "test.b"], ["test.c"])]


def test_an_output_is_not_its_own_reference(folder):
    for name, nbests in lists():
        write(folder / f"{name}.a", [nbest[0] for nbest in nbests])
    assert "weights need a reference" in refused("init", folder / "dev.a", "--format", "plain,n=1")
    write(folder / "dev.nbest", [f"{i} ||| {nbest[0]} ||| x= 1" for i, nbest in enumerate(nbests)])
    assert "weights need a reference" in refused("init", folder / "dev.nbest")
