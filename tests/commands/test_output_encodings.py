"""Output whose encoding has no arrows: escapes in tables, captions, help and errors, never a traceback."""

import io
import os
import subprocess
import sys
from unittest import mock

import pytest

from rerank_adapters.cli.main import main
from tests.command_line import RERANK, Captured

ENCODINGS = ["latin-1", "ascii", "cp1252"]
NBEST = "0 ||| ä cat 中 ||| LM0= -1 ||| -1\n0 ||| a dog ||| LM0= -2 ||| -2\n1 ||| so it is ||| LM0= -1 ||| -1\n"
PRINTING = {
    "evaluate": ("evaluate", "-r", "refs", "-m", "bleu", "-m", "ter", "--nbest", "lists", "x=other", "y=same"),
    "cross-validate": ("cross-validate", "lists", "-r", "refs", "-t", "mira,passes=1", "--folds", "2", "--seeds", "1"),
    "check": ("check", "--nbest", "lists", "-r", "refs"),
    "plugins": ("plugins",),
    "help": ("tune", "--help"),
    "wrong": ("tools", "weights", "no→such≥file"),
}


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lists").write_text(NBEST, encoding="utf-8")
    for name in ("refs", "same"):
        (tmp_path / name).write_text("ä cat 中\nso it was\n", encoding="utf-8")
    (tmp_path / "other").write_text("a cat\nso it was\n", encoding="utf-8")
    return tmp_path


def printed(encoding: str, *arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command, both streams in that encoding."""
    streams = [
        io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="", errors=errors)
        for errors in ("strict", "backslashreplace")  # as Python opens stdout and stderr
    ]
    with mock.patch.multiple(sys, stdin=Captured(), stdout=streams[0], stderr=streams[1]):
        try:
            main(list(arguments))
        except SystemExit as ended:
            code = ended.code
    for stream in streams:
        stream.flush()
    written = "utf-8" if encoding == "ascii" else encoding  # click writes UTF-8 where the encoding is called ASCII
    out, err = (stream.buffer.getvalue().decode(written) for stream in streams)
    return code, out, err


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("arguments", PRINTING.values(), ids=PRINTING)
def test_every_report_is_written_in_any_encoding(arguments, encoding, place):
    code, out, err = printed(encoding, *arguments)
    assert code == (2 if "weights" in arguments else 0), err
    assert "Error" not in err
    assert out or err.startswith(r"rerank: no\u2192such\u2265file:")


def test_what_is_the_users_is_escaped_and_not_lost(place):
    _, out, _ = printed("latin-1", *PRINTING["evaluate"])
    assert r"ä cat \u4e2d" in out


def test_signs_of_tables_are_escaped_too(place):
    _, out, _ = printed("latin-1", *PRINTING["evaluate"])
    assert r"bleu \u2191" in out
    assert " ±" in out
    assert "≥" in printed("utf-8", *PRINTING["evaluate"])[1]


@pytest.mark.slow
def test_a_process_of_its_own(place):
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    ran = subprocess.run([*RERANK, *PRINTING["check"]], env=environment, capture_output=True, check=True)
    assert ran.stdout.isascii()
    environment = os.environ | {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    environment.pop("PYTHONIOENCODING", None)
    ran = subprocess.run([*RERANK, *PRINTING["help"]], env=environment, capture_output=True, check=True)
    assert "NAME,option=value,…" in ran.stdout.decode().replace("\n", " ")
