"""What plugins print during a command never reaches stdout, where its data goes."""

import pytest

from tests.command_line import done, in_process_of_its_own, refused

LISTS = "".join(f"{i} ||| {text} ||| F= {len(text)} ||| 1\n" for i in range(100) for text in ("a b", "c d e"))
TALKATIVE = """
import os
import subprocess
import sys
from dataclasses import dataclass

import click
import numpy as np

from rerank_plugins import FeatureExtractor, Hypothesis, NBestFormat, NBestList, hookimpl, option

print("imported")
OUT = sys.stdout


@dataclass
class Talkative(FeatureExtractor):
    "A feature that prints what it does in four ways, or ends the program."

    ends: bool = option(False, doc="end the program")
    fails: bool = option(False, doc="fail when it is built")

    def __post_init__(self):
        print("built")
        if self.fails:
            sys.exit("cannot be built")

    @property
    def components(self):
        print("asked for components")
        return ("",)

    def extract(self, nbest):
        print("extracting")
        OUT.write("extracting\\n")
        os.write(1, b"native\\n")
        if nbest.segment_id == "0":
            subprocess.run(["echo", "a program"])
        if self.ends:
            raise SystemExit("go away")
        return np.zeros((len(nbest), 1))


class Lines(NBestFormat):
    "A list on each line, its hypotheses separated by tabs."

    def read(self, lines, path):
        for number, line in enumerate(lines):
            print("read", number)
            yield NBestList(str(number), tuple(map(Hypothesis, line.rstrip("\\n").split("\\t"))))

    def write(self, nbest, rescored=None):
        print("written")
        yield "\\t".join(nbest.texts) + "\\n"


@hookimpl
def register_feature_extractors(register):
    print("registering")
    register("talkative", Talkative)


@hookimpl
def register_nbest_formats(register):
    register("lines", Lines)


@hookimpl
def register_commands(cli):
    @cli.command("hello")
    def hello():
        "Say hello."
        click.echo("hello")
        print("world")
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "talkative.py").write_text(TALKATIVE)
    (tmp_path / "test.nbest").write_text(LISTS)
    (tmp_path / "weights.toml").write_text("[dense]\nF = 1.0\n")
    return tmp_path


@pytest.mark.slow
def test_commands_write_data_alone(folder):
    (folder / "test.en").write_text("c d e\n" * 100)
    prefix = ("--plugin", "talkative.py")
    own = {"cwd": folder}
    ran = in_process_of_its_own(*prefix, "extract", "test.nbest", "-f", "talkative", "-o", "test.npz", **own)
    assert (ran.code, ran.out) == (0, ""), ran.err
    for line in ("imported", "registering", "built", "asked for components", "extracting", "native", "a program"):
        assert line in ran.err
    done(
        "tune", "test.nbest", "-r", "test.en", "--table", "test.npz", "-m", "wer", "--trust-pairs", "-o", "weights.toml"
    )
    ran = in_process_of_its_own(*prefix, "apply", "test.nbest", "-w", "weights.toml", "-j", "2", **own)
    assert (ran.code, ran.out) == (0, "c d e\n" * 100), ran.err


def test_formats_and_commands(folder):
    (folder / "lists.txt").write_text("a b\ta\nb\tb c\n")
    ran = done("--plugin", "talkative.py", "lists", "merge", "lists.txt", "--format", "lines")
    assert ran.lines == ["a b\ta", "b\tb c"]
    assert "read 1\n" in ran.err
    ran = in_process_of_its_own("--plugin", "talkative.py", "hello", cwd=folder)
    assert (ran.out, ran.code) == ("hello\nworld\n", 0)


@pytest.mark.slow
def test_ending_the_program_is_an_error(folder):
    arguments = ("extract", "test.nbest", "-j", "1", "-o", "test.npz", "-f")
    ran = in_process_of_its_own("--plugin", "talkative.py", *arguments, "talkative,ends=true", cwd=folder)
    assert ran.code == 2
    said = ran.err.splitlines()[-1]
    assert said.startswith("rerank: feature 'talkative' (rerank_plugin_talkative_")
    assert said.endswith(": SystemExit: go away: it called sys.exit(); it should raise an error instead")
    assert "of talkative.py), segment " in said
    ran = in_process_of_its_own("--plugin", "talkative.py", *arguments, "talkative,fails=true", cwd=folder)
    assert ran.code == 2
    why = "its constructor raised SystemExit: cannot be built: it called sys.exit(); it should raise an error instead"
    assert ran.err.splitlines()[-1] == f"rerank: feature 'talkative' of talkative.py: {why}"


def test_a_factory_that_makes_something_else(folder):
    (folder / "odd.py").write_text(
        "from rerank_plugins import hookimpl\n\n\ndef odd():\n    'A metric that is none.'\n    return {}\n\n\n"
        "@hookimpl\ndef register_metrics(register):\n    register('odd', odd)\n"
    )
    for name in ("test.en", "test.out"):
        (folder / name).write_text("a\n")
    said = refused("--plugin", "odd.py", "evaluate", "test.out", "-r", "test.en", "-m", "odd")
    assert said == "metric 'odd' of odd.py: the factory made the dict {}, wanted a Metric"
