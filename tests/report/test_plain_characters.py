"""Output whose encoding has no arrows: plain characters in tables, captions, help and errors, never a traceback."""

import io
import os
import subprocess
import sys
from unittest import mock

import pytest

from rerank_adapters.cli import main
from rerank_adapters.report.plain_characters import PLAIN, plain
from tests.command_line import RERANK, Captured

ENCODINGS = ["latin-1", "ascii", "cp1252"]
NBEST = "0 ||| ä cat 中 ||| LM0= -1 ||| -1\n0 ||| a dog ||| LM0= -2 ||| -2\n1 ||| so it is ||| LM0= -1 ||| -1\n"
PRINTING = {
    "evaluate": ("evaluate", "-r", "refs", "-m", "bleu", "-m", "ter", "--nbest", "lists", "x=other", "y=refs"),
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
    (tmp_path / "refs").write_text("ä cat 中\nso it was\n", encoding="utf-8")
    (tmp_path / "other").write_text("a cat\nso it was\n", encoding="utf-8")
    return tmp_path


def printed(encoding: str, *arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command, both streams in that encoding."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="") for _ in range(2)]
    with mock.patch.multiple(sys, stdin=Captured(), stdout=streams[0], stderr=streams[1]):
        try:
            main(list(arguments))
        except SystemExit as ended:
            code = ended.code
    for stream in streams:
        stream.flush()
    out, err = (stream.buffer.getvalue().decode(encoding) for stream in streams)
    return code, out, err


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("arguments", PRINTING.values(), ids=PRINTING)
def test_every_report_is_written_in_the_characters_that_there_are(arguments, encoding, place):
    code, out, err = printed(encoding, *arguments)
    assert code == (2 if "weights" in arguments else 0), err
    assert "Error" not in err
    assert out or err.startswith("rerank: no->such>=file:")


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_table_has_straight_columns_and_plain_signs(encoding, place):
    _, out, _ = printed(encoding, *PRINTING["evaluate"])
    table = out[out.index("\nScores ") + 1 :].splitlines()
    rows = [line for line in table if line.startswith(("+", "|"))]
    assert len({len(row) for row in rows}) == 1
    assert "bleu ^" in rows[1]
    assert "ter v" in rows[1]
    assert any(">= " in row for row in rows)
    assert any(line.startswith("  >= and <= mark ") for line in table)
    assert ("±" in rows[3]) is (encoding != "ascii")
    assert ("+-" in rows[3]) is (encoding == "ascii")


def test_what_is_the_users_is_escaped_and_not_lost(place):
    _, out, _ = printed("latin-1", *PRINTING["evaluate"])
    assert r"ä cat \u4e2d" in out


def test_unicode_output_keeps_its_signs(place):
    assert "≥" in printed("utf-8", *PRINTING["evaluate"])[1]
    assert plain("≥", "utf-8") == "≥"


def test_every_sign_has_a_plain_form():
    assert "".join(PLAIN.values()).isascii()
    assert plain("".join(PLAIN), "ascii") == "".join(PLAIN.values())


@pytest.mark.slow
def test_a_process_of_its_own(place):
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    ran = subprocess.run([*RERANK, *PRINTING["check"]], env=environment, capture_output=True, check=True)
    assert ran.stdout.isascii()
    environment = os.environ | {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    environment.pop("PYTHONIOENCODING", None)
    ran = subprocess.run([*RERANK, *PRINTING["help"]], env=environment, capture_output=True, check=True)
    assert b"NAME,option=value,..." in ran.stdout.replace(b"\n", b" ")
